//! What a column of a row holds (RFC 7047, section 5.1, `<value>`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::atom::{Atom, tagged};

/// A column that holds exactly one atom has `Atom`; an optional one has a `Set` of none or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datum {
    Atom(Atom),
    Set(BTreeSet<Atom>),
    Map(BTreeMap<Atom, Atom>),
}

impl Datum {
    pub fn set<A: Into<Atom>>(atoms: impl IntoIterator<Item = A>) -> Self {
        Datum::Set(atoms.into_iter().map(Into::into).collect())
    }

    pub fn map<K: Into<Atom>, V: Into<Atom>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Datum::Map(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }

    /// Without a schema: what the notation itself says. A set of one travels as that one, and is read as `Atom`.
    pub fn from_json(value: &Value) -> Option<Self> {
        match tagged(value) {
            Some(("set", Value::Array(atoms))) => {
                Some(Datum::Set(atoms.iter().map(Atom::from_json).collect::<Option<_>>()?))
            }
            Some(("map", Value::Array(pairs))) => {
                let pair = |pair: &Value| match pair.as_array()?.as_slice() {
                    [key, value] => Some((Atom::from_json(key)?, Atom::from_json(value)?)),
                    _ => None,
                };
                Some(Datum::Map(pairs.iter().map(pair).collect::<Option<_>>()?))
            }
            _ => Atom::from_json(value).map(Datum::Atom),
        }
    }

    pub fn to_json(&self) -> Value {
        match self {
            Datum::Atom(atom) => atom.to_json(),
            Datum::Set(atoms) => json!(["set", atoms.iter().map(Atom::to_json).collect::<Vec<_>>()]),
            Datum::Map(pairs) => {
                let pairs: Vec<_> =
                    pairs.iter().map(|(key, value)| [key.to_json(), value.to_json()]).collect();
                json!(["map", pairs])
            }
        }
    }

    /// How many atoms or pairs it has.
    pub fn len(&self) -> usize {
        match self {
            Datum::Atom(_) => 1,
            Datum::Set(atoms) => atoms.len(),
            Datum::Map(pairs) => pairs.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The only atom; none in an empty set, a set of several, or a map.
    pub fn single(&self) -> Option<&Atom> {
        match self {
            Datum::Atom(atom) => Some(atom),
            Datum::Set(atoms) if atoms.len() == 1 => atoms.first(),
            _ => None,
        }
    }

    /// The value of a key in a map of strings.
    pub fn key(&self, key: &str) -> Option<&str> {
        let Datum::Map(pairs) = self else { return None };
        pairs.get(&Atom::from(key)).and_then(Atom::as_str)
    }
}

impl<A: Into<Atom>> From<A> for Datum {
    fn from(atom: A) -> Self {
        Datum::Atom(atom.into())
    }
}

impl From<Datum> for Value {
    fn from(datum: Datum) -> Self {
        datum.to_json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_travel_as_the_rfc_writes_them() {
        let uuid = "01234567-89ab-cdef-0123-456789abcdef";
        for wire in [
            json!(["set", []]),
            json!(["set", [1, 2]]),
            json!(["map", [["a", "1"], ["b", "2"]]]),
            json!(["uuid", uuid]),
            json!(["set", [["named-uuid", "a"], ["named-uuid", "b"]]]),
            json!("text"),
            json!(true),
            json!(1.5),
        ] {
            assert_eq!(Datum::from_json(&wire).unwrap().to_json(), wire);
        }
        for wire in [json!(null), json!({}), json!(["set"]), json!(["map", [["a"]]]), json!(["uuid", "x"])] {
            assert_eq!(Datum::from_json(&wire), None, "{wire}");
        }
    }

    #[test]
    fn a_key_of_a_map_is_found() {
        let map = Datum::map([("a", "1")]);
        assert_eq!((map.key("a"), map.key("b"), map.len()), (Some("1"), None, 1));
        assert_eq!(Datum::set(["x"]).single().and_then(Atom::as_str), Some("x"));
    }
}
