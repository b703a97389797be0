//! Reading what others wrote: only the parts that are needed, each bounded. What is not needed is skipped without recursion, so no
//! object, however deep, long or strange, keeps a list or a watch of its kind from being read.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::limits::{ITEMS, READ_DEPTH, TEXT};

/// Which parts are read.
#[derive(Debug)]
pub enum Part {
    /// Everything, down to [`READ_DEPTH`].
    Document,
    /// The same, but that it is deeper does not matter.
    Excerpt,
    /// A text, a number or a truth; a long text is cut.
    Scalar,
    /// These fields of a mapping.
    Fields(&'static [(&'static str, Part)]),
    /// This part of each item of a list, or of each value of a mapping; at most [`ITEMS`].
    Each(&'static Part),
}

/// What a client needs of `metadata`: not `managedFields`, which repeat the nesting of what was written.
pub const METADATA: Part = Part::Fields(&[
    ("name", Part::Scalar),
    ("namespace", Part::Scalar),
    ("uid", Part::Scalar),
    ("resourceVersion", Part::Scalar),
    ("generation", Part::Scalar),
    ("creationTimestamp", Part::Scalar),
    ("deletionTimestamp", Part::Scalar),
    ("labels", Part::Each(&Part::Scalar)),
    ("finalizers", Part::Each(&Part::Scalar)),
    (
        "ownerReferences",
        Part::Each(&Part::Fields(&[
            ("apiVersion", Part::Scalar),
            ("kind", Part::Scalar),
            ("name", Part::Scalar),
            ("uid", Part::Scalar),
        ])),
    ),
]);

pub const CONDITIONS: Part = Part::Each(&Part::Fields(&[
    ("type", Part::Scalar),
    ("status", Part::Scalar),
    ("reason", Part::Scalar),
    ("message", Part::Scalar),
    ("lastHeartbeatTime", Part::Scalar),
    ("lastTransitionTime", Part::Scalar),
    ("observedGeneration", Part::Scalar),
]));

/// The parts of an object that were asked for.
#[derive(Debug)]
pub struct Bounded {
    pub value: Value,
    /// Some of a document is nested deeper than is read.
    pub too_deep: bool,
}

/// Fails only on what is not JSON.
pub fn read<'de, D: Deserializer<'de>>(part: &'static Part, from: D) -> Result<Bounded, D::Error> {
    let too_deep = Cell::new(false);
    let value = Reader { part, depth: READ_DEPTH, too_deep: &too_deep }.deserialize(from)?;
    Ok(Bounded { value, too_deep: too_deep.get() })
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    part: &'static Part,
    depth: usize,
    too_deep: &'a Cell<bool>,
}

impl Reader<'_> {
    /// For a field or an item; none: it is skipped.
    fn below(self, key: Option<&str>, index: usize) -> Option<Self> {
        let part = match (self.part, key) {
            (Part::Document | Part::Excerpt, _) => self.part,
            (Part::Each(part), _) if index < ITEMS => part,
            (Part::Fields(fields), Some(key)) => &fields.iter().find(|(name, _)| *name == key)?.1,
            _ => return None,
        };
        if self.depth == 0 {
            self.too_deep.set(self.too_deep.get() || matches!(part, Part::Document));
            return None;
        }
        Some(Self { part, depth: self.depth - 1, ..self })
    }

    fn text(self, text: &str) -> Value {
        let long = !matches!(self.part, Part::Document | Part::Excerpt) && text.len() > TEXT;
        let boundary = || (0..=TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        let end = if long { boundary() } else { text.len() };
        text[..end].into()
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(self.text(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        loop {
            let more = match self.below(None, all.len()) {
                Some(reader) => items.next_element_seed(reader)?.map(|item| all.push(item)).is_some(),
                None => items.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                return Ok(all.into());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            match self.below(Some(&key), all.len()) {
                Some(reader) => {
                    let value = fields.next_value_seed(reader)?;
                    all.insert(key, value);
                }
                None => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(all.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PART: Part =
        Part::Fields(&[("metadata", METADATA), ("spec", Part::Document), ("conditions", CONDITIONS)]);

    fn parse(text: &str) -> Bounded {
        read(&PART, &mut serde_json::Deserializer::from_str(text)).unwrap()
    }

    fn nested(levels: usize) -> String {
        format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn what_is_not_needed_is_skipped_at_any_depth() {
        let deep = nested(100_000);
        let text = format!(
            r#"{{"status":{deep},"metadata":{{"name":"w1","managedFields":[{deep}]}},"spec":{{"a":[1,null]}}}}"#
        );
        let read = parse(&text);
        assert_eq!(read.value, json!({ "metadata": { "name": "w1" }, "spec": { "a": [1, null] } }));
        assert!(!read.too_deep);
    }

    #[test]
    fn a_document_that_is_too_deep_is_marked_and_cut() {
        let deep = |levels| parse(&format!(r#"{{"spec":{}}}"#, nested(levels))).too_deep;
        assert!(!deep(READ_DEPTH - 1) && deep(READ_DEPTH + 1) && deep(100_000));
    }

    #[test]
    fn lists_and_texts_of_a_status_are_bounded_and_strange_types_are_harmless() {
        let long = "ä".repeat(TEXT);
        let text = json!({ "conditions": [{ "type": { "a": "b" }, "message": long }, [7], "x"] }).to_string();
        let read = parse(&text).value;
        assert_eq!(read["conditions"][0]["message"].as_str().map(str::len), Some(TEXT));
        assert_eq!((&read["conditions"][0]["type"], &read["conditions"][1]), (&json!({}), &json!([])));
        let many = format!(r#"{{"conditions":[{}{{}}]}}"#, "{},".repeat(ITEMS + 5));
        assert_eq!(parse(&many).value["conditions"].as_array().map(Vec::len), Some(ITEMS));
    }
}
