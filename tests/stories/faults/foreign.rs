//! Things of others on the node: nobody declared them to linesman, and they must survive whatever happens.

use linesman_tests::Host;

/// Somebody's virtual IP, added by hand.
pub const VIP: &str = "10.9.0.211";
/// What somebody's profile asks for.
const ADDRESS: &str = "10.9.2.177";

pub fn make(host: &Host, with_ovs: bool) {
    let node = &host.node;
    let address = format!("{ADDRESS}/24");
    let ethernet = ["connection", "add", "type", "ethernet", "ifname", "eth2", "con-name", "foreign"];
    let ip = ["ipv4.method", "manual", "ipv4.addresses", &address, "ipv6.method", "disabled"];
    node.nmcli(&[&ethernet[..], &["autoconnect", "yes"], &ip].concat())
        .and_then(|_| node.nmcli(&["--wait", "60", "connection", "up", "foreign"]))
        .expect("NetworkManager takes a profile of others");
    if with_ovs {
        make_bridge(host);
    }
}

fn make_bridge(host: &Host) {
    const COMMANDS: [&str; 6] = [
        "set Open_vSwitch . external_ids:ovn-remote=tcp:10.9.0.1:6642 other_config:vlan-limit=2",
        "add-br br-foreign",
        "set bridge br-foreign datapath_type=netdev external_ids:owner=somebody",
        "set bridge br-foreign other_config:mac-table-size=4096",
        "add-port br-foreign foreign0",
        "set interface foreign0 type=internal external_ids:iface-id=somebody",
    ];
    let words: Vec<&str> =
        COMMANDS.iter().flat_map(|line| ["--"].into_iter().chain(line.split(' '))).collect();
    host.node.ovs_vsctl(&words).expect("Open vSwitch takes a bridge of others");
}

/// A virtual IP does not survive a power cut; its owner would add it again.
pub fn put_vip(host: &Host) {
    let address = format!("{VIP}/24");
    let command = ["ip", "address", "replace", &address, "dev", "eth0"];
    host.node.run(command).expect("eth0 takes an address");
}

/// What is wrong with them; `None` if all of them are as they were.
pub fn loss(host: &Host, with_ovs: bool, vip: bool) -> Option<String> {
    let ping = |ip: &str| ip.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| host.lab.hub().ping(ip));
    let shown = host.node.nmcli(&["-t", "-f", "NAME,DEVICE", "connection", "show", "--active"]);
    let active = shown.unwrap_or_else(|e| e.to_string());
    if !active.lines().any(|line| line == "foreign:eth2") || !ping(ADDRESS) {
        return Some(format!("the profile on eth2, active are: {active}"));
    }
    let lost_key = || KEYS.iter().find_map(|(place, words)| lost_key(host, place, words));
    with_ovs.then(lost_key).flatten().or_else(|| (vip && !ping(VIP)).then(|| format!("the virtual IP {VIP}")))
}

const KEYS: [(&str, [&str; 2]); 3] = [
    ("Open_vSwitch . external_ids other_config", ["ovn-remote", "vlan-limit"]),
    ("bridge br-foreign external_ids other_config", ["owner", "mac-table-size"]),
    ("interface foreign0 external_ids", ["iface-id", "somebody"]),
];

fn lost_key(host: &Host, place: &str, words: &[&str; 2]) -> Option<String> {
    let question: Vec<&str> = ["get"].into_iter().chain(place.split(' ')).collect();
    let found = host.node.ovs_vsctl(&question).unwrap_or_else(|e| e.to_string());
    let all = words.iter().all(|word| found.contains(word));
    (!all).then(|| format!("{place}: {found}"))
}
