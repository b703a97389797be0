//! The lab never touches the machine's own network, and says so.

#![allow(clippy::unwrap_used)]

use linesman_lab::{Error, Lab, Root, assert_in_lab};

#[test]
fn the_machines_own_network_is_refused() {
    let refused = assert_in_lab().unwrap_err();
    assert!(matches!(refused, Error::NotInLab { .. }), "{refused}");
}

#[test]
fn hub_and_nodes_are_in_networks_of_their_own() {
    let lab = Lab::start("own").unwrap();
    let node = lab.node("n1").nics(1).start().unwrap();
    lab.hub().assert_in_lab().unwrap();
    node.assert_in_lab().unwrap();
    let links = lab.hub().run(["ip", "-brief", "link"]).unwrap();
    let strangers: Vec<_> =
        links.lines().filter(|line| !["lo", "net", "p1"].iter().any(|ours| line.starts_with(ours))).collect();
    assert!(strangers.is_empty(), "the hub has an uplink: {strangers:?}");
    assert!(!lab.hub().run(["ip", "route"]).unwrap().contains("default"));
}

#[test]
fn wrong_options_are_refused() {
    let lab = Lab::start("wishes").unwrap();
    let complaint = |started: linesman_lab::Result<linesman_lab::Node>| started.unwrap_err().to_string();
    assert!(complaint(lab.node("N 1").start()).contains("no name for a node"));
    assert!(complaint(lab.node("n1").nics(9).start()).contains("at most 4 NICs"));
    assert!(complaint(lab.node("n1").binary("/no/such").start()).contains("/no/such"));
    assert!(complaint(lab.node("n1").vm(true).root(Root::Bookworm).start()).contains("runs Debian forky"));
    let n1 = lab.node("n1").nics(0).start().unwrap();
    assert!(n1.reset().unwrap_err().to_string().contains("vm(true)"));
    assert!(complaint(lab.node("n1").start()).contains("already has a node n1"));
}
