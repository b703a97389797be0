//! Links that are slow, or fail in mid-change: the change waits as its patience allows, or is rolled back.

use std::thread::sleep;
use std::time::Duration;

use linesman_lab::Output;
use linesman_tests::observe;

use super::documents::{address, bare_eth0, bond, plain, routes, static_addresses, vlan};
use super::site::{NICS, STORAGE_TAG, Site};

/// The node's addresses move to a bond whose partner is silent for a while, or for good.
pub fn lacp_is_waited_for(site: &Site) {
    let (node, switch) = (&site.host.node, site.switch());
    let document = format!(
        "interfaces:\n{}- {{name: eth0, type: ethernet, state: down}}\n{}",
        bond("bond0", "802.3ad", "miimon: 100, lacp_rate: fast", &["eth2", "eth3"])
            .replace("  ipv4: {enabled: false}\n  ipv6: {enabled: false}\n", &static_addresses(site)),
        routes("bond0"),
    );
    switch.silence(node, &[2, 3]).unwrap();
    site.rolls_back(&document, &["--probe", "gateway:v4", "--patience", "5s"], "gateway:v4");

    let apply = site.start_apply(&document, &["--probe", "gateway:v4", "--patience", "300s"]);
    site.host.eventually("it probes", || apply.stdout().contains("probing"));
    // That late.
    sleep(Duration::from_secs(30));
    assert!(apply.status().is_none(), "it waits: {}", apply.stdout());
    switch.aggregate(node, &[2, 3]).unwrap();
    site.is_committed(&document, &site.wait(apply));
    let link = observe::link(node, "bond0").unwrap();
    let partner = &link["linkinfo"]["info_data"]["ad_info"];
    assert_eq!(partner["num_ports"], 2, "{partner:#}");
    assert_ne!(partner["partner_mac"], "00:00:00:00:00:00", "{partner:#}");

    // Without LACP the partner lets nothing pass; it is late when the bond has it again.
    let other_mode = document.replace("802.3ad", "active-backup").replace(", lacp_rate: fast", "");
    site.is_rolled_back("gateway:v4", || {
        let flags = ["--probe", "gateway:v4", "--patience", "5s"];
        let apply = site.start_apply_until("rolling-back", &other_mode, &flags);
        switch.silence(node, &[2, 3]).unwrap();
        site.host.pass_failpoint("rolling-back");
        sleep(Duration::from_secs(25));
        switch.aggregate(node, &[2, 3]).unwrap();
        site.wait(apply)
    });

    site.commits(&plain(site, &[("bond0", "bond"), ("eth2", "ethernet"), ("eth3", "ethernet")]), &[]);
    switch.plug(node, &NICS).unwrap();
}

/// A bridge with spanning tree has the node's addresses, and forwards after twice its delay.
pub fn spanning_tree_is_waited_for(site: &Site) {
    let document = format!(
        "interfaces:
- name: br0
  type: linux-bridge
  state: up
{}  bridge: {{options: {{stp: {{enabled: true, forward-delay: 20}}}}, port: [{{name: eth0}}]}}
{}{}",
        static_addresses(site),
        bare_eth0(),
        routes("br0"),
    );
    site.commits(&document, &[]);
    site.commits(&plain(site, &[("br0", "linux-bridge")]), &[]);
}

/// The only cable of the node is pulled while it is changed, and is back after 15 seconds, or not before the rollback.
pub fn carrier_is_waited_for(site: &Site) {
    let (node, hub) = (&site.host.node, site.host.lab.hub());
    let (own, flags) = (node.mgmt_ipv4(), ["--probe", "gateway:v4", "--patience"]);
    let document = format!(
        "interfaces:
- name: eth0
  type: ethernet
  state: up
  mtu: 1400
{}",
        static_addresses(site)
    );
    let cut = |patience: &str, away: Duration| -> Output {
        let apply = site.start_apply_until("applied", &document, &[&flags[..], &[patience]].concat());
        hub.unplug(node, 0).unwrap();
        site.host.pass_failpoint("applied");
        hub.wait_unreachable(own, Duration::from_secs(60)).unwrap();
        sleep(away);
        hub.plug(node, 0).unwrap();
        site.wait(apply)
    };
    site.is_rolled_back("gateway:v4", || {
        let apply = site.start_apply_until("applied", &document, &[&flags[..], &["5s"]].concat());
        hub.unplug(node, 0).unwrap();
        site.host.pass_failpoint("applied");
        site.host.eventually("it gives up", || apply.stdout().contains("rolling back"));
        hub.plug(node, 0).unwrap();
        site.wait(apply)
    });
    site.is_committed(&document, &cut("120s", Duration::from_secs(15)));
    site.commits(&plain(site, &[]).replace("state: up\n", "state: up\n  mtu: 1500\n"), &[]);
}

/// All NICs are found half a minute after the boot: all of it comes up as declared.
pub fn nics_that_appear_late(site: &Site) {
    let (node, hub) = (&site.host.node, site.host.lab.hub());
    let storage = node.ipv4_on(1);
    let document = format!(
        "interfaces:\n{}{}",
        bond("bond0", "active-backup", "miimon: 100", &["eth2", "eth3"]),
        vlan("bond0", STORAGE_TAG, &address(&storage.to_string())),
    );
    site.commits(&document, &[]);
    let before = site.picture();
    node.power_cut().unwrap();
    node.boot_with_nics(0).unwrap();
    sleep(Duration::from_secs(20));
    NICS.iter().for_each(|nic| node.insert_nic(*nic).unwrap());
    hub.wait_reachable(node.mgmt_ipv4(), Duration::from_secs(120)).unwrap();
    hub.wait_reachable(storage, Duration::from_secs(120)).unwrap();
    site.host.eventually("all of it is as before", || site.picture() == before);
    site.commits(&document, &[]);
    let all = [("bond0.200", "vlan"), ("bond0", "bond"), ("eth2", "ethernet"), ("eth3", "ethernet")];
    site.commits(&plain(site, &all), &[]);
}
