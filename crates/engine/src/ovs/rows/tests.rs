use std::collections::BTreeMap;

use super::*;
use crate::ovs::keys::{Dependent, InterfaceKeys};

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

fn touched() -> BTreeSet<InterfaceName> {
    [InterfaceName::from("br-ex")].into()
}

fn row(uuid: &str, members: &[&str]) -> RowKeys {
    RowKeys { uuid: uuid.to_owned(), members: names(members), ..RowKeys::default() }
}

/// A bridge with a tunnel and somebody's tap device.
fn before() -> OvsKeys {
    let mut keys = OvsKeys::default();
    let mut bridge = row("1", &["vxlan0", "tap0"]);
    bridge.external_ids.insert("NM.connection.uuid".into(), "c".into());
    keys.bridges.insert("br-ex".into(), BridgeKeys { row: bridge, ..BridgeKeys::default() });
    let mut tunnel = row("i1", &[]);
    tunnel.columns = BTreeMap::from([
        ("type".to_owned(), json!("vxlan")),
        ("options".to_owned(), json!(["map", [["remote_ip", "10.9.0.7"]]])),
    ]);
    tunnel.external_ids = BTreeMap::from([
        ("owner".to_owned(), "them".to_owned()),
        ("ovn-installed".to_owned(), "true".to_owned()),
    ]);
    keys.interfaces
        .insert("vxlan0".into(), InterfaceKeys { row: tunnel, ofport_request: Some(7), ofport: None });
    let mut tap = row("i2", &[]);
    tap.columns = BTreeMap::from([("type".to_owned(), json!(""))]);
    keys.interfaces.insert("tap0".into(), InterfaceKeys { row: tap, ofport_request: None, ofport: None });
    keys.ports.insert("vxlan0".into(), row("p1", &["vxlan0"]));
    let mut tagged = row("p2", &["tap0"]);
    tagged.columns = BTreeMap::from([("tag".to_owned(), json!(5))]);
    keys.ports.insert("tap0".into(), tagged);
    keys
}

fn bare(uuid: &str) -> OvsKeys {
    let mut keys = OvsKeys::default();
    keys.bridges.insert("br-ex".into(), BridgeKeys { row: row(uuid, &[]), ..BridgeKeys::default() });
    keys
}

#[test]
fn a_tunnel_is_made_again_with_all_its_columns() {
    let lost = lost(&before(), &bare("2"), &touched(), &names(&["tap0"]));
    let what: Vec<&str> = lost.iter().map(|l| l.what.as_str()).collect();
    assert_eq!(what, ["port tap0 of br-ex", "port vxlan0 of br-ex"]);
    let Repair::Make(ops) = &lost[1].repair else { panic!("{lost:?}") };
    assert_eq!(
        serde_json::to_value(ops).unwrap(),
        json!([
            {"op": "insert", "table": "Interface", "uuid-name": "interface_76786c616e30", "row": {
                "name": "vxlan0", "type": "vxlan", "options": ["map", [["remote_ip", "10.9.0.7"]]],
                "external_ids": ["map", [["owner", "them"]]], "other_config": ["map", []], "ofport_request": 7}},
            {"op": "insert", "table": "Port", "uuid-name": "port_76786c616e30", "row": {
                "name": "vxlan0", "external_ids": ["map", []], "other_config": ["map", []],
                "interfaces": ["set", [["named-uuid", "interface_76786c616e30"]]]}},
            {"op": "mutate", "table": "Bridge", "where": [["name", "==", "br-ex"]],
                "mutations": [["ports", "insert", ["named-uuid", "port_76786c616e30"]]]},
        ])
    );
    let Repair::Make(ops) = &lost[0].repair else { panic!("{lost:?}") };
    assert_eq!(serde_json::to_value(ops).unwrap()[1]["row"]["tag"], 5);
}

#[test]
fn a_device_that_left_with_its_owner_is_not_missed() {
    let lost = lost(&before(), &bare("2"), &touched(), &names(&[]));
    assert_eq!(lost[0], Lost { what: "port tap0 of br-ex".into(), repair: Repair::Departed });
    assert!(matches!(lost[1].repair, Repair::Make(_)), "Open vSwitch makes tunnels itself");
}

#[test]
fn a_port_in_another_bridge_cannot_be_made_twice() {
    let mut now = bare("2");
    now.bridges.insert("br1".into(), BridgeKeys { row: row("3", &["tap0"]), ..BridgeKeys::default() });
    let lost = lost(&before(), &now, &touched(), &names(&["tap0"]));
    assert_eq!(lost[0].repair, Repair::Impossible("it is a port of br1 now".into()));
}

#[test]
fn a_bridge_of_others_is_made_again_and_networkmanagers_is_not() {
    assert_eq!(lost(&before(), &OvsKeys::default(), &touched(), &names(&["tap0"])), []);
    let mut theirs = before();
    let bridge = theirs.bridges.get_mut("br-ex").unwrap();
    bridge.row.external_ids.clear();
    let controller = json!({"target": "tcp:10.0.0.1:6653"}).as_object().unwrap().clone();
    bridge.dependents =
        vec![Dependent { column: "controller".into(), table: Table::Controller, row: controller }];
    let lost = lost(&theirs, &OvsKeys::default(), &touched(), &names(&["tap0"]));
    let Repair::Make(ops) = &lost[0].repair else { panic!("{lost:?}") };
    let ops = serde_json::to_value(ops).unwrap();
    let bridge = ops.as_array().unwrap().iter().find(|op| op["table"] == "Bridge").unwrap();
    assert_eq!(bridge["row"]["controller"], json!(["set", [["named-uuid", "attached_0"]]]));
    assert_eq!(bridge["row"]["ports"][1].as_array().unwrap().len(), 2);
}

#[test]
fn controllers_return_and_mirrors_are_named() {
    let mut was = before();
    let bridge = was.bridges.get_mut("br-ex").unwrap();
    bridge.row.members.clear();
    bridge.irreplaceable = names(&["mirrors"]);
    let row = json!({"target": "tcp:10.0.0.1:6653"}).as_object().unwrap().clone();
    bridge.dependents = vec![Dependent { column: "controller".into(), table: Table::Controller, row }];
    let lost = lost(&was, &bare("2"), &touched(), &names(&[]));
    assert!(matches!(&lost[0].repair, Repair::Make(ops) if ops.len() == 2));
    assert_eq!(lost[1].what, "mirrors of br-ex");
    assert!(matches!(lost[1].repair, Repair::Impossible(_)));
}

#[test]
fn after_a_change_only_what_went_with_the_bridge_is_carried() {
    let (links, none) = (names(&["tap0"]), Written::default());
    assert_eq!(uncarried(&before(), &bare("2"), &touched(), &none, &links).len(), 2);
    assert_eq!(uncarried(&before(), &bare("1"), &touched(), &none, &links), [], "its owner took it out");
}
