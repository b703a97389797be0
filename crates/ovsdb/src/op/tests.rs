use serde_json::json;

use super::*;
use crate::value::{Datum, Uuid};

#[test]
fn operations_travel_as_the_rfc_writes_them() {
    let keys =
        [Mutation::delete_keys("other_config", ["a"]), Mutation::insert_keys("other_config", [("a", "1")])];
    let cases = [
        (
            Op::mutate("Bridge", Condition::named("br-ex"), keys),
            json!({
                "op": "mutate",
                "table": "Bridge",
                "where": [["name", "==", "br-ex"]],
                "mutations": [
                    ["other_config", "delete", ["set", ["a"]]],
                    ["other_config", "insert", ["map", [["a", "1"]]]],
                ],
            }),
        ),
        (
            Op::insert("Port", Columns::new().with("name", "p").with("tag", 7)).named("new"),
            json!({"op": "insert", "table": "Port", "row": {"name": "p", "tag": 7}, "uuid-name": "new"}),
        ),
        (
            Op::select("Port", Condition::uuid(Uuid::ZERO), ["name"]),
            json!({"op": "select", "table": "Port", "where": [["_uuid", "==", ["uuid", Uuid::ZERO.to_string()]]], "columns": ["name"]}),
        ),
        (
            Op::wait(
                "T",
                Condition::all(),
                ["c"],
                Until::Equal,
                [Columns::new().with("c", Datum::set(["x"]))],
                Duration::ZERO,
            ),
            json!({"op": "wait", "table": "T", "where": [], "columns": ["c"], "until": "==", "rows": [{"c": ["set", ["x"]]}], "timeout": 0}),
        ),
        (Op::assert_lock("l"), json!({"op": "assert", "lock": "l"})),
        (Op::commit(true), json!({"op": "commit", "durable": true})),
        (Op::Abort, json!({"op": "abort"})),
    ];
    for (op, wire) in cases {
        assert_eq!(serde_json::to_value(op).unwrap(), wire);
    }
}

#[test]
fn each_operation_has_its_result() {
    let ops = [
        Op::select("T", Condition::all(), ["c"]),
        Op::delete("T", Condition::all()),
        Op::insert("T", Columns::new()),
        Op::comment("x"),
    ];
    let answers = [
        json!({"rows": [{"c": 1}]}),
        json!({"count": 2}),
        json!({"uuid": ["uuid", Uuid::ZERO.to_string()]}),
        json!({}),
    ];
    let results = results(&ops, &answers).unwrap();
    assert_eq!(results[0].rows()[0]["c"], 1);
    assert_eq!(
        (results[1].count(), results[2].inserted(), &results[3]),
        (Some(2), Some(Uuid::ZERO), &OpResult::Done)
    );
}

#[test]
fn the_operation_that_failed_is_named_and_a_failed_commit_is_none_of_them() {
    let ops = [Op::delete("T", Condition::all()), Op::insert("T", Columns::new())];
    let failed = [json!({"error": "timed out", "details": "not yet"}), json!(null)];
    let error = results(&ops, &failed).unwrap_err();
    assert_eq!(
        (error.code.clone(), error.to_string().as_str()),
        (ErrorCode::TimedOut, "operation 0 (delete T): timed out (not yet)")
    );
    let refused =
        [json!({"count": 1}), json!({}), json!({"error": "referential integrity violation", "details": "x"})];
    let error = results(&ops, &refused).unwrap_err();
    assert_eq!((error.at, error.code), (Failed::Commit, ErrorCode::ReferentialIntegrity));
    assert!(results(&ops, &[json!({"count": 1})]).is_err(), "half an answer is none");
}
