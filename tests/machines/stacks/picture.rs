//! A node as other tools show it, without what changes by itself.

use linesman_lab::Node;
use linesman_tests::observe;
use serde_json::{Map, Value, json};

/// What the kernel, Open vSwitch and the resolver have.
pub fn of(node: &Node) -> Value {
    let all = node.ip_json(&["link", "show"]).expect("ip lists links");
    let links = observe::list(&all).iter().filter_map(|all| {
        let name = all["ifname"].as_str()?;
        // Open vSwitch's own, which stays once there was a bridge.
        (name != "ovs-system").then(|| (name.to_owned(), link(node, all, name)))
    });
    let routes = node.sh("ip route show; ip -6 route show | sed '/fe80/d'").expect("ip lists routes");
    let switches = "for b in $(ovs-vsctl --timeout=60 list-br); do echo $b: $(ovs-vsctl --timeout=60 list-ports $b); done";
    json!({
        "links": links.collect::<Map<String, Value>>(),
        "routes": routes.lines().map(str::trim).collect::<Vec<_>>(),
        "ovs": node.sh(switches).expect("ovs-vsctl answers"),
        "dns": observe::resolv_conf(node),
    })
}

/// Without what a document cannot set back: nmstate gives routes no metric, and takes down a NIC that is given up.
pub fn lasting(picture: &Value) -> Value {
    let mut lasting = picture.clone();
    lasting["routes"] = Value::Null;
    for (_, link) in lasting["links"].as_object_mut().into_iter().flatten() {
        link["up"] = Value::Null;
    }
    lasting
}

fn link(node: &Node, all: &Value, name: &str) -> Value {
    let info = &all["linkinfo"];
    json!({
        "kind": info["info_kind"],
        "up": observe::list(&all["flags"]).iter().any(|flag| flag == "UP"),
        "mtu": all["mtu"],
        "mac": all["address"],
        "controller": all["master"],
        "parent": all["link"],
        "mode": info["info_data"]["mode"],
        "tag": info["info_data"]["id"],
        "addresses": observe::addresses(node, name),
    })
}

/// The profiles that are active, and where.
pub fn active_profiles(node: &Node) -> Vec<String> {
    let text = node.nmcli(&["-t", "-f", "UUID,TYPE,DEVICE", "connection", "show", "--active"]);
    let mut lines: Vec<String> = text.expect("nmcli lists profiles").lines().map(str::to_owned).collect();
    lines.sort();
    lines
}
