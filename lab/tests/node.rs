//! A node comes up with real daemons and is reached from the hub.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::{Duration, Instant};

use linesman_lab::{Daemon, Lab, Node};

const PATIENCE: Duration = Duration::from_secs(60);

fn static_node(lab: &Lab) -> Node {
    let node = lab.node("n1").start().unwrap();
    node.configure_static().unwrap();
    node
}

fn wait_to_show(node: &Node, command: &str, words: &[&str]) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let shown = node.sh(command).unwrap();
        if words.iter().all(|word| shown.contains(word)) {
            return;
        }
        assert!(Instant::now() < deadline, "{words:?} did not show:\n{shown}");
    }
}

#[test]
fn comes_up_with_networkmanager_and_open_vswitch() {
    let lab = Lab::start("comes-up").unwrap();
    let node = lab.node("n1").nics(3).start().unwrap();
    assert_eq!(node.nmcli(&["-g", "RUNNING", "general"]).unwrap().trim(), "running");
    let version = node.run(["NetworkManager", "--version"]).unwrap();
    assert!(version.starts_with("1.5"), "{version}");
    node.ovs_vsctl(&["add-br", "br-test", "--", "set", "bridge", "br-test", "datapath_type=netdev"]).unwrap();
    assert!(node.ip_json(&["link"]).unwrap().to_string().contains("br-test"));
    for nic in 0..3 {
        let link = node.ip_json(&["link", "show", &format!("eth{nic}")]).unwrap();
        assert_eq!(link[0]["address"], node.mac(nic));
    }
    assert_eq!(node.run(["hostname"]).unwrap(), "n1\n");
}

#[test]
fn answers_the_hub_in_both_families_and_keeps_its_profile() {
    let lab = Lab::start("answers").unwrap();
    let node = static_node(&lab);
    assert!(lab.hub().ping(node.mgmt_ipv4()));
    assert!(lab.hub().ping(node.mgmt_ipv6()));
    assert!(!lab.hub().ping(node.ipv4_on(1)));
    assert!(node.exists("/etc/NetworkManager/system-connections/eth0.nmconnection").unwrap());
    let log = String::from_utf8(node.read_file("/var/log/NM.log").unwrap()).unwrap();
    assert!(log.contains("startup complete"), "{log}");
}

#[test]
fn gets_dhcp_router_advertisements_and_dns_from_the_hub() {
    let lab = Lab::start("dhcp").unwrap();
    let node = lab.node("n1").start().unwrap();
    node.nmcli(&["connection", "add", "type", "ethernet", "ifname", "eth1", "con-name", "eth1"]).unwrap();
    // NetworkManager calls it connected as soon as one family is.
    wait_to_show(&node, "ip -brief address show eth1", &[" 10.9.1.1", " fd09::1:"]);
    wait_to_show(&node, "ip route; ip -6 route", &["default via 10.9.1.1", "default via fe80:"]);
    let found = node.run(["getent", "ahosts", "n1.lab.test"]).unwrap();
    assert!(found.contains("10.9.0.11") && found.contains("fd09::11"), "{found}");
}

#[test]
fn a_failed_command_reports_both_streams() {
    let lab = Lab::start("streams").unwrap();
    let node = lab.node("n1").nics(0).start().unwrap();
    let error = node.sh("echo heard; echo seen >&2; exit 3").unwrap_err().to_string();
    assert!(error.contains("heard") && error.contains("seen") && error.contains('3'), "{error}");
    assert_eq!(node.exec(["sh", "-c", "exit 7"]).unwrap().code(), Some(7));
    let echoed = node.command(["cat"]).unwrap().input("in and out").run().unwrap();
    assert_eq!(echoed, "in and out");
    let sleeper = node.spawn(["sleep", "1000"]).unwrap();
    assert!(sleeper.status().is_none());
    sleeper.kill().unwrap();
    assert!(!sleeper.wait().unwrap().success());
    let slow = node.command(["sleep", "1000"]).unwrap().limit(Duration::from_millis(50)).output();
    assert!(slow.unwrap_err().to_string().contains("did not end within"));
}

#[test]
fn keeps_its_disk_over_a_power_cut() {
    let lab = Lab::start("power").unwrap();
    let node = static_node(&lab);
    node.write_file(
        "/etc/lab/boot.d/10-before",
        "#!/bin/sh\npidof NetworkManager >/root/before || :\n",
        0o755,
    )
    .unwrap();
    node.write_file("/etc/lab/boot-late.d/10-after", "#!/bin/sh\npidof NetworkManager >/root/after\n", 0o755)
        .unwrap();
    let lost = node.spawn(["sleep", "1000"]).unwrap();
    node.power_cut().unwrap();
    assert!(!lab.hub().ping(node.mgmt_ipv4()));
    assert!(!lost.wait().unwrap().success());
    assert!(node.exec(["true"]).unwrap_err().to_string().contains("switched off"));
    node.boot().unwrap();
    node.wait_reachable().unwrap();
    assert!(node.read_file("/root/before").unwrap().is_empty());
    assert!(!node.read_file("/root/after").unwrap().is_empty());
}

#[test]
fn starts_daemons_again_unless_paused() {
    let lab = Lab::start("daemons").unwrap();
    let node = static_node(&lab);
    for daemon in Daemon::ALL {
        let before = node.daemon_pid(daemon).unwrap().unwrap();
        node.kill_daemon(daemon).unwrap();
        node.wait_daemon(daemon).unwrap();
        assert_ne!(node.daemon_pid(daemon).unwrap(), Some(before), "{daemon:?}");
    }
    node.wait_daemon(Daemon::NetworkManager).unwrap();
    assert_eq!(
        node.nmcli(&["-g", "DEVICE", "connection", "show", "--active"]).unwrap().lines().next(),
        Some("eth0")
    );
    let before = node.daemon_pid(Daemon::NetworkManager).unwrap();
    node.restart_daemon(Daemon::NetworkManager).unwrap();
    node.wait_daemon(Daemon::NetworkManager).unwrap();
    let pid = node.daemon_pid(Daemon::NetworkManager).unwrap();
    assert_ne!(pid, before);
    let status = format!("/proc/{}/status", pid.unwrap());
    let becomes = |stopped: bool| {
        let end = Instant::now() + PATIENCE;
        while std::fs::read_to_string(&status).unwrap().contains("State:\tT") != stopped {
            assert!(Instant::now() < end, "stopped: {stopped}");
        }
    };
    node.suspend_daemon(Daemon::NetworkManager).unwrap();
    becomes(true);
    node.continue_daemon(Daemon::NetworkManager).unwrap();
    becomes(false);
    node.pause_restarts(true).unwrap();
    node.kill_daemon(Daemon::NetworkManager).unwrap();
    assert!(!node.daemon_running(Daemon::NetworkManager).unwrap());
    assert!(node.kill_daemon(Daemon::NetworkManager).is_err());
    node.start_daemon(Daemon::NetworkManager).unwrap();
    node.wait_reachable().unwrap();
}

/// The kernel would answer in its place, and twice, if the lab let it.
#[test]
fn a_bridge_that_took_the_address_is_answered_by_open_vswitch_alone() {
    let lab = Lab::start("bridge").unwrap();
    let node = static_node(&lab);
    let watch = lab.hub().watch(node.mgmt_ipv4()).unwrap();
    node.sh(BR_EX).unwrap();
    lab.hub().wait_reachable(node.mgmt_ipv4(), PATIENCE).unwrap();
    let pings = lab.hub().run(["ping", "-c", "5", "-i", "0.1", "10.9.0.11"]).unwrap();
    assert!(pings.contains(" 5 received") && !pings.contains("DUP"), "{pings}");
    assert!(watch.stop().reachable_at_end());
    node.pause_restarts(true).unwrap();
    node.kill_daemon(Daemon::OvsVswitchd).unwrap();
    lab.hub().wait_unreachable(node.mgmt_ipv4(), PATIENCE).unwrap();
    node.start_daemon(Daemon::OvsVswitchd).unwrap();
    node.wait_reachable().unwrap();
}

const BR_EX: &str = "
nmcli connection add type ovs-bridge ifname br-ex con-name br-ex ovs-bridge.datapath-type netdev
nmcli connection add type ovs-port ifname br-ex controller br-ex con-name br-ex-port
nmcli connection add type ovs-interface ifname br-ex controller br-ex-port con-name br-ex-if 802-3-ethernet.cloned-mac-address 02:09:00:00:01:00 \
  ipv4.method manual ipv4.addresses 10.9.0.11/24 ipv6.method manual ipv6.addresses fd09::11/64
nmcli connection add type ovs-port ifname eth0 controller br-ex con-name eth0-port
nmcli connection delete eth0
nmcli connection add type ethernet ifname eth0 controller eth0-port con-name eth0-uplink
nmcli --wait 60 connection up eth0-uplink
nmcli --wait 60 connection up br-ex-if";
