//! What the kernel under the other stories lacks: a bond over two NICs, a VLAN on it, a bridge on that. On a virtual
//! machine, which boots and loses power for real.

use linesman_lab::Node;
use linesman_lab::documents::STACK;
use linesman_tests::agent_host::AgentHost;
use linesman_tests::{Host, observe};
use serde_json::{Value, json};

/// Another mode, another tag and another address; and the node leaves the network of its gateway.
fn cuts_off(node: &Node) -> String {
    let changed = STACK.replace("active-backup", "balance-rr").replace("10.100.0.2", "10.100.0.3");
    let away = node.mgmt_ipv4().to_string().replace("10.9.", "10.8.");
    format!(
        "{changed}- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {away}, prefix-length: 24}}]}}
"
    )
}

/// Emulated, a change takes many times as long.
pub(crate) const PATIENT: &[&str] = &["--settle", "60s", "--timeout", "280s", "--dead-man", "60s"];

/// As other tools show it.
pub(crate) fn stack(node: &Node) -> Value {
    let info = |name: &str| observe::link(node, name).unwrap_or_default()["linkinfo"]["info_data"].clone();
    let master = |name: &str| observe::link(node, name).unwrap_or_default()["master"].clone();
    json!({
        "mode": info("bond0")["mode"],
        "miimon": info("bond0")["miimon"],
        "ports": [master("eth1"), master("eth2")],
        "tag": info("bond0.100")["id"],
        "bridge": master("bond0.100"),
        "address": observe::addresses(node, "br100"),
        "path": observe::addresses(node, "eth0"),
    })
}

pub(crate) fn expected(node: &Node) -> Value {
    json!({
        "mode": "active-backup",
        "miimon": 100,
        "ports": ["bond0", "bond0"],
        "tag": 100,
        "bridge": "br100",
        "address": ["10.100.0.2/24"],
        "path": [format!("{}/24", node.mgmt_ipv4()), format!("{}/64", node.mgmt_ipv6())],
    })
}

#[test]
fn a_bridge_on_a_vlan_on_a_bond_is_applied_restored_and_survives_a_power_cut() {
    let host = Host::built("full-kernel", |node| node.vm(true));
    let output = host.try_apply(STACK, PATIENT);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    assert_eq!(stack(&host.node), expected(&host.node));

    let before = host.history().len();
    let again = host.try_apply(STACK, PATIENT);
    assert!(again.success() && again.stdout.contains("no changes made"), "{}{}", again.stdout, again.stderr);
    assert_eq!(host.history().len(), before, "a change of nothing leaves no trace");

    let flags = [PATIENT, &["--probe", "gateway:v4", "--patience", "10s"]].concat();
    let failed = host.try_apply(&cuts_off(&host.node), &flags);
    assert!(!failed.success(), "{}{}", failed.stdout, failed.stderr);
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", failed.stdout, failed.stderr);
    assert_eq!(stack(&host.node), expected(&host.node), "{}{}", failed.stdout, failed.stderr);
    host.assert_settled();

    host.node.power_cut().unwrap();
    assert!(!host.lab.hub().ping(host.node.mgmt_ipv4()), "the node is off");
    host.node.boot().unwrap();
    host.assert_settled();
    host.eventually("all of it is up again", || stack(&host.node) == expected(&host.node));
    let again = host.try_apply(STACK, PATIENT);
    assert!(again.success() && again.stdout.contains("no changes made"), "{}{}", again.stdout, again.stderr);
}

const BRIDGE_OF_VIRTUAL_MACHINES: &str = "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: machines}
spec:
  desiredState:
    interfaces:
    - name: br1
      type: linux-bridge
      state: up
      ipv4: {enabled: false}
      ipv6: {enabled: false}
      bridge: {options: {stp: {enabled: false}}, port: [{name: eth1}, {name: eth2, vlan: {}}]}
";

/// As of kubernetes-nmstate's policies.
#[test]
fn ports_of_a_bridge_are_trunks_unless_their_policy_says_otherwise() {
    let agent_host = AgentHost::with(Host::built("trunks", |node| node.vm(true)), &["--dead-man", "60s"]);
    let host = &agent_host.host;
    let policy = host.document(BRIDGE_OF_VIRTUAL_MACHINES);
    let plan = host.linesman(&["plan", &policy]);
    assert!(plan.stdout.contains("trunk"), "shown before it is done:\n{}{}", plan.stdout, plan.stderr);
    agent_host.write("machines", BRIDGE_OF_VIRTUAL_MACHINES);
    agent_host.wait_phase("machines", "in-sync");
    let tags = observe::vlans(&host.node, "eth1");
    assert_eq!((tags.len(), tags.first(), tags.last()), (4094, Some(&"1u".into()), Some(&"4094".into())));
    assert_eq!(observe::vlans(&host.node, "eth2"), ["1u"]);
    let again = host.linesman(&["plan", &policy]);
    assert_eq!(again.code(), Some(0), "{}{}", again.stdout, again.stderr);
    host.node.run(["bridge", "vlan", "delete", "dev", "eth1", "vid", "100"]).unwrap();
    assert_eq!(host.linesman(&["diff"]).code(), Some(2));
}
