//! What the lab can break around a node, and puts right again.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use linesman_lab::{Lab, Node, Service};

const PATIENCE: Duration = Duration::from_secs(60);

fn static_node(lab: &Lab) -> Node {
    let node = lab.node("n1").start().unwrap();
    node.configure_static().unwrap();
    node
}

fn hears(node: &Node, text: &str) -> bool {
    node.exec(["bash", "-c", text]).unwrap().success()
}

const PING: &str = "ping -c 1 -W 1 10.9.0.1 && ping -c 1 -W 1 fd09::1";
const DNS: &str = "timeout 1 getent ahosts gateway.lab.test";
const HTTP: &str = "exec 3<>/dev/tcp/10.9.0.1/80 && printf 'GET / HTTP/1.1\\r\\n\\r\\n' >&3 && timeout 5 cat <&3 | grep 'linesman lab'";

#[test]
fn gateway_and_dns_stop_answering_while_the_node_is_still_watched() {
    let lab = Lab::start("silent").unwrap();
    let node = static_node(&lab);
    for (service, question) in [(Service::Gateway, PING), (Service::Dns, DNS)] {
        assert!(hears(&node, question), "{service:?} before");
        lab.hub().silence(service).unwrap();
        assert!(!hears(&node, question), "{service:?} silenced");
        assert!(lab.hub().ping(node.mgmt_ipv4()));
        lab.hub().restore(service).unwrap();
        assert!(hears(&node, question), "{service:?} restored");
    }
}

#[test]
fn the_hub_answers_http_unless_switched_off() {
    let lab = Lab::start("http").unwrap();
    let node = static_node(&lab);
    assert!(hears(&node, HTTP));
    lab.hub().silence(Service::Http).unwrap();
    assert!(!hears(&node, &format!("timeout 1 bash -c '{}'", HTTP.replace('\'', "\""))));
}

#[test]
fn dhcp_can_be_off() {
    let lab = Lab::start("dhcp-off").unwrap();
    let node = lab.node("n1").start().unwrap();
    lab.hub().silence(Service::Dhcp).unwrap();
    let add =
        ["connection", "add", "type", "ethernet", "ifname", "eth0", "con-name", "eth0", "autoconnect", "no"];
    node.nmcli(&[&add[..], &["ipv6.method", "disabled", "ipv4.dhcp-timeout", "2"]].concat()).unwrap();
    assert!(node.nmcli(&["--wait", "30", "connection", "up", "eth0"]).is_err());
    lab.hub().restore(Service::Dhcp).unwrap();
    node.nmcli(&["--wait", "30", "connection", "up", "eth0"]).unwrap();
}

#[test]
fn a_blocked_node_keeps_its_links_and_an_unplugged_one_does_not() {
    let lab = Lab::start("blocked").unwrap();
    let node = static_node(&lab);
    let carrier = || node.run(["cat", "/sys/class/net/eth0/carrier"]).unwrap();
    let watch = lab.hub().watch(node.mgmt_ipv4()).unwrap();
    lab.hub().block(&node).unwrap();
    assert!(!lab.hub().ping(node.mgmt_ipv4()));
    assert!(!hears(&node, PING));
    assert_eq!(carrier(), "1\n");
    lab.hub().unblock(&node).unwrap();
    node.wait_reachable().unwrap();
    let record = watch.stop();
    assert!(record.lost() > 0 && record.longest_outage() > Duration::ZERO && record.reachable_at_end());
    lab.hub().unplug(&node, 0).unwrap();
    assert_eq!(carrier(), "0\n");
    lab.hub().plug(&node, 0).unwrap();
    lab.hub().wait_reachable(node.mgmt_ipv4(), PATIENCE).unwrap();
}

#[test]
fn a_small_disk_can_be_full_and_survives_a_power_cut() {
    let lab = Lab::start("disk").unwrap();
    let node = lab.node("n1").small_disk("/var/lib/linesman", 1 << 20).start().unwrap();
    node.fill_disk().unwrap();
    node.write_file("/var/lib/elsewhere", "room", 0o644).unwrap();
    let refused = node.write_file("/var/lib/linesman/entry", "x", 0o644).unwrap_err().to_string();
    assert!(refused.contains("No space left"), "{refused}");
    node.free_disk().unwrap();
    node.write_file("/var/lib/linesman/entry", "kept", 0o644).unwrap();
    node.power_cut().unwrap();
    node.boot().unwrap();
    assert_eq!(node.read_file("/var/lib/linesman/entry").unwrap(), b"kept");
    assert!(lab.node("n2").nics(0).start().unwrap().fill_disk().is_err());
}
