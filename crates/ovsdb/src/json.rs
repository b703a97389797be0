//! JSON as it is needed for rows by the ten thousand: objects are read once from front to back, and texts move out of it into
//! the rows. [`Value`] would hash every key, and have every text copied.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Json {
    #[default]
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn is_null(&self) -> bool {
        *self == Json::Null
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_integer(&self) -> Option<u64> {
        if let Json::Integer(integer) = self { u64::try_from(*integer).ok() } else { None }
    }

    /// None in anything else than an array.
    pub(crate) fn into_array(self) -> Option<Vec<Json>> {
        if let Json::Array(all) = self { Some(all) } else { None }
    }

    pub(crate) fn into_object(self) -> Option<Vec<(String, Json)>> {
        if let Json::Object(all) = self { Some(all) } else { None }
    }

    /// OVSDB writes what JSON has no notation for as a pair: what it is, and its value.
    pub(crate) fn tagged(&mut self) -> Option<(&str, &mut Json)> {
        match self {
            Json::Array(pair) => match pair.as_mut_slice() {
                [Json::Text(tag), inner] => Some((tag, inner)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Boolean(flag) => flag.into(),
            Json::Integer(integer) => integer.into(),
            Json::Real(real) => real.into(),
            Json::Text(text) => text.into(),
            Json::Array(all) => Value::Array(all.into_iter().map(Value::from).collect()),
            Json::Object(all) => {
                Value::Object(all.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Boolean(flag),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Json::Integer(integer),
                None => number.as_f64().map_or(Json::Null, Json::Real),
            },
            Value::String(text) => Json::Text(text),
            Value::Array(all) => Json::Array(all.into_iter().map(Json::from).collect()),
            Value::Object(all) => {
                Json::Object(all.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(self.clone()).fmt(formatter)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Boolean(flag))
    }

    fn visit_i64<E: Error>(self, integer: i64) -> Result<Json, E> {
        Ok(Json::Integer(integer))
    }

    #[allow(clippy::cast_precision_loss, reason = "a number that large is no integer to the database either")]
    fn visit_u64<E: Error>(self, integer: u64) -> Result<Json, E> {
        Ok(i64::try_from(integer).map_or(Json::Real(integer as f64), Json::Integer))
    }

    fn visit_f64<E: Error>(self, real: f64) -> Result<Json, E> {
        Ok(Json::Real(real))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = access.next_element()? {
            all.push(element);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(member) = access.next_entry()? {
            all.push(member);
        }
        Ok(Json::Object(all))
    }
}
