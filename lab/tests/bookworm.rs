//! A node of Debian 12: an older NetworkManager, no Open vSwitch. The root is made when this first asks for it.

#![allow(clippy::unwrap_used)]

use linesman_lab::{Daemon, Lab, Root};

#[test]
fn an_older_networkmanager_without_open_vswitch() {
    let lab = Lab::start("bookworm").unwrap();
    let node = lab.node("n1").root(Root::Bookworm).start().unwrap();
    node.configure_static().unwrap();
    let version = node.run(["NetworkManager", "--version"]).unwrap();
    assert!(version.starts_with("1.42"), "{version}");
    assert!(!node.exists("/usr/sbin/ovs-vswitchd").unwrap());
    node.kill_daemon(Daemon::NetworkManager).unwrap();
    node.wait_daemon(Daemon::NetworkManager).unwrap();
    node.power_cut().unwrap();
    node.boot().unwrap();
    node.wait_reachable().unwrap();
}

#[test]
fn it_boots_under_systemd_too() {
    let lab = Lab::start("bookworm-systemd").unwrap();
    let node = lab.node("n1").root(Root::Bookworm).systemd(true).start().unwrap();
    node.configure_static().unwrap();
    assert_eq!(node.run(["systemctl", "list-units", "--failed", "--no-legend"]).unwrap(), "");
}
