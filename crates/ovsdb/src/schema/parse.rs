//! From the JSON of a schema to its types.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::base::{BaseType, Bounds, Reference};
use super::column::ColumnType;
use super::{ColumnSchema, Schema, SchemaError, TableSchema};
use crate::value::{Atom, AtomKind};

type Result<T> = std::result::Result<T, SchemaError>;

pub(super) fn schema(value: &Value) -> Result<Schema> {
    let place = "the schema";
    let object = object(value, place)?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = text("name").ok_or_else(|| malformed(place, "no name"))?;
    let tables = match object.get("tables") {
        None => return Err(malformed(&name, "no tables")),
        Some(tables) => members(tables, &name, |table, value| self::table(table, value))?,
    };
    Ok(Schema { name, version: text("version").unwrap_or_default(), checksum: text("cksum"), tables })
}

fn table(name: &str, value: &Value) -> Result<TableSchema> {
    let object = object(value, name)?;
    let columns = match object.get("columns") {
        None => return Err(malformed(name, "no columns")),
        Some(columns) => {
            members(columns, name, |column, value| self::column(&format!("{name}.{column}"), value))?
        }
    };
    let index = |index: &Value| {
        let columns = index.as_array()?.iter().map(|column| column.as_str().map(str::to_owned));
        columns.collect::<Option<Vec<_>>>()
    };
    let indexes = match object.get("indexes") {
        None => Vec::new(),
        Some(indexes) => indexes
            .as_array()
            .and_then(|indexes| indexes.iter().map(index).collect::<Option<_>>())
            .ok_or_else(|| malformed(name, "indexes are not lists of columns"))?,
    };
    Ok(TableSchema {
        name: name.to_owned(),
        columns,
        max_rows: object.get("maxRows").and_then(Value::as_u64),
        is_root: flag(object, "isRoot", false),
        indexes,
    })
}

fn column(place: &str, value: &Value) -> Result<ColumnSchema> {
    let object = object(value, place)?;
    let ty = object.get("type").ok_or_else(|| malformed(place, "no type"))?;
    Ok(ColumnSchema {
        ty: column_type(place, ty)?,
        ephemeral: flag(object, "ephemeral", false),
        mutable: flag(object, "mutable", true),
    })
}

fn column_type(place: &str, value: &Value) -> Result<ColumnType> {
    let Some(object) = value.as_object() else {
        return Ok(ColumnType { key: base(place, value)?, value: None, min: 1, max: Some(1) });
    };
    let key = base(place, object.get("key").ok_or_else(|| malformed(place, "no key"))?)?;
    let held = object.get("value").map(|value| base(place, value)).transpose()?;
    let min = match object.get("min").map(Value::as_u64) {
        None => 1,
        Some(Some(min @ 0..=1)) => min,
        _ => return Err(malformed(place, "min is neither 0 nor 1")),
    };
    let max = match object.get("max") {
        None => Some(1),
        Some(Value::String(text)) if text == "unlimited" => None,
        Some(max) => {
            Some(max.as_u64().filter(|max| *max >= 1).ok_or_else(|| malformed(place, "max is no count"))?)
        }
    };
    Ok(ColumnType { key, value: held, min, max })
}

fn base(place: &str, value: &Value) -> Result<BaseType> {
    let kind = |name: Option<&Value>| {
        name.and_then(Value::as_str)
            .and_then(AtomKind::parse)
            .ok_or_else(|| malformed(place, "a type that is neither integer, real, boolean, string nor uuid"))
    };
    let Some(object) = value.as_object() else { return Ok(BaseType::of(kind(Some(value))?)) };
    let kind = kind(object.get("type"))?;
    let choices = match object.get("enum") {
        None => None,
        Some(choices) => Some(self::choices(kind, choices).ok_or_else(|| malformed(place, "an odd enum"))?),
    };
    let reference = object.get("refTable").and_then(Value::as_str).map(|table| Reference {
        table: table.to_owned(),
        weak: object.get("refType").and_then(Value::as_str) == Some("weak"),
    });
    Ok(BaseType { kind, choices, bounds: bounds(kind, object), reference })
}

fn choices(kind: AtomKind, value: &Value) -> Option<std::collections::BTreeSet<Atom>> {
    match value.as_array().map(Vec::as_slice) {
        Some([Value::String(tag), Value::Array(atoms)]) if tag == "set" => {
            atoms.iter().map(|atom| kind.decode(atom)).collect()
        }
        _ => kind.decode(value).map(|only| [only].into()),
    }
}

fn bounds(kind: AtomKind, object: &Map<String, Value>) -> Bounds {
    let integer = |key: &str| object.get(key).and_then(Value::as_i64);
    let real = |key: &str| object.get(key).and_then(Value::as_f64);
    let length = |key: &str| object.get(key).and_then(Value::as_u64);
    match kind {
        AtomKind::Integer => match (integer("minInteger"), integer("maxInteger")) {
            (None, None) => Bounds::None,
            (min, max) => Bounds::Integer { min: min.unwrap_or(i64::MIN), max: max.unwrap_or(i64::MAX) },
        },
        AtomKind::Real => match (real("minReal"), real("maxReal")) {
            (None, None) => Bounds::None,
            (min, max) => {
                Bounds::Real { min: min.unwrap_or(f64::NEG_INFINITY), max: max.unwrap_or(f64::INFINITY) }
            }
        },
        AtomKind::String => match (length("minLength"), length("maxLength")) {
            (None, None) => Bounds::None,
            (min, max) => Bounds::Length { min: min.unwrap_or(0), max: max.unwrap_or(u64::MAX) },
        },
        AtomKind::Boolean | AtomKind::Uuid => Bounds::None,
    }
}

fn members<T>(
    value: &Value,
    place: &str,
    member: impl Fn(&str, &Value) -> Result<T>,
) -> Result<BTreeMap<String, T>> {
    object(value, place)?.iter().map(|(name, value)| Ok((name.clone(), member(name, value)?))).collect()
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| malformed(place, "not an object"))
}

fn flag(object: &Map<String, Value>, key: &str, default: bool) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or(default)
}

fn malformed(place: &str, what: &str) -> SchemaError {
    SchemaError::Malformed { place: place.to_owned(), what: what.to_owned() }
}
