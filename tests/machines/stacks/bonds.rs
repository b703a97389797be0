//! Bonds, and what stands on them.

use std::time::Instant;

use linesman_tests::observe;
use serde_json::{Value, json};

use super::documents::{NO_ADDRESSES, address, bond, plain, vlan};
use super::site::{STORAGE_TAG, Site};

const BACKUP: &str = "active-backup";
const MONITORED: &str = "miimon: 100";

/// In one document, there and back, and by a rollback.
pub fn exchange_a_nic(site: &Site) {
    let with = |first: &[&str], second: &[&str]| {
        format!(
            "interfaces:\n{}{}",
            bond("bond1", BACKUP, MONITORED, first),
            bond("bond2", BACKUP, MONITORED, second)
        )
    };
    let controllers = || {
        let links = &site.picture()["links"];
        ["eth1", "eth2", "eth3"].map(|nic| links[nic]["controller"].as_str().unwrap_or_default().to_owned())
    };
    let (there, back) = (with(&["eth1"], &["eth2", "eth3"]), with(&["eth1", "eth2"], &["eth3"]));
    site.commits(&back, &[]);
    assert_eq!(controllers(), ["bond1", "bond1", "bond2"]);
    site.rolls_back(
        &format!("{there}{}", away(site)),
        &["--probe", "gateway:v4", "--patience", "5s"],
        "gateway:v4",
    );
    site.commits(&there, &[]);
    assert_eq!(controllers(), ["bond1", "bond2", "bond2"]);
    site.commits(&back, &[]);
    assert_eq!(controllers(), ["bond1", "bond1", "bond2"]);
    let nics = [("eth1", "ethernet"), ("eth2", "ethernet"), ("eth3", "ethernet")];
    site.commits(&plain(site, &[&[("bond1", "bond"), ("bond2", "bond")][..], &nics].concat()), &[]);
}

/// The node leaves the network of its gateway.
fn away(site: &Site) -> String {
    let ip = site.host.node.mgmt_ipv4().to_string().replace("10.9.", "10.8.");
    format!("- name: eth0\n  type: ethernet\n  state: up\n{}", address(&ip))
}

/// Raised from below, lowered from above: no interface may be larger than what it stands on.
/// A profile that stays would bring its interface back with the next bond of that name.
pub fn go_with_what_is_on_them(site: &Site) {
    let stack = format!(
        "interfaces:
{}{}- name: vx1
  type: vxlan
  state: up
  vxlan: {{base-iface: bond0.20, id: 77, remote: 192.0.2.7}}
",
        bond("bond0", "active-backup", "miimon: 100", &["eth1", "eth2"]),
        vlan("bond0", 20, NO_ADDRESSES),
    );
    site.commits(&stack, &[]);
    let absent = |name: &str, kind: &str| format!("- {{name: {name}, type: {kind}, state: absent}}\n");
    let nics = absent("eth1", "ethernet") + &absent("eth2", "ethernet");
    site.commits(&format!("interfaces:\n{}{nics}", absent("bond0", "bond")), &[]);
    let profiles = site.host.node.sh("nmcli -t -f NAME connection").unwrap();
    for name in ["vx1", "bond0.20", "bond0"] {
        assert!(!profiles.lines().any(|profile| profile == name), "{profiles}");
    }
}

pub fn change_their_mtu(site: &Site) {
    let hub = site.host.lab.hub();
    let storage = site.host.node.ipv4_on(1);
    let nic = |name: &str| format!("- name: {name}\n  type: ethernet\n  state: up\n");
    let stack = format!(
        "interfaces:\n{}{}{}{}- name: br200
  type: linux-bridge
  state: up
{}  bridge: {{options: {{stp: {{enabled: false}}}}, port: [{{name: bond0.200}}]}}
",
        nic("eth2"),
        nic("eth3"),
        bond("bond0", BACKUP, MONITORED, &["eth2", "eth3"]),
        vlan("bond0", STORAGE_TAG, NO_ADDRESSES),
        address(&storage.to_string()),
    );
    let with = |mtu: u32| stack.replace("  state: up\n", &format!("  state: up\n  mtu: {mtu}\n"));
    let seen = || {
        let links = &site.picture()["links"];
        ["eth2", "eth3", "bond0", "bond0.200", "br200"].map(|name| links[name]["mtu"].clone())
    };
    for mtu in [1500, 4000, 9000, 1400] {
        site.commits(&with(mtu), &[]);
        assert_eq!(seen(), [mtu; 5].map(Value::from));
        assert!(hub.ping(storage), "with {mtu}");
    }
    for mtu in [9000, 1300] {
        let document = format!("{}{}", with(mtu), away(site));
        site.rolls_back(&document, &["--probe", "gateway:v4", "--patience", "5s"], "gateway:v4");
    }
    site.commits(&with(1500), &[]);
    let all = [("br200", "linux-bridge"), ("bond0.200", "vlan"), ("bond0", "bond")];
    site.commits(&plain(site, &[&all[..], &[("eth2", "ethernet"), ("eth3", "ethernet")]].concat()), &[]);
}

/// A runtime makes a MAC-VLAN on the VLAN and moves it into a container. It is not touched by changes beside it, and goes
/// with the VLAN; the container runs on.
pub fn carry_a_container(site: &Site) {
    let (node, hub) = (&site.host.node, site.host.lab.hub());
    let inside = "10.9.1.77";
    let document = format!(
        "interfaces:\n{}{}",
        bond("bond0", BACKUP, MONITORED, &["eth2", "eth3"]),
        vlan("bond0", STORAGE_TAG, NO_ADDRESSES),
    );
    site.commits(&document, &[]);
    let run = format!(
        "ip netns add container
        ip link add link bond0.200 name mv0 type macvlan mode bridge
        ip link set mv0 netns container
        ip -n container link set mv0 name net1 up
        ip -n container address add {inside}/24 dev net1"
    );
    node.sh(&run).unwrap();
    let container = node.spawn(["ip", "netns", "exec", "container", "sleep", "infinity"]).unwrap();
    let reachable = || hub.ping(inside.parse::<std::net::Ipv4Addr>().unwrap());
    site.host.eventually("the container is reachable", reachable);
    let of_container =
        || node.run(["ip", "-n", "container", "-json", "address", "show", "net1"]).unwrap_or_default();
    let before = of_container();

    let address = address(&node.ipv4_on(1).to_string());
    site.commits(
        &document.replace(&vlan("bond0", STORAGE_TAG, NO_ADDRESSES), &vlan("bond0", STORAGE_TAG, &address)),
        &[],
    );
    site.commits(&document.replace("miimon: 100", "miimon: 200"), &[]);
    assert_eq!(of_container(), before, "by changes beside it");
    site.host.eventually("the container is still reachable", reachable);

    let all = [("bond0.200", "vlan"), ("bond0", "bond"), ("eth2", "ethernet"), ("eth3", "ethernet")];
    site.commits(&plain(site, &all), &[]);
    assert_eq!(of_container(), "", "its NIC went with the VLAN");
    assert!(container.status().is_none(), "the container runs on");
    drop(container);
    node.run(["ip", "netns", "delete", "container"]).unwrap();
}

/// How long it takes is printed.
pub fn carry_200_vlans(site: &Site) {
    let tags = 1000..1200;
    let vlans: String = tags.clone().map(|tag| vlan("bond0", tag, NO_ADDRESSES)).collect();
    let document = format!("interfaces:\n{}{vlans}", bond("bond0", BACKUP, MONITORED, &["eth2", "eth3"]));
    let begin = Instant::now();
    let output = site.commits(&document, &[]);
    println!(
        "  200 VLANs in {:.0} s\n{}",
        begin.elapsed().as_secs_f64(),
        output.stdout.lines().last().unwrap_or_default()
    );
    let links = site.picture()["links"].clone();
    let wrong: Vec<u16> =
        tags.clone().filter(|tag| links[format!("bond0.{tag}")]["tag"] != json!(tag)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let names: Vec<String> = tags.map(|tag| format!("bond0.{tag}")).collect();
    let all = names.iter().map(|name| (name.as_str(), "vlan"));
    let all: Vec<_> = all.chain([("bond0", "bond"), ("eth2", "ethernet"), ("eth3", "ethernet")]).collect();
    let begin = Instant::now();
    site.commits(&plain(site, &all), &[]);
    println!("  removed in {:.0} s", begin.elapsed().as_secs_f64());
    assert!(!observe::link_exists(&site.host.node, "bond0"));
}
