//! A schema with a column of every shape, and rows for it.

use linesman_ovsdb::{Columns, Op};
use serde_json::{Value, json};

pub const DATABASE: &str = "Zoo";

pub fn schema(version: &str) -> Value {
    let many = |key: Value| json!({"type": {"key": key, "min": 0, "max": "unlimited"}});
    json!({"name": DATABASE, "version": version, "tables": {
        "Animal": {"isRoot": true, "indexes": [["name"]], "columns": {
            "name": {"type": "string"},
            "legs": {"type": {"key": {"type": "integer", "minInteger": 0, "maxInteger": 8}}},
            "diet": {"type": {"key": {"type": "string", "enum": ["set", ["grass", "meat"]]}, "min": 0}},
            "weight": {"type": "real"},
            "wild": {"type": "boolean"},
            "words": many(json!("string")),
            "numbers": many(json!("integer")),
            "keeper": {"type": {"key": {"type": "uuid", "refTable": "Keeper"}, "min": 0}},
            "friends": many(json!({"type": "uuid", "refTable": "Animal", "refType": "weak"})),
            "tags": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}},
        }},
        "Keeper": {"isRoot": true, "columns": {"name": {"type": "string"}}},
    }})
}

/// With one more column.
pub fn next_schema() -> Value {
    let mut schema = schema("1.1.0");
    schema["tables"]["Animal"]["columns"]["age"] = json!({"type": "integer"});
    schema
}

pub fn animal(name: &str) -> Op {
    Op::insert("Animal", named(name))
}

pub fn named(name: &str) -> Columns {
    Columns::new().with("name", name)
}

pub fn animals(count: usize) -> Vec<Op> {
    (0..count).map(|number| animal(&format!("animal {number}"))).collect()
}
