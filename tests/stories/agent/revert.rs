//! A policy is removed: its changes are retained or reverted, as its `onDelete` says.

use linesman_tests::agent_host::{AgentHost, policy};
use linesman_tests::observe;

const NIC: &str = "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: nic}
spec:
  onDelete: Revert
  desiredState:
    interfaces:
    - {name: eth1, type: ethernet, state: up, mtu: MTU, ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.77, prefix-length: 24}]}}
    routes:
      config: [{destination: 10.77.0.0/16, next-hop-interface: eth1, next-hop-address: 10.9.1.1}]
    dns-resolver: {config: {search: [reverted.test]}}
";

#[test]
fn a_removed_policy_is_reverted_except_where_another_policy_applies() {
    let agent_host = AgentHost::new("revert");
    agent_host.host.apply("interfaces:\n- {name: eth1, type: ethernet, state: up, mtu: 1450, ipv4: {enabled: false}, ipv6: {enabled: false}}\n");
    agent_host.write("gone", &policy("gone", "onDelete: Revert", "br2", 1400, "eth2"));
    agent_host.write("stays", &policy("stays", "onDelete: Retain", "br3", 1400, ""));
    agent_host.write("nic", &NIC.replace("MTU", "1300"));
    for name in ["gone", "stays", "nic"] {
        agent_host.wait_phase(name, "in-sync");
    }
    // Edited since: the revert restores the state before the policy, not its first version.
    agent_host.write("nic", &NIC.replace("MTU", "1350"));
    agent_host
        .host
        .eventually("the new version is there", || agent_host.host.interface("eth1").unwrap()["mtu"] == 1350);
    agent_host.wait_phase("nic", "in-sync");

    for name in ["gone", "stays", "nic"] {
        agent_host.remove(name);
    }
    agent_host
        .host
        .eventually("all are forgotten", || agent_host.status()["policies"].as_array().unwrap().is_empty());
    assert!(agent_host.host.interface("br2").is_none(), "what it made is gone");
    assert!(agent_host.host.interface("br3").is_some(), "what it made stays");
    let eth1 = agent_host.host.interface("eth1").unwrap();
    assert_eq!(eth1["mtu"], 1450, "{eth1:#}");
    assert_eq!(eth1["ipv4"]["enabled"], false, "{eth1:#}");
    let state = agent_host.host.state();
    assert!(!state["routes"]["config"].to_string().contains("10.77.0.0"), "{}", state["routes"]["config"]);
    assert!(!state["dns-resolver"].to_string().contains("reverted.test"), "{}", state["dns-resolver"]);
    agent_host.host.assert_settled();
}

#[test]
fn a_missing_policy_directory_reverts_nothing() {
    let agent_host = AgentHost::new("vanish");
    agent_host.write("kept", &policy("kept", "onDelete: Revert", "br1", 1400, "eth1"));
    agent_host.wait_phase("kept", "in-sync");
    agent_host.host.node.run(["mv", "/etc/linesman/policies", "/etc/linesman/elsewhere"]).unwrap();
    agent_host.signal(linesman_lab::Signal::SIGHUP);
    agent_host.host.linesman(&["retry"]);
    assert_eq!(agent_host.phase("kept"), "in-sync");
    assert!(agent_host.host.interface("br1").is_some());
    agent_host.host.node.run(["mv", "/etc/linesman/elsewhere", "/etc/linesman/policies"]).unwrap();
    agent_host.host.eventually("the directory is watched again", || {
        agent_host.write("more", &policy("more", "priority: 0", "br2", 1400, ""));
        agent_host.phase("more") == "in-sync"
    });
    assert!(agent_host.host.interface("br1").is_some());
}

const KEYS: &str = "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: keys}
spec:
  onDelete: Revert
  desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      state: up
      alt-names: [{name: storage1}]
      dispatch: {post-activation: 'true'}
      ethtool: {feature: {tx-generic-segmentation: false}}
      ipv4: {enabled: true, dhcp: true, auto-route-metric: 77}
    ovs-db: {external_ids: {changed: new, added: 'yes'}, other_config: {vlan-limit: '2'}}
    ovn: {bridge-mappings: [{localnet: ours, bridge: br9}]}
";

const BEFORE: &str = "interfaces:
- {name: eth1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}, ipv6: {enabled: false}}
- {name: br9, type: ovs-bridge, state: up, bridge: {options: {datapath: netdev}, port: [{name: br9}]}}
- {name: br9, type: ovs-interface, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}
";

#[test]
fn keys_mappings_and_properties_that_were_absent_are_reverted() {
    let agent_host = AgentHost::new("revert-keys");
    let host = &agent_host.host;
    host.apply(BEFORE);
    let theirs = "ovs-vsctl set Open_vSwitch . external_ids:theirs=1 external_ids:changed=old \
        external_ids:ovn-bridge-mappings=theirs:br-int";
    host.node.sh(theirs).unwrap();
    let key = |column: &str| observe::ovs(&host.node, "Open_vSwitch", ".", column);
    let picture = || {
        let eth1 = host.interface("eth1").unwrap();
        let keys = ["theirs", "changed", "added", "ovn-bridge-mappings"]
            .map(|name| format!("{name}={}", key(&format!("external_ids:{name}"))));
        let eth1 = [
            eth1["alt-names"].to_string(),
            eth1["dispatch"].to_string(),
            eth1["ethtool"]["feature"]["tx-generic-segmentation"].to_string(),
            eth1["ipv4"]["auto-route-metric"].to_string(),
        ];
        (keys, key("other_config:vlan-limit"), eth1)
    };
    let before = picture();
    agent_host.write("keys", KEYS);
    agent_host.wait_phase("keys", "in-sync");
    assert_eq!(key("external_ids:ovn-bridge-mappings"), "ours:br9,theirs:br-int");
    assert_ne!(picture().2[2], before.2[2], "the driver takes the setting");
    agent_host.remove("keys");
    host.eventually("the policy is forgotten", || {
        agent_host.status()["policies"].as_array().unwrap().is_empty()
    });
    assert_eq!(picture(), before);
    host.assert_settled();
}

/// Each builds on the one before.
const STACK: [(&str, &str); 3] = [
    (
        "z-base",
        "interfaces: [{name: br-base, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]",
    ),
    (
        "m-middle",
        "interfaces: [{name: mv0, type: mac-vlan, state: up, mac-vlan: {base-iface: br-base, mode: bridge, promiscuous: true}}]",
    ),
    (
        "a-top",
        "interfaces: [{name: br-top, type: linux-bridge, state: up, bridge: {port: [{name: mv0}]},
      ipv4: {enabled: true, dhcp: false, address: [{ip: 10.44.0.1, prefix-length: 24}]}}]",
    ),
];

#[test]
fn policies_that_build_on_each_other_are_reverted_in_the_opposite_order() {
    let agent_host = AgentHost::new("revert-stack");
    let host = &agent_host.host;
    let links = || host.node.sh("ip -j link show eth1 | jq -c '.[0] | [.flags, .mtu, .master]'").unwrap();
    let before = links();
    // Together: none of the upper ones could be planned alone.
    agent_host.stop();
    for (name, state) in STACK {
        let head = "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\n";
        let spec = format!("spec:\n  onDelete: Revert\n  desiredState:\n    {state}\n");
        agent_host.write(name, &format!("{head}metadata: {{name: {name}}}\n{spec}"));
    }
    agent_host.start();
    for (name, _) in STACK {
        agent_host.wait_phase(name, "in-sync");
    }
    assert_eq!(agent_host.changes().len(), 1, "one change: {:?}", agent_host.changes());
    agent_host.stop();
    STACK.iter().for_each(|(name, _)| agent_host.remove(name));
    agent_host.start();
    let gone = || agent_host.status()["policies"].as_array().is_some_and(Vec::is_empty);
    host.eventually("all are forgotten", gone);
    for name in ["br-top", "mv0", "br-base"] {
        assert!(host.interface(name).is_none(), "{name}: {:?}", host.history());
    }
    assert_eq!(links(), before);
    host.assert_settled();
}
