use serde_json::json;

use super::*;

fn lenient(_: &Value) -> Result<(), String> {
    Ok(())
}

fn codes_of(text: &str) -> Vec<&'static str> {
    let document = Document::parse("t.yaml", text).unwrap_or_else(|faults| panic!("{faults:?}"));
    check(&document, &lenient).iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn everything_is_bounded() {
    let interfaces: Vec<Value> =
        (0..500).map(|n| json!({"name": format!("bad name {n}"), "type": "x"})).collect();
    let text = json!({ "interfaces": interfaces }).to_string();
    assert_eq!(codes_of(&text).len(), MAX_DIAGNOSTICS);
}

#[test]
fn a_long_chain_of_bases_is_no_circle() {
    let vlan = |n: usize| json!({"name": format!("v{n}"), "type": "vlan", "vlan": {"id": 5, "base-iface": format!("v{}", n + 1)}});
    let interfaces: Vec<Value> = (0..20_000).map(vlan).collect();
    assert!(codes_of(&json!({ "interfaces": interfaces }).to_string()).is_empty());
}

#[test]
fn values_from_captures_are_left_alone() {
    let text = "capture: {nic: interfaces.name==\"eth1\"}\ndesired:\n  interfaces:\n\
                \x20 - {name: \"{{ capture.nic.interfaces.0.name }}\", type: ethernet, state: down}\n\
                \x20 - {name: br1, type: linux-bridge, mac-address: \"{{ capture.nic.interfaces.0.mac-address }}\"}\n\
                \x20 routes:\n    config:\n    - {destination: \"{{ capture.x }}\", next-hop-interface: br1}\n";
    assert!(codes_of(text).is_empty());
}
