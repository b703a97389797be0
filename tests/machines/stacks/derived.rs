//! `linesman brex` on a bond and on a VLAN on a bond, in the kernel's datapath, and the power is cut.

use std::path::Path;

use linesman_lab::Output;
use linesman_tests::observe;
use serde_json::{Value, json};

use super::documents::{NO_ADDRESSES, address, bare_eth0, bond, plain, routes, static_addresses, vlan};
use super::site::{NODE_TAG, REACHABLE, STORAGE_TAG, Site};

/// Emulated, a change takes many times as long.
const PATIENT: [&str; 4] = ["--settle", "60s", "--dead-man", "60s"];

/// As `docs/howto/br-ex-on-a-bond.md` says, with a VLAN on the same bond before and another one after it.
pub fn on_a_bond(site: &Site) {
    let (node, hub) = (&site.host.node, site.host.lab.hub());
    let storage = node.ipv4_on(1);
    site.commits(&document_of_the_page(site), &[]);
    site.commits(
        &format!("interfaces:\n{}", vlan("bond0", STORAGE_TAG, &address(&storage.to_string()))),
        &[],
    );
    let before = site.picture();
    let options = bond_options(site);
    assert_eq!(before["links"]["bond0"]["mac"], node.mac(0), "{before:#}");

    let printed = linesman(site, &["brex"]);
    assert!(printed.stdout.starts_with("# br-ex on bond0"), "{}", printed.stdout);
    let file = site.host.document(&printed.stdout);
    assert_eq!(site.host.linesman(&["plan", &file]).code(), Some(2), "there is something to do");
    make(site);
    let is_there = || {
        let picture = site.picture();
        let [br_ex, bond0] = ["br-ex", "bond0"].map(|name| &picture["links"][name]);
        assert_eq!(br_ex["addresses"], json!([format!("{}/24", node.mgmt_ipv4())]), "{picture:#}");
        assert_eq!([&br_ex["mac"], &br_ex["mtu"]], [&json!(node.mac(0)), &json!(1500)], "{picture:#}");
        assert_eq!([&bond0["mac"], &bond0["mode"]], [&json!(node.mac(0)), &json!("active-backup")]);
        assert_eq!((&bond0["addresses"], bond_options(site)), (&json!([]), options.clone()), "{picture:#}");
        assert_eq!(picture["ovs"], "br-ex: bond0\n");
        assert_eq!(picture["links"]["bond0.200"]["addresses"], json!([format!("{storage}/24")]));
        hub.wait_reachable(storage, REACHABLE).expect("the VLAN beside br-ex");
    };
    is_there();
    assert_eq!(observe::ovs(node, "bridge", "br-ex", "datapath_type"), "", "the kernel's");
    linesman(site, &["plan", &file]);
    let shown = linesman(site, &["topology", "br-ex"]);
    for name in ["eth0", "eth1", "bond0", "br-ex"] {
        assert!(shown.stdout.contains(name), "{}", shown.stdout);
    }

    site.commits(&format!("interfaces:\n{}", vlan("bond0", 300, &address("10.30.0.2"))), &[]);
    is_there();
    power_fails(site);
    is_there();
    assert_eq!(observe::addresses(node, "bond0.300"), ["10.30.0.2/24"]);
    assert_eq!(linesman(site, &["brex", "--apply"]).stdout, "br-ex is already on bond0; no changes made\n");

    let own = address(&node.mgmt_ipv4().to_string());
    let bond = bond("bond0", "active-backup", "miimon: 100", &["eth0", "eth1"]).replace(NO_ADDRESSES, &own);
    let v4 = routes("bond0")
        .lines()
        .filter(|line| !line.contains("::/0"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    site.commits(&format!("interfaces:\n{GONE}{bond}{v4}"), &[]);
    let picture = site.picture();
    assert_eq!(
        picture["links"]["bond0"]["addresses"],
        json!([format!("{}/24", node.mgmt_ipv4())]),
        "{picture:#}"
    );
    assert_eq!((&picture["ovs"], bond_options(site)), (&json!(""), options), "{picture:#}");
    assert_eq!(
        [&picture["links"]["eth0"]["controller"], &picture["links"]["eth1"]["controller"]],
        ["bond0", "bond0"]
    );
    hub.wait_reachable(storage, REACHABLE).expect("the VLAN on the bond");
    let all = [("bond0.300", "vlan"), ("bond0.200", "vlan"), ("bond0", "bond"), ("eth1", "ethernet")];
    site.commits(&plain(site, &all), &[]);
}

/// With another MTU, both families, and another VLAN on the bond.
pub fn on_a_vlan_on_a_bond(site: &Site) {
    let (node, hub) = (&site.host.node, site.host.lab.hub());
    let storage = node.ipv4_on(1);
    let bond = bond("bond0", "active-backup", "miimon: 140, primary: eth1", &["eth0", "eth1"]);
    let nic = |name: &str| format!("- {{name: {name}, type: ethernet, state: up}}\n");
    let beside = vlan("bond0", STORAGE_TAG, &address(&storage.to_string()));
    let stack = |first: &str, addresses: &str| {
        let bond = bond.replace("  ipv4", "  copy-mac-from: eth0\n  ipv4");
        let own = vlan("bond0", NODE_TAG, addresses);
        let parts = [first, &bond, &own, &beside, &bare_eth0(), &nic("eth1")].concat();
        let parts = parts.replace("  state: up\n", "  state: up\n  mtu: 1400\n");
        let parts = parts.replace("state: up}", "state: up, mtu: 1400}");
        format!("interfaces:\n{parts}{}", routes("bond0.100"))
    };
    let own = static_addresses(site);
    site.commits(&stack("", &own), &[]);
    let before = site.picture();
    let options = bond_options(site);

    make(site);
    let is_there = || {
        let picture = site.picture();
        let [br_ex, tagged] = ["br-ex", "bond0.100"].map(|name| &picture["links"][name]);
        assert_eq!(br_ex["addresses"], before["links"]["bond0.100"]["addresses"], "{picture:#}");
        assert_eq!([&br_ex["mac"], &br_ex["mtu"]], [&json!(node.mac(0)), &json!(1400)], "{picture:#}");
        assert_eq!((&tagged["addresses"], &tagged["tag"]), (&json!([]), &json!(NODE_TAG)), "{picture:#}");
        assert_eq!(picture["links"]["bond0"], before["links"]["bond0"]);
        assert_eq!(picture["links"]["bond0.200"], before["links"]["bond0.200"]);
        assert_eq!((&picture["ovs"], bond_options(site)), (&json!("br-ex: bond0.100\n"), options.clone()));
        hub.wait_reachable(node.mgmt_ipv6(), REACHABLE).expect("IPv6 as well");
        hub.wait_reachable(storage, REACHABLE).expect("the VLAN beside br-ex");
    };
    is_there();
    power_fails(site);
    is_there();
    assert_eq!(
        linesman(site, &["brex", "--apply"]).stdout,
        "br-ex is already on bond0.100; no changes made\n"
    );

    site.commits(&stack(GONE, &own), &[]);
    let after = site.picture();
    assert_eq!((&after["links"], bond_options(site)), (&before["links"], options), "{after:#}");
    let all = [("bond0.200", "vlan"), ("bond0.100", "vlan"), ("bond0", "bond"), ("eth1", "ethernet")];
    let nic = "  state: up\n  mtu: 1500\n";
    site.commits(&plain(site, &all).replace("  state: up\n", nic), &[]);
}

const GONE: &str = "- {name: br-ex, type: ovs-interface, state: absent}
- {name: br-ex, type: ovs-bridge, state: absent}
";

/// That makes the bond.
fn document_of_the_page(site: &Site) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/howto/br-ex-on-a-bond.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let lines = page.lines().skip_while(|line| line.trim() != "interfaces:");
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with("        "));
    let made: String =
        lines.map(|line| format!("{}\n", line.strip_prefix("        ").unwrap_or(line))).collect();
    assert!(made.contains("bond0"), "{page}");
    made.replace("10.9.0.11", &site.host.node.mgmt_ipv4().to_string())
}

fn make(site: &Site) {
    let output = linesman(site, &[&["brex", "--apply"], &PATIENT[..]].concat());
    assert!(output.stdout.contains("committed"), "{}{}", output.stdout, output.stderr);
    site.host.assert_settled();
}

#[track_caller]
fn linesman(site: &Site, words: &[&str]) -> Output {
    let output = site.host.linesman(words);
    assert!(output.success(), "{words:?}: {}{}", output.stdout, output.stderr);
    output
}

fn power_fails(site: &Site) {
    let node = &site.host.node;
    let before = picture_of_links(site);
    node.run(["sync"]).unwrap();
    node.power_cut().unwrap();
    node.boot().unwrap();
    site.host.eventually("all of it is up again", || picture_of_links(site) == before);
    site.host.assert_settled();
}

fn picture_of_links(site: &Site) -> Value {
    let picture = site.picture();
    json!([picture["links"], picture["ovs"], picture["dns"]])
}

fn bond_options(site: &Site) -> Vec<String> {
    let read = |name: &&str| site.host.node.run(["cat", &format!("/sys/class/net/bond0/bonding/{name}")]);
    ["mode", "miimon", "primary", "fail_over_mac"].iter().map(|name| read(name).unwrap()).collect()
}
