use linesman_core::interface_name::InterfaceName;
use linesman_core::path::Path;
use linesman_core::plan::{Change, ChangeKind, Detail, Plan, Subject};
use serde_json::{Value, json};

use super::*;
use crate::ovs::plan::{Scope, restore_plan};

fn keys(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn global(uuid: &str, external_ids: &[(&str, &str)]) -> OvsKeys {
    let global = RowKeys { uuid: uuid.to_owned(), external_ids: keys(external_ids), ..RowKeys::default() };
    OvsKeys { global, ..OvsKeys::default() }
}

fn written(desired: Value) -> Written {
    Written::of(&desired, &Plan::default())
}

fn ids(was: &[(&str, &str)], is: &[(&str, &str)], desired: Value) -> BTreeMap<String, String> {
    merge(&global("1", was), &global("1", is), &written(desired)).global.external_ids
}

#[test]
fn what_the_change_wrote_is_put_back_and_what_others_wrote_stays() {
    let was = [("system-id", "a"), ("theirs", "1"), ("ours", "1"), ("dropped", "x")];
    let is = [("system-id", "b"), ("theirs", "2"), ("ours", "9"), ("added", "by-us"), ("since", "by-them")];
    let desired = json!({"ovs-db": {"external_ids": {"system-id": "b", "added": "by-us", "ours": "2", "dropped": null}}});
    let expected = keys(&[
        ("system-id", "a"),
        ("theirs", "2"),
        // Neither what it was nor what the change made of it.
        ("ours", "9"),
        ("dropped", "x"),
        ("since", "by-them"),
    ]);
    assert_eq!(ids(&was, &is, desired), expected);
}

#[test]
fn a_key_that_its_owner_removed_stays_away_unless_the_change_empties_the_column() {
    assert_eq!(ids(&[("theirs", "1")], &[], json!({"ovs-db": {"external_ids": {"ours": "1"}}})), keys(&[]));
    assert_eq!(
        ids(&[("theirs", "1")], &[], json!({"ovs-db": {"external_ids": {}}})),
        keys(&[("theirs", "1")])
    );
    assert_eq!(ids(&[("theirs", "1")], &[], json!({"ovs-db": {}})), keys(&[("theirs", "1")]));
}

#[test]
fn bridge_mappings_have_an_owner_each() {
    let desired = json!({"ovn": {"bridge-mappings": [{"localnet": "ours", "bridge": "br1"}]}});
    let (was, is) = ([(MAPPINGS, "phys:br-ex")], [(MAPPINGS, "ours:br1,phys:br-ex,since:br9")]);
    assert_eq!(ids(&was, &is, desired.clone()), keys(&[(MAPPINGS, "phys:br-ex,since:br9")]));
    assert_eq!(ids(&[], &[(MAPPINGS, "ours:br1")], desired.clone()), keys(&[]));
    let unsorted = [(MAPPINGS, "z:br1,a:br2")];
    assert_eq!(ids(&unsorted, &[(MAPPINGS, "a:br2,ours:br1,z:br1")], desired), keys(&unsorted));
}

fn row(uuid: &str, managed: bool, members: &[&str]) -> RowKeys {
    RowKeys {
        uuid: uuid.to_owned(),
        external_ids: keys(if managed { &[("NM.connection.uuid", "c")] } else { &[] }),
        members: members.iter().map(|name| (*name).to_owned()).collect(),
        ..RowKeys::default()
    }
}

/// A bridge of NetworkManager's with its uplink and these ports of others.
fn bridge(uuid: &str, theirs: &[&str]) -> OvsKeys {
    let mut all = OvsKeys::default();
    let members: Vec<&str> = [&["eth0"], theirs].concat();
    let bridge = BridgeKeys { row: row(uuid, true, &members), ..BridgeKeys::default() };
    all.bridges.insert("br-ex".to_owned(), bridge);
    for name in members {
        all.ports.insert(name.to_owned(), row(&format!("p-{name}"), name == "eth0", &[name]));
        let interface = InterfaceKeys {
            row: row(&format!("i-{name}"), name == "eth0", &[]),
            ofport_request: None,
            ofport: None,
        };
        all.interfaces.insert(name.to_owned(), interface);
    }
    all
}

fn members(keys: &OvsKeys) -> Vec<&str> {
    keys.bridges["br-ex"].row.members.iter().map(String::as_str).collect()
}

#[test]
fn ports_of_others_are_missed_only_if_their_bridge_was_made_anew() {
    let before = bridge("1", &["vxlan0", "tap0"]);
    let none = Written::default();
    assert_eq!(members(&merge(&before, &bridge("2", &[]), &none)), ["eth0", "tap0", "vxlan0"]);
    assert_eq!(
        members(&merge(&before, &bridge("1", &["tap0"]), &none)),
        ["eth0", "tap0"],
        "its owner took it out"
    );
    let since = merge(&before, &bridge("1", &["tap0", "vxlan0", "pod1"]), &none);
    assert_eq!(members(&merge(&since, &bridge("2", &[]), &none)), ["eth0", "pod1", "tap0", "vxlan0"]);
    assert!(since.ports.contains_key("pod1") && since.interfaces.contains_key("pod1"));
}

/// After a crash NetworkManager has rolled back before anybody looks: the same new row is seen twice.
#[test]
fn a_bridge_that_was_made_anew_before_the_first_look_misses_the_ports_of_others() {
    let (mut before, anew) = (bridge("1", &["vx0"]), bridge("2", &[]));
    before.bridges.get_mut("br-ex").unwrap().row.external_ids.insert("bridge-id".into(), "a".into());
    let goal = merge(&merge(&before, &anew, &Written::default()), &anew, &Written::default());
    assert_eq!(members(&goal), ["eth0", "vx0"]);
    assert_eq!(goal.bridges["br-ex"].row.external_ids.get("bridge-id").map(String::as_str), Some("a"));
}

#[test]
fn a_port_that_the_plan_took_out_returns() {
    let path = Path::interface("br-ex").key("bridge").key("port").item("vxlan0");
    let details = vec![Detail { path, want: Value::Null, got: json!({"name": "vxlan0"}) }];
    let subject = Subject::Interface { name: InterfaceName::from("br-ex"), kind: "ovs-bridge".into() };
    let plan =
        Plan { changes: vec![Change { kind: ChangeKind::Modify, subject, details }], ..Plan::default() };
    let merged = merge(&bridge("1", &["vxlan0"]), &bridge("1", &[]), &Written::of(&json!({}), &plan));
    assert_eq!(members(&merged), ["eth0", "vxlan0"]);
}

#[test]
fn a_row_made_anew_has_the_columns_of_its_predecessor() {
    let with_tag = |uuid: &str, tag: Value| {
        let mut all = bridge("1", &["tap0"]);
        let columns = BTreeMap::from([("tag".to_owned(), tag)]);
        all.ports.insert("tap0".to_owned(), RowKeys { columns, ..row(uuid, false, &["tap0"]) });
        all
    };
    let (before, now) = (with_tag("1", json!(5)), with_tag("2", json!(["set", []])));
    let ops = |before: &OvsKeys, now: &OvsKeys| {
        let goal = merge(before, now, &Written::default());
        let scope = Scope { names: [InterfaceName::from("tap0")].into(), global: true };
        serde_json::to_value(restore_plan(&goal, now, &scope)).unwrap()
    };
    assert_eq!(
        ops(&before, &now),
        json!([{"op": "update", "table": "Port", "where": [["name", "==", "tap0"]], "row": {"tag": 5}}])
    );
    assert_eq!(ops(&with_tag("2", json!(5)), &now), json!([]), "its owner changed it");
}
