//! A node as other tools show it: nothing here asks linesman.

use linesman_lab::Node;
use serde_json::Value;

/// `ip -json -details link`; None if there is no such link.
pub fn link(node: &Node, name: &str) -> Option<Value> {
    let links = node.ip_json(&["link", "show"]).expect("ip lists links");
    list(&links).iter().find(|link| link["ifname"] == name).cloned()
}

pub fn link_exists(node: &Node, name: &str) -> bool {
    link(node, name).is_some()
}

/// Addresses with their prefixes, link-local ones left out.
pub fn addresses(node: &Node, name: &str) -> Vec<String> {
    let links = node.ip_json(&["address", "show"]).expect("ip lists addresses");
    let of_link = list(&links).iter().filter(|link| link["ifname"] == name);
    let all = of_link.flat_map(|link| list(&link["addr_info"]));
    let mut texts: Vec<String> = all
        .filter(|a| a["scope"] != "link")
        .map(|a| format!("{}/{}", a["local"].as_str().unwrap_or_default(), a["prefixlen"]))
        .collect();
    texts.sort();
    texts
}

/// The route to `destination` in `table`, as `ip -json route` shows it.
pub fn route(node: &Node, table: &str, destination: &str) -> Option<Value> {
    let family = if destination.contains(':') { "-6" } else { "-4" };
    let text = node.exec(["ip", "-json", "-details", family, "route", "show", "table", table]).ok()?.stdout;
    let routes: Value = serde_json::from_str(&text).unwrap_or_default();
    list(&routes).iter().find(|route| route["dst"] == destination).cloned()
}

pub fn rule(node: &Node, family: &str, priority: u32) -> Option<Value> {
    let text = node.run(["ip", "-json", "-details", family, "rule", "show"]).expect("ip lists rules");
    let rules: Value = serde_json::from_str(&text).unwrap_or_default();
    list(&rules).iter().find(|rule| rule["priority"] == priority).cloned()
}

/// Not every kernel has it compiled in.
pub fn kernel_filters_vlans(node: &Node) -> bool {
    let tried = "ip link add vlantry type bridge vlan_filtering 1 && ip link delete vlantry";
    node.exec(["sh", "-c", tried]).is_ok_and(|output| output.success())
}

/// The VLAN tags a bridge port lets through, ranges as `first-last`, the untagged one marked `u`.
pub fn vlans(node: &Node, port: &str) -> Vec<String> {
    let text = node.run(["bridge", "-json", "vlan", "show", "dev", port]).expect("bridge lists VLANs");
    let ports: Value = serde_json::from_str(&text).unwrap_or_default();
    let tag = |vlan: &Value| {
        let first = vlan["vlan"].to_string();
        let range = vlan["vlanEnd"].as_u64().map_or(first.clone(), |last| format!("{first}-{last}"));
        let untagged = list(&vlan["flags"]).iter().any(|flag| flag == "Egress Untagged");
        if untagged { format!("{range}u") } else { range }
    };
    list(&ports).iter().flat_map(|port| list(&port["vlans"])).map(tag).collect()
}

/// Profiles of an interface, in memory or on disk.
pub fn profiles(node: &Node, interface: &str) -> Vec<String> {
    let names = node.nmcli(&["-t", "-f", "UUID", "connection", "show"]).expect("nmcli lists profiles");
    let of = |uuid: &&str| {
        let name = node.nmcli(&["-g", "connection.interface-name", "connection", "show", "uuid", uuid]);
        name.is_ok_and(|name| name.trim() == interface)
    };
    names.lines().filter(of).map(str::to_owned).collect()
}

/// One value of Open vSwitch's database; empty if the row or the key is missing.
pub fn ovs(node: &Node, table: &str, row: &str, column: &str) -> String {
    let value = node.exec(["ovs-vsctl", "--timeout=60", "--if-exists", "get", table, row, column]);
    value.expect("ovs-vsctl runs").stdout.trim().trim_matches('"').to_owned()
}

pub fn resolv_conf(node: &Node) -> String {
    let bytes = node.read_file("/etc/resolv.conf").unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn hostname(node: &Node) -> String {
    node.run(["hostname"]).expect("a node has a name").trim().to_owned()
}

pub fn fixed_hostname(node: &Node) -> String {
    String::from_utf8_lossy(&node.read_file("/etc/hostname").unwrap_or_default()).trim().to_owned()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
