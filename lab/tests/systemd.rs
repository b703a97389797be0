//! The same node with systemd as PID 1.

#![allow(clippy::unwrap_used, clippy::panic)]

use linesman_lab::{Daemon, Lab, Node};

fn start(lab: &Lab) -> Node {
    let node = lab.node("n1").systemd(true).start().unwrap();
    node.configure_static().unwrap();
    node
}

#[test]
fn boots_units_and_journal_and_keeps_its_disk() {
    let lab = Lab::start("systemd").unwrap();
    let node = start(&lab);
    assert_eq!(node.run(["cat", "/proc/1/comm"]).unwrap(), "systemd\n");
    let units = ["NetworkManager", "ovsdb-server", "ovs-vswitchd", "openvswitch-switch", "systemd-journald"];
    let active = node.run(["systemctl", "is-active"].iter().chain(&units)).unwrap();
    assert_eq!(active, "active\n".repeat(units.len()));
    let failed = node.run(["systemctl", "list-units", "--failed", "--no-legend"]).unwrap();
    assert_eq!(failed, "");
    node.sh("systemd-run --wait --unit=story sh -c 'echo logged'; journalctl -u story | grep logged")
        .unwrap();
    node.write_file(
        "/etc/lab/boot.d/10-before",
        "#!/bin/sh\npidof NetworkManager >/root/before || :\n",
        0o755,
    )
    .unwrap();
    node.power_cut().unwrap();
    assert!(!lab.hub().ping(node.mgmt_ipv4()));
    node.boot().unwrap();
    node.wait_reachable().unwrap();
    assert!(node.read_file("/root/before").unwrap().is_empty());
}

#[test]
fn systemd_starts_daemons_again_unless_paused() {
    let lab = Lab::start("systemd-daemons").unwrap();
    let node = start(&lab);
    for daemon in [Daemon::NetworkManager, Daemon::OvsdbServer, Daemon::OvsVswitchd] {
        // ovs-vswitchd requires ovsdb-server, and is started again with it.
        node.wait_daemon(daemon).unwrap();
        let before = node.daemon_pid(daemon).unwrap().unwrap();
        node.kill_daemon(daemon).unwrap();
        node.wait_daemon(daemon).unwrap();
        assert_ne!(node.daemon_pid(daemon).unwrap(), Some(before), "{daemon:?}");
    }
    node.pause_restarts(true).unwrap();
    node.kill_daemon(Daemon::NetworkManager).unwrap();
    assert!(!node.daemon_running(Daemon::NetworkManager).unwrap());
    node.start_daemon(Daemon::NetworkManager).unwrap();
    node.wait_reachable().unwrap();
    node.kill_daemon(Daemon::Dbus).unwrap();
    node.start_daemon(Daemon::Dbus).unwrap();
    node.start_daemon(Daemon::NetworkManager).unwrap();
    node.wait_reachable().unwrap();
    assert_eq!(node.nmcli(&["-g", "GENERAL.STATE", "device", "show", "eth0"]).unwrap(), "100 (connected)\n");
}
