//! Day 2 on br-ex: policies adopt and change it, and what OVN has on it stays.

use linesman_lab::{gateway_v4, gateway_v6};
use linesman_tests::agent_host::AgentHost;
use linesman_tests::{Host, br_ex, observe};

/// What ovnkube-node and ovn-controller put there: a masquerade address, a patch port to br-int, keys.
const OVN: &str = "
ip address add 169.254.0.2/17 dev br-ex
ip address add fd69::2/112 dev br-ex nodad
ovs-vsctl add-br br-int -- set bridge br-int datapath_type=netdev fail_mode=secure
ovs-vsctl add-port br-ex patch-br-ex_n1-to-br-int -- set interface patch-br-ex_n1-to-br-int type=patch \
  options:peer=patch-br-int-to-br-ex_n1 -- set port patch-br-ex_n1-to-br-int external_ids:ovn-localnet-port=br-ex_n1
ovs-vsctl add-port br-int patch-br-int-to-br-ex_n1 -- set interface patch-br-int-to-br-ex_n1 type=patch \
  options:peer=patch-br-ex_n1-to-br-int
ovs-vsctl set Open_vSwitch . external_ids:ovn-bridge-mappings=physnet:br-ex external_ids:ovn-encap-ip=10.9.0.2
ovs-vsctl set bridge br-ex external_ids:bridge-id=br-ex external_ids:bridge-uplink=eth0
";

/// Everything that is OVN's on br-ex, and what it remembers of it.
fn belongings(host: &Host) -> Vec<String> {
    let ovs = |table, row, column| format!("{row} {column} {}", observe::ovs(&host.node, table, row, column));
    let foreign = observe::addresses(&host.node, "br-ex");
    let has = |address: &str| format!("{address} {}", foreign.iter().any(|a| a == address));
    vec![
        has("169.254.0.2/17"),
        has("fd69::2/112"),
        ovs("Interface", "eth0", "ofport"),
        ovs("Interface", PATCH, "ofport"),
        ovs("Interface", PATCH, "options:peer"),
        ovs("Port", PATCH, "external_ids:ovn-localnet-port"),
        ovs("Open_vSwitch", ".", "external_ids:ovn-bridge-mappings"),
        ovs("Open_vSwitch", ".", "external_ids:ovn-encap-ip"),
        ovs("Bridge", "br-ex", "external_ids:bridge-id"),
        ovs("Bridge", "br-ex", "external_ids:bridge-uplink"),
    ]
}

/// An internal port for another network, tagged on the wire.
const STORAGE: &str = "- name: storage
  type: ovs-interface
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.70.0.2, prefix-length: 24}]}
";

const PATCH: &str = "patch-br-ex_n1-to-br-int";

/// What a change that touches nothing leaves: the very same device and rows.
fn identity(host: &Host) -> Vec<String> {
    let row = |table, name| observe::ovs(&host.node, table, name, "_uuid");
    let index = observe::link(&host.node, "br-ex").expect("br-ex is there")["ifindex"].to_string();
    vec![index, row("Bridge", "br-ex"), row("Interface", "eth0"), row("Interface", "br-ex")]
}

fn policy(name: &str, state: &str) -> String {
    let state = state.lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!(
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {{name: {name}}}\nspec:\n  desiredState:\n{state}"
    )
}

/// br-ex as first boot makes it, with OVN on it and a policy that declares the same.
fn adopted(name: &str) -> AgentHost {
    let host = Host::new(name);
    let document = br_ex(&host.node);
    host.apply(&document);
    host.node.sh(OVN).expect("OVN comes");
    let before = (identity(&host), belongings(&host));
    let agent_host = AgentHost::of(host);
    let host = &agent_host.host;
    agent_host.write("br-ex", &policy("br-ex", &document));
    agent_host.wait_phase("br-ex", "in-sync");
    assert_eq!(agent_host.changes().len(), 1, "nothing was applied: {:?}", agent_host.changes());
    assert_eq!((identity(host), belongings(host)), before, "nothing was touched");
    assert!(before.1.iter().all(|thing| !thing.ends_with("false") && !thing.ends_with(' ')), "{before:?}");
    agent_host
}

#[test]
fn a_policy_adopts_br_ex_and_later_ones_change_it() {
    let agent_host = adopted("day2");
    let host = &agent_host.host;
    let theirs = belongings(host);
    let changed = |what: &str, state: &str, holds: &dyn Fn() -> bool| {
        agent_host.write("br-ex", &policy("br-ex", state));
        host.eventually(what, holds);
        agent_host.wait_phase("br-ex", "in-sync");
        assert_eq!(belongings(host), theirs, "after {what}");
        assert!(host.reachable(), "after {what}");
    };
    let storage = br_ex(&host.node)
        .replace(
            "    - name: br-ex\n",
            "    - name: br-ex\n    - {name: storage, vlan: {mode: access, tag: 70}}\n",
        )
        .replace("interfaces:\n", &format!("interfaces:\n{STORAGE}"));
    let has_storage = || observe::addresses(&host.node, "storage").contains(&"10.70.0.2/24".to_owned());
    changed("a port for another VLAN", &storage, &has_storage);
    assert_eq!(observe::ovs(&host.node, "Port", "storage", "tag"), "70");
    let route = format!(
        "routes:\n  config:\n  - {{destination: 10.77.0.0/16, next-hop-address: {}, next-hop-interface: br-ex}}\n",
        gateway_v4(0)
    );
    agent_host.write("route", &policy("route", &route));
    host.eventually("a route through br-ex", || observe::route(&host.node, "main", "10.77.0.0/16").is_some());
    agent_host.wait_phase("route", "in-sync");
    assert_eq!(belongings(host), theirs, "after a route");
    let with_mtu = storage.replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1400");
    let has_mtu = || observe::link(&host.node, "br-ex").is_some_and(|link| link["mtu"] == 1400);
    changed("an MTU", &with_mtu, &has_mtu);
    let has_search = || observe::resolv_conf(&host.node).contains("day2.test");
    changed("a DNS search domain", &with_mtu.replace("lab.test", "day2.test"), &has_search);
    host.assert_settled();
}

#[test]
fn a_change_of_br_ex_that_fails_leaves_all_that_is_ovns() {
    let agent_host = adopted("day2-fails");
    let host = &agent_host.host;
    let theirs = belongings(host);
    let cut_off = br_ex(&host.node)
        .replace(&format!("next-hop-address: {}", gateway_v4(0)), "next-hop-address: 10.9.0.250")
        .replace(&format!("next-hop-address: '{}'", gateway_v6(0)), "next-hop-address: 'fd09::fa'");
    agent_host.write("br-ex", &policy("br-ex", &cut_off));
    agent_host.wait_phase("br-ex", "rolled-back");
    host.assert_settled();
    assert_eq!(host.last_verdict(), "rolled-back");
    assert_eq!(belongings(host), theirs, "after the rollback");
    // The bridge goes, is missed, and is made anew.
    let gone = host
        .try_apply("interfaces:\n- {name: br-ex, type: ovs-bridge, state: absent}\n", &["--patience", "3s"]);
    assert_eq!(gone.code(), Some(5), "{}{}", gone.stdout, gone.stderr);
    assert_eq!(belongings(host), theirs, "after br-ex was gone");
    host.assert_settled();
}
