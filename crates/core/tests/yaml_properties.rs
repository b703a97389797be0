//! What is written as YAML is read as the same value: by our reader, and by one that is not ours.

#![allow(clippy::unwrap_used)]

use linesman_core::document::tree;
use linesman_core::yaml;
use proptest::prelude::*;
use serde_json::{Value, json};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9.:/-]{0,12}",
        "[-+0-9a-fxo_.:eETZ ]{0,10}",
        "[ \t\n#:,?'\"{}\\[\\]&*!|>%@`~=<a-c-]{0,12}",
        "([a-c]{0,3}[ :#-]{0,2}\n){0,4}[a-c ]{0,3}",
        "\\PC{0,6}",
        any::<String>().prop_map(|text| text.chars().take(12).collect()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e6..1e6).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_is_read_as_it_was(value in value()) {
        let value = json!({ "value": value });
        let written = yaml::write(&value);
        let ours = tree(&written).map(|node| node.to_value());
        prop_assert_eq!(ours.as_ref(), Ok(&value), "{}", written);
        let theirs: Value = yaml_serde::from_str(&written).unwrap();
        prop_assert_eq!(&theirs, &value, "{}", written);
    }
}
