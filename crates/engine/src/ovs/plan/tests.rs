use super::*;
use crate::ovs::keys::{BridgeKeys, InterfaceKeys};
use linesman_core::plan::Plan;

fn keys(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn row(uuid: &str, external_ids: &[(&str, &str)], other_config: &[(&str, &str)]) -> RowKeys {
    RowKeys {
        uuid: uuid.to_owned(),
        external_ids: keys(external_ids),
        other_config: keys(other_config),
        ..RowKeys::default()
    }
}

fn with_interface(name: &str, row: RowKeys) -> OvsKeys {
    with_ofport(name, row, None)
}

fn with_ofport(name: &str, row: RowKeys, ofport_request: Option<i64>) -> OvsKeys {
    let interfaces = BTreeMap::from([(name.to_owned(), InterfaceKeys { row, ofport_request, ofport: None })]);
    OvsKeys { interfaces, ..OvsKeys::default() }
}

fn names(names: &[&str]) -> BTreeSet<InterfaceName> {
    names.iter().copied().map(InterfaceName::from).collect()
}

fn scope(all: &[&str]) -> Scope {
    Scope { names: names(all), global: false }
}

fn sent(ops: &[Op]) -> Value {
    serde_json::to_value(ops).unwrap()
}

#[test]
fn what_is_as_it_was_needs_nothing() {
    let keys = with_ofport("eth0", row("1", &[("a", "1")], &[("b", "2")]), Some(3));
    let scope = Scope { names: names(&["eth0"]), global: true };
    assert_eq!(restore_plan(&keys, &keys, &scope), []);
    assert_eq!(carry_plan(&keys, &keys, &scope.names, &Written::default()), []);
}

#[test]
fn restoring_adds_alters_and_removes() {
    let was = with_interface("eth0", row("1", &[("gone", "1"), ("altered", "old"), ("same", "s")], &[]));
    let is =
        with_interface("eth0", row("2", &[("altered", "new"), ("same", "s"), ("added", "x")], &[("c", "3")]));
    assert_eq!(
        sent(&restore_plan(&was, &is, &scope(&["eth0"]))),
        json!([{
            "op": "mutate",
            "table": "Interface",
            "where": [["name", "==", "eth0"]],
            "mutations": [
                ["external_ids", "delete", ["set", ["added", "altered"]]],
                ["external_ids", "insert", ["map", [["altered", "old"], ["gone", "1"]]]],
                ["other_config", "delete", ["set", ["c"]]],
            ],
        }])
    );
}

#[test]
fn restoring_leaves_what_its_owner_keeps() {
    let was =
        with_interface("eth0", row("1", &[("NM.connection.uuid", "old"), ("ovn-installed", "true")], &[]));
    let is =
        with_interface("eth0", row("2", &[("NM.connection.uuid", "new"), ("ovn-installed-ts", "7")], &[]));
    assert_eq!(restore_plan(&was, &is, &scope(&["eth0"])), []);
}

#[test]
fn a_key_of_networkmanagers_name_in_another_column_is_an_ordinary_one() {
    let was = with_interface("eth0", row("1", &[], &[("NM.x", "1")]));
    let is = with_interface("eth0", row("1", &[], &[]));
    assert_eq!(restore_plan(&was, &is, &scope(&["eth0"])).len(), 1);
}

#[test]
fn rows_out_of_scope_are_left_alone() {
    let was = with_interface("eth0", row("1", &[("a", "1")], &[]));
    let mut is = with_interface("eth0", row("1", &[], &[]));
    is.global.external_ids = keys(&[("system-id", "other")]);
    assert_eq!(restore_plan(&was, &is, &scope(&["eth1"])), []);
    assert_eq!(carry_plan(&was, &is, &names(&["eth1"]), &Written::default()), []);
}

#[test]
fn the_global_row_has_no_name() {
    let was =
        OvsKeys { global: row("1", &[("system-id", "a")], &[("hw-offload", "true")]), ..OvsKeys::default() };
    let is = OvsKeys { global: row("1", &[("system-id", "b")], &[]), ..OvsKeys::default() };
    assert_eq!(
        sent(&restore_plan(&was, &is, &Scope { names: BTreeSet::new(), global: true })),
        json!([{
            "op": "mutate",
            "table": "Open_vSwitch",
            "where": [],
            "mutations": [
                ["external_ids", "delete", ["set", ["system-id"]]],
                ["external_ids", "insert", ["map", [["system-id", "a"]]]],
                ["other_config", "insert", ["map", [["hw-offload", "true"]]]],
            ],
        }])
    );
}

#[test]
fn a_row_that_is_gone_is_reported_not_written() {
    let was = with_interface("eth0", row("1", &[("a", "1")], &[]));
    let is = OvsKeys::default();
    assert_eq!(restore_plan(&was, &is, &scope(&["eth0"])), []);
    assert_eq!(missing_rows(&was, &is, &scope(&["eth0"])), [(Table::Interface, "eth0".to_owned())]);
    assert_eq!(missing_rows(&was, &was, &scope(&["eth0"])), []);
}

#[test]
fn a_requested_port_number_and_protocols_are_restored() {
    let mut was = with_ofport("br-ex", row("1", &[], &[]), Some(5));
    let mut is = with_ofport("br-ex", row("1", &[], &[]), None);
    let bridge = BridgeKeys { protocols: ["OpenFlow13".to_owned()].into(), ..BridgeKeys::default() };
    was.bridges.insert("br-ex".to_owned(), bridge);
    is.bridges.insert("br-ex".to_owned(), BridgeKeys::default());
    let scope = scope(&["br-ex"]);
    assert_eq!(
        sent(&restore_plan(&was, &is, &scope)),
        json!([
            {"op": "update", "table": "Interface", "where": [["name", "==", "br-ex"]], "row": {"ofport_request": ["set", [5]]}},
            {"op": "update", "table": "Bridge", "where": [["name", "==", "br-ex"]], "row": {"protocols": ["set", ["OpenFlow13"]]}},
        ])
    );
    assert_eq!(
        sent(&restore_plan(&is, &was, &scope))[0]["row"],
        json!({"ofport_request": ["set", []]}),
        "one that was not requested before is not requested afterwards"
    );
}

#[test]
fn carrying_fills_in_what_a_new_row_lost() {
    let was = with_ofport(
        "eth0",
        row("old", &[("mine", "1"), ("theirs", "a"), ("NM.connection.uuid", "u")], &[]),
        Some(9),
    );
    let is = with_ofport("eth0", row("new", &[("theirs", "b")], &[]), None);
    assert_eq!(
        sent(&carry_plan(&was, &is, &names(&["eth0"]), &Written::default())),
        json!([
            {
                "op": "mutate",
                "table": "Interface",
                "where": [["name", "==", "eth0"]],
                "mutations": [["external_ids", "insert", ["map", [["mine", "1"]]]]],
            },
            {"op": "update", "table": "Interface", "where": [["name", "==", "eth0"]], "row": {"ofport_request": ["set", [9]]}},
        ])
    );
}

#[test]
fn carrying_into_a_kept_row_would_undo_what_its_owner_did() {
    let was = with_ofport("eth0", row("1", &[("a", "1")], &[]), Some(9));
    let is = with_ofport("eth0", row("1", &[], &[]), None);
    assert_eq!(carry_plan(&was, &is, &names(&["eth0"]), &Written::default()), []);
}

#[test]
fn what_the_document_declares_is_not_carried() {
    let was = with_interface("eth0", row("old", &[("a", "1"), ("b", "2")], &[]));
    let is = with_interface("eth0", row("new", &[], &[]));
    let declared = |column: &str| {
        Written::of(
            &json!({"interfaces": [{"name": "eth0", "ovs-db": {column: {"a": "9"}}}]}),
            &Plan::default(),
        )
    };
    let mutations =
        |declared| sent(&carry_plan(&was, &is, &names(&["eth0"]), &declared))[0]["mutations"].clone();
    assert_eq!(
        mutations(declared("external_ids")),
        json!([["external_ids", "insert", ["map", [["b", "2"]]]]])
    );
    assert_eq!(
        mutations(declared("other_config")),
        json!([["external_ids", "insert", ["map", [["a", "1"], ["b", "2"]]]]]),
        "a key of the same name in another column is another key"
    );
}

#[test]
fn a_snapshot_survives_the_journal() {
    let mut keys = with_ofport("eth0", row("1", &[("a", "1")], &[("b", "2")]), Some(3));
    keys.bridges.insert(
        "br-ex".to_owned(),
        BridgeKeys { fail_mode: Some("standalone".to_owned()), ..Default::default() },
    );
    let text = serde_json::to_string(&keys).unwrap();
    assert_eq!(serde_json::from_str::<OvsKeys>(&text).unwrap(), keys);
}

#[test]
fn only_what_networkmanager_made_since_is_taken_away() {
    let bridge =
        |uuid: &str, ids: &[(&str, &str)]| BridgeKeys { row: row(uuid, ids, &[]), ..BridgeKeys::default() };
    let nm = [("NM.connection.uuid", "c")];
    let was =
        OvsKeys { bridges: BTreeMap::from([("br-old".into(), bridge("1", &nm))]), ..OvsKeys::default() };
    let is = OvsKeys {
        bridges: BTreeMap::from([
            ("br-old".into(), bridge("1", &nm)),
            ("br-ex".into(), bridge("2", &nm)),
            ("br-foreign".into(), bridge("3", &[])),
        ]),
        ports: BTreeMap::from([("eth0".into(), row("4", &nm, &[]))]),
        ..OvsKeys::default()
    };
    let ops = remove_plan(&was, &is, &names(&["br-old", "br-ex", "br-foreign", "eth0"]));
    assert_eq!(
        sent(&ops),
        json!([
            {
                "op": "mutate",
                "table": "Bridge",
                "where": [["ports", "includes", ["uuid", "4"]]],
                "mutations": [["ports", "delete", ["uuid", "4"]]],
            },
            {
                "op": "mutate",
                "table": "Open_vSwitch",
                "where": [["bridges", "includes", ["uuid", "2"]]],
                "mutations": [["bridges", "delete", ["uuid", "2"]]],
            },
        ])
    );
}
