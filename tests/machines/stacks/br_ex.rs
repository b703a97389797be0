//! br-ex, as OVN-Kubernetes has it, over a VLAN over a bond, in the kernel's datapath.

use std::thread::sleep;
use std::time::Duration;

use linesman_lab::{Service, gateway_v4};
use linesman_tests::observe;
use serde_json::json;

use super::documents::{NO_ADDRESSES, address, bare_eth0, bond, plain, routes, static_addresses, vlan};
use super::site::{NODE_TAG, STORAGE_TAG, Site};

pub fn takes_the_address(site: &Site) {
    let (node, hub) = (&site.host.node, site.host.lab.hub());
    site.commits(&over_bond(NODE_TAG, &static_addresses(site), &routes("br-ex")), &[]);
    assert!(hub.ping(node.mgmt_ipv6()), "IPv6 as well");
    let picture = site.picture();
    let links = &picture["links"];
    assert_eq!([&links["eth0"]["controller"], &links["eth1"]["controller"]], ["bond0", "bond0"], "{links:#}");
    assert_eq!(links["bond0.100"]["tag"], NODE_TAG, "{links:#}");
    assert_eq!(links["br-ex"]["addresses"], json!(addresses(site)), "{links:#}");
    assert_eq!(links["br-ex"]["mac"], node.mac(0), "{links:#}");
    assert_eq!(links["eth0"]["addresses"], json!([]), "{links:#}");
    assert_eq!(picture["ovs"], "br-ex: bond0.100\n");
    assert_eq!(observe::ovs(node, "bridge", "br-ex", "datapath_type"), "", "the kernel's");
    site.commits(&back(site), &[]);
    assert!(hub.ping(node.mgmt_ipv6()), "IPv6 as well");
}

/// Somebody's VLAN on the NIC has the same MAC address, and so the same link-local one: what others had on the NIC moves to br-ex
/// all the same.
pub fn takes_addresses_of_others(site: &Site) {
    let node = &site.host.node;
    node.sh("ip link add link eth0 name other.5 type vlan id 5 && ip link set other.5 up
         ip address add 172.31.5.1/24 dev other.5 && ip address add 172.31.9.9/32 dev eth0")
        .unwrap();
    site.commits(&over_bond(NODE_TAG, &static_addresses(site), &routes("br-ex")), &[]);
    let of = |interface: &str| {
        observe::addresses(node, interface).into_iter().filter(|a| a.starts_with("172.")).collect::<Vec<_>>()
    };
    assert_eq!(
        (of("br-ex"), of("other.5")),
        (vec!["172.31.9.9/32".into()], vec!["172.31.5.1/24".to_owned()])
    );
    site.commits(&back(site), &[]);
    assert_eq!((of("eth0"), of("other.5")), (vec!["172.31.9.9/32".into()], vec!["172.31.5.1/24".to_owned()]));
    node.sh("ip link delete other.5 && ip address delete 172.31.9.9/32 dev eth0").unwrap();
}

/// Nobody knows the tag.
pub fn is_rolled_back(site: &Site) {
    let document = over_bond(101, &static_addresses(site), &routes("br-ex"));
    site.rolls_back(&document, &["--probe", "gateway:v4", "--patience", "15s"], "gateway:v4");
}

/// The server is silent for 15 seconds, or for good.
pub fn waits_for_a_lease(site: &Site) {
    let hub = site.host.lab.hub();
    let leased = over_bond(NODE_TAG, LEASED, "");
    hub.silence(Service::Dhcp).unwrap();
    site.rolls_back(&leased, &["--probe", "gateway:v4", "--patience", "10s"], "gateway:v4");

    let apply = site.start_apply(&leased, &["--probe", "gateway:v4", "--patience", "120s"]);
    site.host.eventually("it probes", || apply.stdout().contains("probing"));
    // That late.
    sleep(Duration::from_secs(15));
    assert!(apply.status().is_none(), "it waits: {}", apply.stdout());
    hub.restore(Service::Dhcp).unwrap();
    let output = site.wait(apply);
    let addresses = observe::addresses(&site.host.node, "br-ex");
    let leased_ip = addresses.iter().find(|address| address.starts_with("10.9.0.1")).expect("it has a lease");
    let leased_ip: std::net::Ipv4Addr = leased_ip.trim_end_matches("/24").parse().unwrap();
    site.is_committed_at(leased_ip, &leased, &output);
    assert!(addresses.iter().any(|address| address.starts_with("fd09:")), "IPv6 as well: {addresses:?}");
    site.commits(&back(site), &[]);
}

const LEASED: &str = "  ipv4: {enabled: true, dhcp: true}
  ipv6: {enabled: true, dhcp: true, autoconf: true}
";

/// Networks for storage and for moving machines are on the same bond, with a route of their own; br-ex comes and goes
/// beside them.
pub fn moves_beside_other_networks(site: &Site) {
    let (node, hub) = (&site.host.node, site.host.lab.hub());
    let (storage, gateway) = (node.ipv4_on(1), gateway_v4(1));
    let beside = format!(
        "interfaces:
{bond}{own}{storage_vlan}{migration}{eth0}{routes}",
        bond = bond("bond0", "active-backup", "miimon: 100", &["eth0", "eth1"]),
        own = vlan("bond0", NODE_TAG, &static_addresses(site)),
        storage_vlan = vlan("bond0", STORAGE_TAG, &address(&storage.to_string())),
        migration = vlan("bond0", 300, &address("10.30.0.2")),
        eth0 = bare_eth0(),
        routes = routes("bond0.100").replace(
            "dns-resolver",
            &format!("  - {{destination: 10.50.0.0/16, next-hop-address: {gateway}, next-hop-interface: bond0.200}}\ndns-resolver")
        ),
    );
    site.commits(&beside, &[]);
    assert!(hub.ping(storage), "the storage network is there");
    let of_others = || {
        let picture = site.picture();
        let routes: Vec<_> = observe::list(&picture["routes"])
            .iter()
            .filter(|route| !route.to_string().contains("10.9.0."))
            .cloned()
            .collect();
        json!([
            picture["links"]["bond0"],
            picture["links"]["bond0.200"],
            picture["links"]["bond0.300"],
            routes
        ])
    };
    let before = of_others();
    let watch = hub.watch(storage).unwrap();

    let onto_bridge = format!(
        "interfaces:\n{}{}{}",
        vlan("bond0", NODE_TAG, NO_ADDRESSES),
        bridge(&static_addresses(site)),
        routes("br-ex")
    );
    site.commits(&onto_bridge, &[]);
    assert_eq!(of_others(), before);
    let off_bridge = format!(
        "interfaces:\n{GONE}{}{}",
        vlan("bond0", NODE_TAG, &static_addresses(site)),
        routes("bond0.100")
    );
    site.commits(&off_bridge, &[]);
    assert_eq!(of_others(), before);
    let record = watch.stop();
    // Emulated, an answer may take its time.
    assert!(
        record.longest_outage() < Duration::from_secs(5),
        "{:?}, {} lost",
        record.longest_outage(),
        record.lost()
    );
    let all = [
        ("bond0.300", "vlan"),
        ("bond0.200", "vlan"),
        ("bond0.100", "vlan"),
        ("bond0", "bond"),
        ("eth1", "ethernet"),
    ];
    site.commits(
        &plain(site, &all).replace(
            "routes:\n  config:\n",
            "routes:\n  config:\n  - {destination: 10.50.0.0/16, state: absent}\n",
        ),
        &[],
    );
}

fn addresses(site: &Site) -> [String; 2] {
    let node = &site.host.node;
    [format!("{}/24", node.mgmt_ipv4()), format!("{}/64", node.mgmt_ipv6())]
}

/// From the NIC that has the node's addresses, all of it in one document.
fn over_bond(tag: u16, addresses: &str, routes: &str) -> String {
    let bond = bond("bond0", "active-backup", "miimon: 100", &["eth0", "eth1"]);
    format!(
        "interfaces:
{}{}{}{}{routes}",
        bond.replace("  ipv4", "  copy-mac-from: eth0\n  ipv4"),
        vlan("bond0", tag, NO_ADDRESSES).replace(&format!("bond0.{tag}"), "bond0.100"),
        bridge(addresses),
        bare_eth0(),
    )
}

fn bridge(addresses: &str) -> String {
    format!(
        "- name: br-ex
  type: ovs-bridge
  state: up
  bridge: {{port: [{{name: bond0.100}}, {{name: br-ex}}]}}
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eth0
{addresses}"
    )
}

const GONE: &str = "- {name: br-ex, type: ovs-interface, state: absent}
- {name: br-ex, type: ovs-bridge, state: absent}
";

/// To eth0, as it was before.
fn back(site: &Site) -> String {
    let absent = [("bond0.100", "vlan"), ("bond0", "bond"), ("eth1", "ethernet")];
    plain(site, &absent).replace("interfaces:\n", &format!("interfaces:\n{GONE}"))
}
