use serde_json::json;

use super::*;
use crate::value::{Atom, AtomKind, Datum, Uuid};

fn schema() -> Schema {
    let schema = json!({
        "name": "Zoo", "version": "1.2.3", "cksum": "1 2",
        "tables": {
            "Animal": {
                "isRoot": true, "maxRows": 7, "indexes": [["name"]],
                "columns": {
                    "name": {"type": "string", "mutable": false},
                    "legs": {"type": {"key": {"type": "integer", "minInteger": 0, "maxInteger": 8}}},
                    "diet": {"type": {"key": {"type": "string", "enum": ["set", ["grass", "meat"]]}, "min": 0}},
                    "weights": {"type": {"key": "real", "min": 1, "max": 3}, "ephemeral": true},
                    "friends": {"type": {"key": {"type": "uuid", "refTable": "Animal", "refType": "weak"},
                                         "min": 0, "max": "unlimited"}},
                    "tags": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}},
                },
            },
        },
    });
    Schema::parse(&schema).unwrap()
}

#[test]
fn types_are_read_with_their_limits() {
    let schema = schema();
    assert_eq!((schema.version.as_str(), schema.checksum.as_deref()), ("1.2.3", Some("1 2")));
    let animal = schema.table("Animal").unwrap();
    assert!(animal.is_root && animal.max_rows == Some(7) && animal.indexes == [["name"]]);
    let ty = |column: &str| &animal.column(column).unwrap().ty;
    assert!(ty("name").is_scalar() && !animal.column("name").unwrap().mutable);
    assert!(ty("diet").is_optional() && ty("tags").is_map());
    assert!(animal.column("weights").unwrap().ephemeral);
    assert_eq!(ty("legs").key.bounds, Bounds::Integer { min: 0, max: 8 });
    assert_eq!(ty("friends").key.reference, Some(Reference { table: "Animal".to_owned(), weak: true }));
    assert_eq!(ty("weights").default_datum(), Datum::set([0.0]));
}

#[test]
fn values_are_decoded_by_type() {
    let schema = schema();
    let animal = schema.table("Animal").unwrap();
    let decode = |column: &str, value| animal.column(column).unwrap().ty.decode(&value);
    assert_eq!(decode("diet", json!("meat")).unwrap(), Datum::set(["meat"]));
    assert_eq!(decode("diet", json!(["set", []])).unwrap(), Datum::Set([].into()));
    assert_eq!(decode("legs", json!(["set", [4]])).unwrap(), Datum::Atom(Atom::Integer(4)));
    assert_eq!(decode("weights", json!(2)).unwrap(), Datum::set([2.0]), "an integer is a real, too");
    assert_eq!(decode("friends", json!(["uuid", Uuid::ZERO.to_string()])).unwrap(), Datum::set([Uuid::ZERO]));
    for (column, value) in [("legs", json!("4")), ("tags", json!(["set", []])), ("name", json!(["set", []]))]
    {
        let error = decode(column, value).unwrap_err().to_string();
        assert!(error.contains("expected"), "{error}");
    }
}

#[test]
fn what_the_database_would_refuse_is_refused_before() {
    let schema = schema();
    let animal = schema.table("Animal").unwrap();
    let check = |column: &str, datum: Datum| animal.column(column).unwrap().ty.check(&datum);
    assert!(check("legs", 8.into()).is_ok());
    for (column, datum, word) in [
        ("legs", Datum::from(9), "0 to 8"),
        ("legs", "many".into(), "integer"),
        ("diet", Datum::set(["sand"]), "grass"),
        ("diet", Datum::set(["grass", "meat"]), "or none"),
        ("weights", Datum::set::<f64>([]), "1 to 3"),
        ("tags", Datum::set(["a"]), "map"),
    ] {
        let error = check(column, datum).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let schema = schema();
    let error = schema.table("Plant").unwrap_err().to_string();
    assert!(error.contains("Zoo 1.2.3") && error.contains("Plant"), "{error}");
    let error = schema.table("Animal").unwrap().column("wings").unwrap_err().to_string();
    assert!(error.contains("wings"), "{error}");
    for bad in [
        json!([]),
        json!({"name": "x"}),
        json!({"name": "x", "tables": {"T": {"columns": {"c": {"type": "blob"}}}}}),
    ] {
        assert!(Schema::parse(&bad).is_err(), "{bad}");
    }
    assert_eq!(AtomKind::parse("blob"), None);
}

#[test]
fn rows_of_answers_are_typed() {
    let schema = schema();
    let row =
        json!({"name": "dog", "tags": ["map", [["a", "b"]]], "_uuid": ["uuid", Uuid::ZERO.to_string()]});
    let row = schema.table("Animal").unwrap().decode_row(row.as_object().unwrap()).unwrap();
    assert_eq!((row.text("name").unwrap(), row.uuid("_uuid").unwrap()), ("dog", Uuid::ZERO));
    assert_eq!(row.get("tags").unwrap().key("a"), Some("b"));
    let error = row.integer("name").unwrap_err().to_string();
    assert!(error.contains("Animal") && error.contains("name"), "{error}");
}
