//! The keys that others keep in a real Open vSwitch database survive what NetworkManager does to their rows.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use linesman_lab::{Daemon, Lab, Node};
use serde_json::{Value, json};

use crate::on_node::{say, start};

/// A bridge with a port, made by hand, and keys in each of its rows.
fn with_keys(node: &Node) {
    let bridge = [
        "add-br",
        "br7",
        "--",
        "set",
        "bridge",
        "br7",
        "datapath_type=netdev",
        "--",
        "add-port",
        "br7",
        "eth1",
    ];
    node.ovs_vsctl(&bridge).unwrap();
    for words in [
        "set open . external_ids:ovn-remote=tcp:10.9.0.1:6642 other_config:vlan-limit=2",
        "set bridge br7 external_ids:bridge-id=br7 other_config:mac-table-size=4096 protocols=OpenFlow13,OpenFlow15",
        "set port eth1 external_ids:owner=cni other_config:hint=x",
        "set interface eth1 external_ids:iface-id=abc external_ids:NM.connection.uuid=one ofport_request=17",
    ] {
        node.ovs_vsctl(&words.split(' ').collect::<Vec<_>>()).unwrap();
    }
}

fn keys(node: &Node) -> Value {
    say(node, &["keys"], Value::Null)
}

/// What a row holds, whichever row it is.
fn without_uuids(mut keys: Value) -> Value {
    keys["global"]["uuid"].take();
    for table in ["bridges", "ports", "interfaces"] {
        for row in keys[table].as_object_mut().unwrap().values_mut() {
            row["uuid"].take();
            // What ovs-vswitchd made of the request, a moment later.
            row["ofport"].take();
        }
    }
    keys
}

#[test]
fn keys_are_read_as_they_were_written() {
    let lab = Lab::start("ovs-keys").unwrap();
    let node = start(&lab);
    with_keys(&node);
    let keys = keys(&node);
    assert_eq!(keys["global"]["external_ids"]["ovn-remote"], "tcp:10.9.0.1:6642");
    assert_eq!(keys["bridges"]["br7"]["other_config"], json!({"mac-table-size": "4096"}));
    assert_eq!(keys["bridges"]["br7"]["protocols"], json!(["OpenFlow13", "OpenFlow15"]));
    assert_eq!(keys["bridges"]["br7"]["datapath_type"], "netdev");
    assert_eq!(keys["ports"]["eth1"]["external_ids"], json!({"owner": "cni"}));
    assert_eq!(keys["interfaces"]["eth1"]["ofport_request"], 17);
    let uuid = node.ovs_vsctl(&["get", "interface", "eth1", "_uuid"]).unwrap();
    assert_eq!(keys["interfaces"]["eth1"]["uuid"], uuid.trim());
}

#[test]
fn changed_keys_are_restored_and_networkmanagers_own_key_stays() {
    let lab = Lab::start("ovs-restore").unwrap();
    let node = start(&lab);
    with_keys(&node);
    let before = keys(&node);
    for words in [
        "remove open . external_ids ovn-remote",
        "set open . other_config:vlan-limit=1 external_ids:stray=1",
        "set bridge br7 protocols=OpenFlow10 other_config:stray=2",
        "del-port br7 eth1 -- add-port br7 eth1 -- set interface eth1 external_ids:NM.connection.uuid=two",
    ] {
        node.ovs_vsctl(&words.split(' ').collect::<Vec<_>>()).unwrap();
    }
    let said = say(&node, &["restore", "br7", "eth1"], before.clone());
    assert_eq!(said["missing"], json!([]));
    let mut expected = without_uuids(before.clone());
    expected["interfaces"]["eth1"]["external_ids"]["NM.connection.uuid"] = json!("two");
    assert_eq!(without_uuids(keys(&node)), expected);
    assert_eq!(
        say(&node, &["restore", "br7", "eth1"], before.clone())["changed"],
        0,
        "a second time changes nothing"
    );
    node.ovs_vsctl(&["del-port", "br7", "eth1"]).unwrap();
    let said = say(&node, &["restore", "br7", "eth1"], before);
    assert_eq!(said["missing"], json!([["Port", "eth1"], ["Interface", "eth1"]]));
}

/// NetworkManager deletes the rows of a port that goes down and makes them anew when it comes up.
#[test]
fn keys_are_carried_over_to_rows_that_networkmanager_recreates() {
    let lab = Lab::start("ovs-carry").unwrap();
    let node = start(&lab);
    for words in [
        "connection add type ovs-bridge con-name br7 ifname br7 ovs-bridge.datapath-type netdev",
        "connection add type ovs-port con-name port7 ifname eth1 controller br7 port-type ovs-bridge",
        "connection add type ethernet con-name eth1 ifname eth1 controller port7 port-type ovs-port",
        "--wait 60 connection up eth1",
    ] {
        node.nmcli(&words.split(' ').collect::<Vec<_>>()).unwrap();
    }
    node.ovs_vsctl(&["set", "interface", "eth1", "external_ids:iface-id=abc", "ofport_request=17"]).unwrap();
    node.ovs_vsctl(&["set", "port", "eth1", "other_config:hint=x"]).unwrap();
    let before = keys(&node);
    assert!(before["interfaces"]["eth1"]["external_ids"]["NM.connection.uuid"].is_string());
    node.nmcli(&["--wait", "60", "connection", "up", "eth1"]).unwrap();
    let between = keys(&node);
    assert_ne!(between["interfaces"]["eth1"]["uuid"], before["interfaces"]["eth1"]["uuid"]);
    assert!(between["interfaces"]["eth1"]["external_ids"]["iface-id"].is_null(), "{between:#}");
    say(&node, &["carry", "eth1"], before.clone());
    assert_eq!(without_uuids(keys(&node)), without_uuids(before));
}

#[test]
fn a_missing_database_is_reported() {
    let lab = Lab::start("ovs-absent").unwrap();
    let node = start(&lab);
    node.pause_restarts(true).unwrap();
    node.kill_daemon(Daemon::OvsdbServer).unwrap();
    let output = node.exec(["on-node", "keys"]).unwrap();
    assert!(!output.success());
    assert!(output.stderr.contains("is ovsdb-server running there?"), "{}", output.stderr);
    node.start_daemon(Daemon::OvsdbServer).unwrap();
    assert!(keys(&node)["global"]["uuid"].is_string());
}
