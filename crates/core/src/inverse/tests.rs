use super::*;
use crate::facts::ProfileFact;

fn facts(profiled: &[&str]) -> Facts {
    let profile = |name: &&str| ProfileFact { active_on: Some((*name).into()), ..ProfileFact::default() };
    Facts { ovs_running: true, profiles: profiled.iter().map(profile).collect(), ..Facts::default() }
}

fn observed() -> Value {
    json!({
        "interfaces": [
            { "name": "eth0", "type": "ethernet", "state": "up", "mtu": 1500, "max-mtu": 9000,
              "ipv4": { "enabled": true, "dhcp": true, "address": [
                  { "ip": "10.0.0.5", "prefix-length": 24, "valid-life-time": "90sec" } ] } },
            { "name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500 },
            { "name": "br0", "type": "linux-bridge", "state": "up", "bridge": { "port": [{ "name": "eth0" }] } }
        ],
        "dns-resolver": { "config": { "server": ["10.0.0.1"] } }
    })
}

fn back(desired: &Value) -> Value {
    let facts = facts(&["eth0", "br0"]);
    let plan = crate::plan::plan(desired, &observed(), &facts).unwrap();
    inverse(&plan, &observed(), &facts)
}

#[test]
fn created_interfaces_are_removed() {
    let bridge = json!({ "name": "br1", "type": "linux-bridge", "state": "up" });
    assert_eq!(
        back(&json!({ "interfaces": [bridge] }))["interfaces"],
        json!([{ "name": "br1", "type": "linux-bridge", "state": "absent" }])
    );
}

#[test]
fn changed_sections_are_restored_and_nothing_else() {
    let desired =
        json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up", "mtu": 9000 }] });
    assert_eq!(
        back(&desired)["interfaces"],
        json!([{ "name": "eth0", "type": "ethernet", "state": "up", "mtu": 1500 }])
    );
}

#[test]
fn a_lease_is_not_asked_for_but_dhcp_is() {
    let ipv4 =
        json!({ "enabled": true, "dhcp": false, "address": [{ "ip": "10.0.0.9", "prefix-length": 24 }] });
    let desired =
        json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up", "ipv4": ipv4 }] });
    let eth0 = &back(&desired)["interfaces"][0];
    assert_eq!(eth0["ipv4"], json!({ "enabled": true, "dhcp": true, "address": [] }));
}

#[test]
fn a_nic_that_nobody_had_configured_loses_its_profile() {
    let desired =
        json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "state": "up", "mtu": 9000 }] });
    assert_eq!(
        back(&desired)["interfaces"],
        json!([{ "name": "eth1", "type": "ethernet", "state": "absent" }])
    );
}

#[test]
fn removed_interfaces_are_restored_completely() {
    let desired = json!({ "interfaces": [{ "name": "br0", "type": "linux-bridge", "state": "absent" }] });
    let interfaces = back(&desired)["interfaces"].clone();
    let br0 = interfaces.as_array().unwrap().iter().find(|i| i["name"] == "br0").unwrap();
    assert_eq!(br0["bridge"]["port"], json!([{ "name": "eth0" }]));
}

#[test]
fn routes_and_dns_servers_are_restored() {
    let desired = json!({
        "routes": { "config": [{ "destination": "10.7.0.0/16", "next-hop-interface": "eth0", "next-hop-address": "10.0.0.1" }] },
        "dns-resolver": { "config": { "server": ["10.0.0.2"] } }
    });
    let back = back(&desired);
    assert_eq!(back["routes"]["config"][0]["state"], "absent");
    assert_eq!(back["dns-resolver"]["config"]["server"], json!(["10.0.0.1"]));
}

#[test]
fn routes_of_a_removed_interface_are_restored() {
    let mut observed = observed();
    let default =
        json!({ "destination": "0.0.0.0/0", "next-hop-interface": "eth0", "next-hop-address": "10.0.0.1" });
    let other =
        json!({ "destination": "10.8.0.0/16", "next-hop-interface": "br0", "next-hop-address": "10.1.0.1" });
    observed["routes"] = json!({ "config": [default, other] });
    let facts = facts(&["eth0", "br0"]);
    let undo = |eth0: Value| {
        let plan = crate::plan::plan(&json!({ "interfaces": [eth0] }), &observed, &facts).unwrap();
        inverse(&plan, &observed, &facts)["routes"]["config"].clone()
    };
    let bare = json!({ "name": "eth0", "type": "ethernet", "state": "up", "ipv4": { "enabled": false } });
    assert_eq!(undo(bare), json!([default]));
    let larger = json!({ "name": "eth0", "type": "ethernet", "state": "up", "mtu": 9000 });
    assert_eq!(undo(larger), Value::Null, "its addresses stay, and so do its routes");
}

/// The document names the NIC only as a port: nobody asks for its addresses and routes to go.
#[test]
fn a_nic_that_became_a_port_has_its_addresses_and_routes_again() {
    let ipv4 =
        json!({ "enabled": true, "dhcp": false, "address": [{ "ip": "10.0.0.5", "prefix-length": 24 }] });
    let default =
        json!({ "destination": "0.0.0.0/0", "next-hop-interface": "eth0", "next-hop-address": "10.0.0.1" });
    let observed = json!({
        "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up", "ipv4": ipv4, "ipv6": { "enabled": false } }],
        "routes": { "config": [default] }
    });
    let moved =
        json!({ "destination": "0.0.0.0/0", "next-hop-interface": "br1", "next-hop-address": "10.0.0.1" });
    let bridge = json!({ "name": "br1", "type": "linux-bridge", "state": "up", "ipv4": ipv4,
        "bridge": { "port": [{ "name": "eth0" }] } });
    let back = undo(json!({ "interfaces": [bridge], "routes": { "config": [moved] } }), observed);
    let eth0 = state::interfaces(&back).iter().find(|i| i["name"] == "eth0").unwrap();
    assert_eq!(eth0["ipv4"], ipv4);
    assert_eq!(eth0["ipv6"], json!({ "enabled": false }));
    assert!(back["routes"]["config"].as_array().unwrap().contains(&default), "{back}");
}

#[test]
fn the_oldest_previous_value_wins() {
    let first = json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up", "mtu": 1500 }] });
    let then = json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up", "mtu": 9000, "ipv4": { "enabled": false } },
        { "name": "br1", "type": "linux-bridge", "state": "absent" }] });
    let back = younger(&first, &then);
    assert_eq!(back["interfaces"][0]["mtu"], 1500);
    assert_eq!(back["interfaces"][0]["ipv4"]["enabled"], false);
    assert_eq!(back["interfaces"][1]["state"], "absent");
}

#[test]
fn what_another_policy_declares_stays() {
    let back = json!({
        "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "absent" },
                       { "name": "eth0", "type": "ethernet", "state": "up", "mtu": 1500, "ipv4": { "enabled": false } }],
        "routes": { "config": [{ "destination": "10.7.0.0/16", "state": "absent" }] },
        "dns-resolver": { "config": {} }
    });
    let kept = json!({
        "interfaces": [{ "name": "br1", "type": "linux-bridge", "mtu": 9000 }, { "name": "eth0", "type": "ethernet", "mtu": 9000 }],
        "routes": { "config": [{ "destination": "10.7.0.0/16" }] },
        "dns-resolver": { "config": { "server": [] } }
    });
    let left = without(&back, &kept);
    assert_eq!(
        left,
        json!({ "interfaces": [{ "name": "eth0", "type": "ethernet", "state": "up", "ipv4": { "enabled": false } }] })
    );
}

/// What reverts `desired` on a host that looks like `observed`; all of its interfaces have profiles.
fn undo(desired: Value, observed: Value) -> Value {
    let names: Vec<&str> = state::interfaces(&observed).iter().map(state::name).collect();
    let facts = facts(&names);
    let plan = crate::plan::plan(&desired, &observed, &facts).unwrap();
    inverse(&plan, &observed, &facts)
}

#[test]
fn keys_of_the_database_are_reverted_one_by_one() {
    let observed = json!({ "interfaces": [], "ovs-db": {
        "external_ids": { "system-id": "a", "theirs": "1", "old": "x" }, "other_config": {} } });
    let desired = json!({ "ovs-db": {
        "external_ids": { "system-id": "b", "new": "1", "old": null }, "other_config": { "vlan-limit": "2" } } });
    assert_eq!(
        undo(desired, observed),
        json!({ "ovs-db": {
            "external_ids": { "new": null, "old": "x", "system-id": "a" }, "other_config": { "vlan-limit": null } } })
    );
}

#[test]
fn bridge_mappings_are_reverted_one_by_one() {
    let bridge = |name: &str| json!({ "name": name, "type": "ovs-bridge", "state": "up" });
    let observed = json!({ "interfaces": [bridge("br1"), bridge("br2")], "ovn": { "bridge-mappings": [
        { "localnet": "moved", "bridge": "br1" }, { "localnet": "gone", "bridge": "br1" } ] } });
    let desired = json!({ "ovn": { "bridge-mappings": [
        { "localnet": "new", "bridge": "br2" }, { "localnet": "moved", "bridge": "br2" },
        { "localnet": "gone", "state": "absent" } ] } });
    assert_eq!(
        undo(desired, observed)["ovn"]["bridge-mappings"],
        json!([
            { "localnet": "new", "state": "absent" },
            { "localnet": "moved", "bridge": "br1" },
            { "localnet": "gone", "bridge": "br1" }
        ])
    );
}

#[test]
fn single_settings_of_the_driver_are_reverted() {
    let nic = |feature, rx: Value| {
        let ethtool = json!({ "feature": { "tx-checksumming": feature, "rx-gro": true }, "ring": { "rx": rx, "tx": 256 } });
        json!({ "name": "eth1", "type": "ethernet", "state": "up", "ethtool": ethtool })
    };
    let desired = json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "state": "up",
        "ethtool": { "feature": { "tx-checksumming": false }, "ring": { "rx": 512 } } }] });
    let back = undo(desired, json!({ "interfaces": [nic(true, json!(256))] }));
    assert_eq!(
        back["interfaces"][0]["ethtool"],
        json!({ "feature": { "tx-checksumming": true }, "ring": { "rx": 256 } })
    );
}

#[test]
fn properties_that_were_absent_go() {
    let observed = json!({ "interfaces": [
        { "name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500, "alt-names": [{ "name": "old" }],
          "ipv4": { "enabled": true, "dhcp": true } },
        { "name": "br0", "type": "linux-bridge", "state": "up", "bridge": { "port": [{ "name": "eth2" }] } },
        { "name": "eth2", "type": "ethernet", "state": "up", "controller": "br0" } ] });
    let desired = json!({ "interfaces": [
        { "name": "eth1", "type": "ethernet", "state": "up",
          "dispatch": { "post-activation": "true" },
          "alt-names": [{ "name": "new" }, { "name": "old", "state": "absent" }],
          "ipv4": { "enabled": true, "dhcp": true, "auto-route-metric": 77, "auto-dns": false } },
        { "name": "br0", "type": "linux-bridge", "state": "up",
          "bridge": { "port": [{ "name": "eth2", "vlan": { "mode": "access", "tag": 7 } }] } } ] });
    let back = undo(desired, observed);
    let interface = |name: &str| {
        state::interfaces(&back).iter().find(|i| state::name(i) == name).cloned().unwrap_or_default()
    };
    let eth1 = interface("eth1");
    assert_eq!(eth1["dispatch"], json!({ "post-activation": "" }));
    assert_eq!(eth1["alt-names"], json!([{ "name": "new", "state": "absent" }, { "name": "old" }]));
    assert_eq!(
        eth1["ipv4"],
        json!({ "enabled": true, "dhcp": true, "auto-route-metric": -1, "auto-dns": true })
    );
    assert_eq!(eth1.get("mtu"), None);
    assert_eq!(interface("br0")["bridge"]["port"], json!([{ "name": "eth2", "vlan": {} }]));
}

#[test]
fn keys_of_an_interface_in_the_database_are_reverted_one_by_one() {
    let port = json!({ "name": "br0", "type": "ovs-interface", "state": "up",
        "ovs-db": { "external_ids": { "theirs": "1", "changed": "old" } } });
    let desired = json!({ "interfaces": [{ "name": "br0", "type": "ovs-interface", "state": "up",
        "ovs-db": { "external_ids": { "changed": "new", "added": "1" } } }] });
    let back = undo(desired, json!({ "interfaces": [port] }));
    assert_eq!(
        back["interfaces"][0]["ovs-db"],
        json!({ "external_ids": { "added": null, "changed": "old" } })
    );
}

#[test]
fn keys_of_the_database_of_two_changes_and_of_other_policies() {
    let older = json!({ "ovs-db": { "external_ids": { "a": null } }, "ovn": { "bridge-mappings": [
        { "localnet": "x", "state": "absent" } ] } });
    let newer = json!({ "ovs-db": { "external_ids": { "a": "1", "b": "0" } }, "ovn": { "bridge-mappings": [
        { "localnet": "x", "bridge": "br1" }, { "localnet": "y", "bridge": "br1" } ] } });
    let both = younger(&older, &newer);
    assert_eq!(both["ovs-db"], json!({ "external_ids": { "a": null, "b": "0" } }));
    assert_eq!(
        both["ovn"]["bridge-mappings"],
        json!([{ "localnet": "x", "state": "absent" }, { "localnet": "y", "bridge": "br1" }])
    );
    let kept = json!({ "ovs-db": { "external_ids": { "b": "7" } }, "ovn": { "bridge-mappings": [
        { "localnet": "x", "bridge": "br1" } ] } });
    assert_eq!(
        without(&both, &kept),
        json!({ "ovs-db": { "external_ids": { "a": null } }, "ovn": { "bridge-mappings": [
            { "localnet": "y", "bridge": "br1" } ] } })
    );
    assert_eq!(without(&json!({ "ovs-db": { "external_ids": { "b": "0" } } }), &kept), json!({}));
}

#[test]
fn a_host_without_a_name_of_its_own_has_none_again() {
    let desired = json!({ "hostname": { "config": "n1" } });
    let mut before = observed();
    before["hostname"] = json!({ "running": "dhcp-7" });
    let plan = crate::plan::plan(&desired, &before, &facts(&[])).unwrap();
    let back = inverse(&plan, &before, &facts(&[]));
    assert_eq!(back["hostname"], json!({ "config": "" }));
    let again = crate::plan::plan(&back, &before, &facts(&[])).unwrap();
    assert!(again.changes.is_empty(), "it is as before: {:?}", again.changes);
}
