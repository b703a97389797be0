//! Ports that others attached to a declared bridge stay, unless the document says otherwise.

use linesman_tests::agent_host::AgentHost;
use linesman_tests::{Host, observe};

/// A Linux bridge and an OVS bridge; MTU, PORTS and EXTRA are filled in.
const BRIDGES: &str = "interfaces:
- name: br1
  type: linux-bridge
  state: up
  mtu: MTU
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.1.1, prefix-length: 24}]}
  bridge: {port: PORTS EXTRA}
- name: ovs0
  type: ovs-bridge
  state: up
  bridge: {options: {datapath: netdev}, port: [{name: ovs0}] EXTRA}
- name: ovs0
  type: ovs-interface
  state: up
  mtu: MTU
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.50.0.1, prefix-length: 24}]}
";

fn bridges(mtu: u32, ports: &str, extra: &str) -> String {
    BRIDGES.replace("MTU", &mtu.to_string()).replace("PORTS", ports).replace("EXTRA", extra)
}

/// A Pod's veth, an internal port, and a NIC that NetworkManager does not run.
const ATTACH: &str = "
ip link add pod0 type veth peer name pod1
ip link set pod0 master br1
ip link set pod0 up
ovs-vsctl add-port ovs0 vport0 -- set interface vport0 type=internal
ovs-vsctl add-port ovs0 eth2
";

fn attached(host: &Host) -> String {
    let master = observe::link(&host.node, "pod0").map(|pod| pod["master"].to_string());
    let ports = host.node.ovs_vsctl(&["list-ports", "ovs0"]).expect("Open vSwitch answers");
    format!("{} {}", master.unwrap_or("gone".into()), ports.split_whitespace().collect::<Vec<_>>().join(" "))
}

const ALL: &str = "\"br1\" eth2 vport0";

#[test]
fn ports_of_others_stay_until_a_document_removes_them() {
    let host = Host::new("foreign-ports");
    host.apply(&bridges(1500, "[{name: eth1}]", ""));
    host.node.sh(ATTACH).expect("others attach ports");
    host.eventually("NetworkManager knows the Pod's port", || {
        let device = host.node.nmcli(&["-g", "GENERAL.STATE", "device", "show", "pod0"]);
        device.is_ok_and(|state| state.contains("externally"))
    });
    let again = host.linesman(&["plan", &host.document(&bridges(1500, "[{name: eth1}]", ""))]);
    assert_eq!(again.code(), Some(0), "nothing changed: {}{}", again.stdout, again.stderr);

    host.apply(&bridges(1400, "[{name: eth1}]", ""));
    assert_eq!(attached(&host), ALL, "after a change of both bridges");
    let tried = host.try_apply(&bridges(1300, "[{name: eth1}]", ""), &["--try", "1s"]);
    assert_eq!(tried.code(), Some(5), "{}{}", tried.stdout, tried.stderr);
    assert_eq!(attached(&host), ALL, "after a change that was rolled back");
    host.apply(&bridges(1400, "[]", ""));
    assert_eq!(attached(&host), ALL, "after NetworkManager's own port left");
    let eth1 = observe::link(&host.node, "eth1").expect("eth1 stays");
    assert!(eth1["master"].is_null(), "the declared list still counts for it: {eth1}");

    host.node
        .ovs_vsctl(&["set", "port", "eth2", "vlan_mode=native-untagged"])
        .expect("a mode that nmstate does not know");
    let plan = host.linesman(&["plan", &host.document(&bridges(1400, "[]", ""))]);
    assert!(!plan.stderr.contains("Unknown OVS"), "what others have is no news: {}", plan.stderr);
    host.apply("interfaces:\n- {name: vport0, type: ovs-interface, state: absent}\n");
    assert_eq!(attached(&host), "\"br1\" eth2", "its own entry removes a port");
    let strict = bridges(1400, "[]", ", allow-extra-ports: false");
    let plan = host.linesman(&["plan", &host.document(&strict)]).stdout;
    assert!(plan.contains("- bridge.port[pod0]") && plan.contains("- bridge.port[eth2]"), "{plan}");
    host.apply(&strict);
    assert_eq!(attached(&host), "null ", "the bridges allow no extra ports");
    host.assert_settled();
}

const POLICY: &str = "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: bridge}
spec:
  drift: Correct
  onDelete: Revert
  desiredState:
    interfaces:
    - {name: br1, type: linux-bridge, state: up, mtu: 1400, bridge: {port: [{name: eth1}, {name: eth2}]}}
";

fn master(host: &Host, port: &str) -> String {
    observe::link(&host.node, port).map_or("gone".into(), |link| link["master"].to_string())
}

#[test]
fn an_agent_that_corrects_and_reverts_leaves_a_pods_port() {
    let host = Host::new("foreign-agent");
    host.apply(
        "interfaces:\n- {name: br1, type: linux-bridge, state: up, mtu: 1500, ipv4: {enabled: false}, \
         ipv6: {enabled: false}, bridge: {port: [{name: eth1}]}}\n",
    );
    host.node
        .sh("ip link add pod0 type veth peer name pod1 && ip link set pod0 master br1 && ip link set pod0 up")
        .expect("a Pod attaches its port");
    let agent_host = AgentHost::of(host);
    let host = &agent_host.host;
    agent_host.write("bridge", POLICY);
    agent_host.wait_phase("bridge", "in-sync");
    // Another Pod, which goes again before the policy does.
    host.node
        .sh("ip link add pod2 type veth peer name pod3 && ip link set pod2 master br1 && ip link set pod2 up")
        .expect("a Pod attaches its port");
    agent_host.stop();
    agent_host.start();
    agent_host.wait_phase("bridge", "in-sync");
    host.node.run(["ip", "link", "set", "br1", "mtu", "1300"]).expect("somebody changes the bridge");
    host.eventually("it is corrected", || agent_host.metric("linesman_corrections_total") == Some(1.0));
    agent_host.wait_phase("bridge", "in-sync");
    assert_eq!((master(host, "pod0"), master(host, "pod2")), ("\"br1\"".into(), "\"br1\"".into()));
    assert_eq!(
        agent_host.changes().len(),
        3,
        "by hand, the policy, one correction: {:?}",
        agent_host.changes()
    );
    host.node.run(["ip", "link", "delete", "pod2"]).expect("a Pod ends");
    agent_host.remove("bridge");
    host.eventually("it is reverted", || {
        agent_host.status()["policies"].as_array().is_some_and(Vec::is_empty)
    });
    assert_eq!((master(host, "pod0"), master(host, "eth1")), ("\"br1\"".into(), "\"br1\"".into()));
    assert_eq!(master(host, "eth2"), "null", "{:?}", host.history().last());
    host.assert_settled();
}

/// A new MAC address needs a new activation, in which NetworkManager drops all ports of a bridge.
#[test]
fn ports_of_others_survive_a_new_activation_and_its_rollback() {
    let host = Host::new("foreign-anew");
    host.apply(linesman_tests::BRIDGE);
    host.node
        .sh("ip link add pod0 type veth peer name pod1 && ip link set pod0 master br1 && ip link set pod0 up")
        .expect("a Pod attaches its port");
    let with_mac = |mac: &str| {
        linesman_tests::BRIDGE.replace("  state: up\n", &format!("  state: up\n  mac-address: {mac}\n"))
    };
    host.apply(&with_mac("02:00:00:00:00:77"));
    assert_eq!(master(&host, "pod0"), "\"br1\"", "after the change");
    let tried = host.try_apply(&with_mac("02:00:00:00:00:78"), &["--try", "1s"]);
    assert_eq!(tried.code(), Some(5), "{}{}", tried.stdout, tried.stderr);
    assert_eq!(master(&host, "pod0"), "\"br1\"", "after the rollback");

    // A Pod starts while the change is on.
    let pod =
        "ip link add pod2 type veth peer name pod3 && ip link set pod2 master br1 && ip link set pod2 up";
    let tried = host.start_apply(&with_mac("02:00:00:00:00:79"), &["--try", "1s"], "verified");
    host.wait_failpoint("verified");
    host.node.sh(pod).expect("a Pod attaches its port");
    host.pass_failpoint("verified");
    let tried = tried.wait().expect("linesman ends");
    assert_eq!(tried.code(), Some(5), "{}{}", tried.stdout, tried.stderr);
    assert_eq!((master(&host, "pod2"), master(&host, "pod0")), ("\"br1\"".into(), "\"br1\"".into()));
    host.node.run(["ip", "link", "delete", "pod2"]).expect("a Pod ends");

    // What the document omits returns to its default, and so does the list of ports.
    let bare = "interfaces:\n- {name: br1, type: linux-bridge, state: up, bridge: {port: []}}\n";
    let file = host.document(bare);
    let plan = host.linesman(&["plan", &file, "--override-iface"]).stdout;
    for line in ["- bridge.port[eth1]", "- bridge.port[pod0]", "~ ipv4.enabled: true -> false"] {
        assert!(plan.contains(line), "'{line}' is not in:\n{plan}");
    }
    let reset = host.linesman(&["apply", &file, "--override-iface"]);
    assert!(reset.success(), "{}{}", reset.stdout, reset.stderr);
    assert_eq!((master(&host, "pod0"), master(&host, "eth1")), ("null".into(), "null".into()));
    assert!(observe::addresses(&host.node, "br1").iter().all(|address| address.starts_with("fe80")));
    assert!(host.linesman(&["plan", &file, "--override-iface"]).success(), "it is done");
    host.assert_settled();
}
