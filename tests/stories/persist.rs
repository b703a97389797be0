//! What was applied comes up again after a power cut, from the profiles on disk alone: linesman does not run.

use std::time::{Duration, Instant};

use linesman_tests::{Host, br_ex, observe};
use serde_json::{Value, json};

/// What must be the same after the boot.
fn lasting(host: &Host) -> Value {
    let state = host.state();
    let interfaces: Vec<Value> = observe::list(&state["interfaces"])
        .iter()
        .filter(|i| !matches!(i["type"].as_str(), Some("loopback" | "unknown")))
        .map(|i| {
            json!({
                "name": i["name"],
                "type": i["type"],
                "state": i["state"],
                "mtu": i["mtu"],
                "ipv4": addresses(&i["ipv4"]),
                "ipv6": addresses(&i["ipv6"]),
                "bridge": without_timers(&i["bridge"]),
                "controller": i["controller"],
                "ovs-db": i["ovs-db"],
            })
        })
        .collect();
    json!({
        "interfaces": interfaces,
        "routes": sorted(&state["routes"]["config"]),
        "rules": sorted(&state["route-rules"]["config"]),
        "dns": state["dns-resolver"]["config"],
        "hostname": state["hostname"],
        "ovs-db": state["ovs-db"],
    })
}

/// How long until the kernel looks for stale entries is no state.
fn without_timers(bridge: &Value) -> Value {
    let mut bridge = bridge.clone();
    if let Some(options) = bridge.get_mut("options").and_then(Value::as_object_mut) {
        options.retain(|key, _| !key.ends_with("-timer"));
    }
    bridge
}

fn sorted(list: &Value) -> Vec<String> {
    let mut texts: Vec<String> = observe::list(list).iter().map(Value::to_string).collect();
    texts.sort();
    texts
}

fn addresses(ip: &Value) -> Vec<String> {
    let global = observe::list(&ip["address"]).iter().filter(|a| !a["ip"].to_string().contains("fe80:"));
    global.map(|a| format!("{}/{}", a["ip"].as_str().unwrap_or_default(), a["prefix-length"])).collect()
}

fn survives_a_power_cut(host: &Host) {
    let before = lasting(host);
    host.node.power_cut().unwrap();
    assert!(!host.lab.hub().ping(host.node.mgmt_ipv4()), "the node is off");
    host.node.boot().unwrap();
    host.assert_settled();
    // NetworkManager runs, but may still be bringing things up.
    let deadline = Instant::now() + Duration::from_secs(60);
    while lasting(host) != before && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(lines(&lasting(host)), lines(&before), "not as before the power cut");
}

fn lines(state: &Value) -> Vec<String> {
    serde_json::to_string_pretty(state).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_bridge_with_routes_rules_and_dns() {
    let host = Host::new("persist");
    host.apply(
        "interfaces:
- name: br1
  type: linux-bridge
  state: up
  mtu: 1450
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.1.1, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd20::1', prefix-length: 64}]}
  bridge: {options: {stp: {enabled: false}}, port: [{name: eth1}]}
- name: eth1
  type: ethernet
  state: up
  mtu: 1450
- name: ve0
  type: veth
  state: up
  veth: {peer: ve1}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.44.0.1, prefix-length: 24}]}
routes:
  config:
  - {destination: 192.0.2.0/24, next-hop-address: 10.20.1.254, next-hop-interface: br1, metric: 150}
  - {destination: 198.51.100.0/24, next-hop-address: 10.20.1.254, next-hop-interface: br1, table-id: 200}
  - {destination: '2001:db8::/32', next-hop-address: 'fd20::fe', next-hop-interface: br1}
route-rules:
  config:
  - {ip-from: 10.20.1.0/24, priority: 1000, route-table: 200}
dns-resolver:
  config: {server: [10.9.0.1], search: [lab.test]}
hostname: {running: worker-1, config: worker-1}
",
    );
    survives_a_power_cut(&host);
    assert!(observe::resolv_conf(&host.node).contains("lab.test"));
}

#[test]
fn br_ex_with_the_nodes_own_address() {
    let host = Host::new("persist-br-ex");
    let document = br_ex(&host.node);
    host.apply(&document);
    survives_a_power_cut(&host);
    let again = host.apply(&document);
    assert!(again.stdout.contains("no changes made"), "{}", again.stdout);
}
