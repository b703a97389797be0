//! A change is applied, in sync, and not applied again; br-ex takes over the node's own address.

use linesman_tests::{BRIDGE, Host, br_ex};

#[test]
fn a_bridge_is_planned_applied_and_not_changed_again() {
    let host = Host::new("apply");
    let file = host.document(BRIDGE);
    let plan = host.linesman(&["plan", &file]);
    assert_eq!(plan.code(), Some(2), "{}{}", plan.stdout, plan.stderr);
    assert!(plan.stdout.contains("br1"), "{}", plan.stdout);
    host.apply(BRIDGE);
    let bridge = host.interface("br1").expect("br1 is there");
    assert_eq!(bridge["ipv4"]["address"][0]["ip"], "10.20.1.1");
    assert_eq!(host.linesman(&["plan", &file]).code(), Some(0));
    let before = host.history().len();
    let again = host.apply(BRIDGE);
    assert!(again.stdout.contains("no changes made"), "{}", again.stdout);
    assert_eq!(host.history().len(), before, "a change of nothing leaves no trace");
    host.assert_settled();

    // Somebody deletes the bridge: the profile of its port still names it.
    host.node.nmcli(&["connection", "delete", "br1"]).unwrap();
    let alone = "interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]\n";
    let output = host.try_apply(alone, &["--timeout", "20s"]);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    host.apply(BRIDGE);
    assert_eq!(host.linesman(&["plan", &file]).code(), Some(0));
}

#[test]
fn br_ex_takes_the_nodes_own_address_while_the_hub_watches() {
    let host = Host::new("br-ex");
    let watch = host.lab.hub().watch(host.node.mgmt_ipv4()).unwrap();
    let output = host.apply(&br_ex(&host.node));
    assert!(output.stdout.contains("own-path"), "{}", output.stdout);
    host.assert_settled();
    assert!(watch.stop().reachable_at_end());
    let ports = host.node.ovs_vsctl(&["list-ports", "br-ex"]).unwrap();
    assert!(ports.contains("eth0"), "{ports}");
}
