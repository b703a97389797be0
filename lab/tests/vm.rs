//! A node that is a virtual machine: the same as the others from outside, with a kernel of its own.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use linesman_lab::run::{Description, running};
use linesman_lab::{Daemon, Lab, Node, Signal, places};

const PATIENCE: Duration = Duration::from_secs(60);

fn start(lab: &Lab, name: &str) -> Node {
    lab.node(name).nics(3).vm(true).start().unwrap()
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn carrier(node: &Node, nic: u8) -> String {
    // Refused while the NIC is down.
    node.exec(["cat", &format!("/sys/class/net/eth{nic}/carrier")]).unwrap().stdout
}

/// What `node.rs` and `systemd.rs` say of the other nodes.
#[test]
fn is_used_like_any_other_node() {
    let lab = Lab::start("vm-contract").unwrap();
    let begin = Instant::now();
    let node = start(&lab, "n1");
    eprintln!("usable after {:?}", begin.elapsed());
    node.configure_static().unwrap();
    eprintln!("reachable after {:?}", begin.elapsed());
    comes_up_with_its_own_identity(&lab, &node);
    commands_stream_and_end(&node);
    files_are_written_and_read(&node);
    daemons_are_started_again_unless_paused(&node);
    links_and_nics_come_and_go(&lab, &node);
    assert_eq!(node.run(["systemctl", "list-units", "--failed", "--no-legend"]).unwrap(), "");
}

fn comes_up_with_its_own_identity(lab: &Lab, node: &Node) {
    node.assert_in_lab().unwrap();
    assert!(node.is_vm() && node.has_systemd() && node.pid().is_none());
    assert!(lab.hub().ping(node.mgmt_ipv4()) && lab.hub().ping(node.mgmt_ipv6()));
    assert!(!lab.hub().ping(node.ipv4_on(1)));
    assert_eq!(node.run(["hostname"]).unwrap(), "n1\n");
    assert_eq!(node.run(["cat", "/proc/1/comm"]).unwrap(), "systemd\n");
    for nic in 0..3 {
        let link = node.ip_json(&["link", "show", &format!("eth{nic}")]).unwrap();
        assert_eq!(link[0]["address"], node.mac(nic));
    }
    let now: u64 = node.run(["date", "+%s"]).unwrap().trim().parse().unwrap();
    let here = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert!(now.abs_diff(here) < 10, "the clock is {now}, not {here}");
    let units = ["NetworkManager", "ovsdb-server", "ovs-vswitchd", "openvswitch-switch", "systemd-journald"];
    let active = node.run(["systemctl", "is-active"].iter().chain(&units)).unwrap();
    assert_eq!(active, "active\n".repeat(units.len()));
    node.sh("systemd-run --wait --unit=story sh -c 'echo logged'; journalctl --sync; journalctl -u story | grep logged")
        .unwrap();
    let kernel = "modprobe -a bonding 8021q vrf dummy macvlan ipvlan vxlan openvswitch hsr macsec bridge veth
        ip link add b0 type bridge vlan_filtering 1 && ip link delete b0";
    node.sh(kernel).unwrap();
    node.ovs_vsctl(&["add-br", "br-kernel"]).unwrap();
    assert_eq!(node.ovs_vsctl(&["get", "interface", "br-kernel", "error"]).unwrap(), "[]\n");
    node.ovs_vsctl(&["del-br", "br-kernel"]).unwrap();
    let found = node.run(["getent", "ahosts", "n1.lab.test"]).unwrap();
    assert!(found.contains("10.9.0.11") && found.contains("fd09::11"), "{found}");
}

fn commands_stream_and_end(node: &Node) {
    let error = node.sh("echo heard; echo seen >&2; exit 3").unwrap_err().to_string();
    assert!(error.contains("heard") && error.contains("seen") && error.contains('3'), "{error}");
    assert_eq!(node.exec(["sh", "-c", "exit 7"]).unwrap().code(), Some(7));
    assert!(node.exec(["/no/such"]).unwrap_err().to_string().contains("No such file"));
    let big = "in and out\n".repeat(20_000);
    assert_eq!(node.command(["cat"]).unwrap().input(big.as_str()).run().unwrap(), big);
    assert_eq!(node.command(["sh", "-c", "echo $A"]).unwrap().env("A", "b c").run().unwrap(), "b c\n");
    let slow = node.command(["sleep", "1000"]).unwrap().limit(Duration::from_millis(50)).output();
    assert!(slow.unwrap_err().to_string().contains("did not end within"));

    let talker = node
        .spawn(["sh", "-c", "trap 'echo bye; exit 5' TERM; echo hi; while :; do sleep 0.1; done"])
        .unwrap();
    wait_for("the first line", || talker.stdout() == "hi\n");
    assert!(talker.status().is_none() && talker.pid().is_none());
    talker.signal(Signal::SIGTERM).unwrap();
    let output = talker.wait().unwrap();
    assert_eq!((output.code(), output.stdout.as_str()), (Some(5), "hi\nbye\n"));

    let dropped = node.spawn(["sleep", "4711"]).unwrap();
    let runs = || node.exec(["pgrep", "--full", "^sleep 4711"]).unwrap().success();
    assert!(runs());
    drop(dropped);
    wait_for("a command without a handle to die", || !runs());
}

fn files_are_written_and_read(node: &Node) {
    let bytes: Vec<u8> = (0..100_000u32).map(|n| n.to_le_bytes()[0]).collect();
    node.write_file("/root/new/file", &bytes, 0o640).unwrap();
    assert!(node.exists("/root/new/file").unwrap() && !node.exists("/root/new/other").unwrap());
    assert_eq!(node.read_file("/root/new/file").unwrap(), bytes);
    assert_eq!(node.run(["stat", "-c", "%a", "/root/new/file"]).unwrap(), "640\n");
    assert!(node.read_file("/root/none").unwrap_err().to_string().contains("No such file"));
    assert!(node.exists("/etc/NetworkManager/system-connections/eth0.nmconnection").unwrap());
}

fn daemons_are_started_again_unless_paused(node: &Node) {
    for daemon in [Daemon::OvsVswitchd, Daemon::NetworkManager] {
        let before = node.daemon_pid(daemon).unwrap().unwrap();
        node.kill_daemon(daemon).unwrap();
        node.wait_daemon(daemon).unwrap();
        assert_ne!(node.daemon_pid(daemon).unwrap(), Some(before), "{daemon:?}");
    }
    node.pause_restarts(true).unwrap();
    node.kill_daemon(Daemon::NetworkManager).unwrap();
    assert!(!node.daemon_running(Daemon::NetworkManager).unwrap());
    assert!(node.kill_daemon(Daemon::NetworkManager).is_err());
    node.start_daemon(Daemon::NetworkManager).unwrap();
    node.pause_restarts(false).unwrap();
    node.wait_reachable().unwrap();
}

fn links_and_nics_come_and_go(lab: &Lab, node: &Node) {
    assert_eq!(carrier(node, 0), "1\n");
    lab.hub().unplug(node, 0).unwrap();
    wait_for("the carrier to go", || carrier(node, 0) == "0\n");
    assert!(!lab.hub().ping(node.mgmt_ipv4()));
    lab.hub().plug(node, 0).unwrap();
    wait_for("the carrier to come", || carrier(node, 0) == "1\n");
    node.wait_reachable().unwrap();

    node.remove_nic(2).unwrap();
    assert!(!node.exists("/sys/class/net/eth2").unwrap());
    node.insert_nic(2).unwrap();
    let link = node.ip_json(&["link", "show", "eth2"]).unwrap();
    assert_eq!(link[0]["address"], node.mac(2));
    assert!(node.remove_nic(3).unwrap_err().to_string().contains("has no NIC 3"));
}

#[test]
fn a_power_cut_loses_what_was_not_synced_and_keeps_the_rest() {
    let lab = Lab::start("vm-power").unwrap();
    let node = lab.node("n1").vm(true).small_disk("/var/lib/linesman", 1 << 20).start().unwrap();
    node.configure_static().unwrap();
    node.write_file(
        "/etc/lab/boot.d/10-before",
        "#!/bin/sh\npidof NetworkManager >/root/before || :\n",
        0o755,
    )
    .unwrap();
    node.fill_disk().unwrap();
    let refused = node.write_file("/var/lib/linesman/entry", "x", 0o644).unwrap_err().to_string();
    assert!(refused.contains("No space left"), "{refused}");
    node.free_disk().unwrap();
    node.write_file("/var/lib/linesman/entry", "kept", 0o644).unwrap();
    node.sh("echo kept >/root/kept; sync; echo lost >/root/lost").unwrap();
    let lost = node.spawn(["sleep", "1000"]).unwrap();
    node.power_cut().unwrap();
    assert!(!lab.hub().ping(node.mgmt_ipv4()));
    assert!(!lost.wait().unwrap().success());
    assert!(node.exec(["true"]).unwrap_err().to_string().contains("switched off"));

    let begin = Instant::now();
    node.boot().unwrap();
    eprintln!("booted after {:?}", begin.elapsed());
    node.wait_reachable().unwrap();
    assert_eq!(node.read_file("/root/kept").unwrap(), b"kept\n");
    assert!(!node.exists("/root/lost").unwrap());
    assert_eq!(node.read_file("/var/lib/linesman/entry").unwrap(), b"kept");
    assert!(node.read_file("/root/before").unwrap().is_empty());
    assert_eq!(node.run(["hostname"]).unwrap(), "n1\n");
    node.sh("dmesg | grep 'EXT4-fs (vda): recovery complete'").unwrap();

    node.sh("echo lost >/root/lost").unwrap();
    let ended = node.spawn(["sleep", "1000"]).unwrap();
    node.reset().unwrap();
    assert!(!ended.wait().unwrap().success());
    assert!(!node.exists("/root/lost").unwrap());
    assert_eq!(node.read_file("/root/kept").unwrap(), b"kept\n");
}

#[test]
fn two_at_once_reach_each_other_and_do_not_look_alike() {
    let lab = Lab::start("vm-two").unwrap();
    let nodes = lab.nodes_with(2, |node| node.vm(true)).unwrap();
    std::thread::scope(|scope| {
        for node in &nodes {
            scope.spawn(|| node.configure_static().unwrap());
        }
    });
    nodes[0].run(["ping", "-c", "1", "-W", "5", "n2.lab.test"]).unwrap();
    for facts in [
        "cat /etc/machine-id",
        "hostname",
        "cat /sys/class/net/eth0/address",
        "head -c 16 /dev/urandom | od -x",
    ] {
        assert_ne!(nodes[0].sh(facts).unwrap(), nodes[1].sh(facts).unwrap(), "{facts}");
    }
}

const OWNER: &str = "LINESMAN_LAB_TEST_VM_OWNER";

/// Not a test by itself: the process that the test below kills.
#[test]
fn owner_to_be_killed() {
    let Ok(name) = std::env::var(OWNER) else { return };
    let lab = Lab::start(&name).unwrap();
    let node = lab.node("n1").vm(true).start().unwrap();
    let _busy = node.spawn(["sleep", "1000"]).unwrap();
    std::thread::sleep(PATIENCE);
}

fn described(name: &str) -> Option<Description> {
    running().unwrap().into_iter().find(|lab| lab.name == name)
}

#[test]
fn a_killed_owner_leaves_no_qemu() {
    let name = format!("vm-killed{}", std::process::id());
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owner_to_be_killed", "--nocapture"])
        .env(OWNER, &name)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let qemu = || described(&name).and_then(|lab| lab.nodes.first().and_then(|node| node.init));
    let deadline = Instant::now() + 4 * PATIENCE;
    while qemu().is_none() && owner.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "the owner has no VM");
        std::thread::sleep(Duration::from_millis(50));
    }
    let (lab, qemu) = (described(&name).unwrap(), qemu().unwrap());
    // As another process does it, such as `cargo xtask lab exec`.
    let seen = lab.nodes[0].command(["hostname"]).unwrap().run().unwrap();
    assert_eq!(seen, "n1\n");
    assert!(qemu.alive());
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(qemu.wait_gone(PATIENCE), "qemu outlived its owner");
    drop(Lab::start("vm-after-a-killed-one").unwrap());
    let runs = std::fs::read_dir(places::cache().join("run")).unwrap().filter_map(Result::ok);
    assert!(!runs.map(|run| run.file_name()).any(|run| run.to_string_lossy().starts_with(&name)));
}
