//! The smallest values (RFC 7047, section 5.1, `<atom>`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde_json::{Value, json};

use super::uuid::Uuid;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Integer(i64),
    Real(Real),
    Boolean(bool),
    String(String),
    Uuid(Uuid),
    /// A row that the same transaction inserts under this name.
    NamedUuid(String),
}

/// A number with a total order, so that it can be an element of a set.
#[derive(Clone, Copy)]
pub struct Real(pub f64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtomKind {
    Integer,
    Real,
    Boolean,
    String,
    Uuid,
}

impl AtomKind {
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "integer" => Self::Integer,
            "real" => Self::Real,
            "boolean" => Self::Boolean,
            "string" => Self::String,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Uuid => "uuid",
        }
    }

    /// What a column holds that nobody has written.
    pub fn default_atom(self) -> Atom {
        match self {
            Self::Integer => Atom::Integer(0),
            Self::Real => Atom::Real(Real(0.0)),
            Self::Boolean => Atom::Boolean(false),
            Self::String => Atom::String(String::new()),
            Self::Uuid => Atom::Uuid(Uuid::ZERO),
        }
    }

    /// None: the value is of another kind.
    pub fn decode(self, value: &Value) -> Option<Atom> {
        Some(match self {
            Self::Integer => Atom::Integer(value.as_i64()?),
            Self::Real => Atom::Real(Real(value.as_f64()?)),
            Self::Boolean => Atom::Boolean(value.as_bool()?),
            Self::String => Atom::String(value.as_str()?.to_owned()),
            Self::Uuid => match tagged(value)? {
                ("uuid", Value::String(uuid)) => Atom::Uuid(uuid.parse().ok()?),
                ("named-uuid", Value::String(name)) => Atom::NamedUuid(name.clone()),
                _ => return None,
            },
        })
    }
}

/// OVSDB writes what JSON has no notation for as a pair: what it is, and its value.
pub(super) fn tagged(value: &Value) -> Option<(&str, &Value)> {
    match value.as_array()?.as_slice() {
        [Value::String(tag), inner] => Some((tag, inner)),
        _ => None,
    }
}

impl Atom {
    /// Without a schema: what the notation itself says.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Atom::String(text.clone())),
            Value::Bool(flag) => Some(Atom::Boolean(*flag)),
            Value::Number(number) => Some(match number.as_i64() {
                Some(integer) => Atom::Integer(integer),
                None => Atom::Real(Real(number.as_f64()?)),
            }),
            Value::Array(_) => AtomKind::Uuid.decode(value),
            _ => None,
        }
    }

    pub fn to_json(&self) -> Value {
        match self {
            Atom::Integer(integer) => json!(integer),
            Atom::Real(real) => json!(real.0),
            Atom::Boolean(flag) => json!(flag),
            Atom::String(text) => json!(text),
            Atom::Uuid(uuid) => json!(["uuid", uuid.to_string()]),
            Atom::NamedUuid(name) => json!(["named-uuid", name]),
        }
    }

    pub fn kind(&self) -> AtomKind {
        match self {
            Atom::Integer(_) => AtomKind::Integer,
            Atom::Real(_) => AtomKind::Real,
            Atom::Boolean(_) => AtomKind::Boolean,
            Atom::String(_) => AtomKind::String,
            Atom::Uuid(_) | Atom::NamedUuid(_) => AtomKind::Uuid,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Atom::String(text) = self { Some(text) } else { None }
    }

    pub fn as_integer(&self) -> Option<i64> {
        if let Atom::Integer(integer) = self { Some(*integer) } else { None }
    }

    pub fn as_real(&self) -> Option<f64> {
        if let Atom::Real(real) = self { Some(real.0) } else { None }
    }

    pub fn as_boolean(&self) -> Option<bool> {
        if let Atom::Boolean(flag) = self { Some(*flag) } else { None }
    }

    pub fn as_uuid(&self) -> Option<Uuid> {
        if let Atom::Uuid(uuid) = self { Some(*uuid) } else { None }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Uuid(uuid) => uuid.fmt(formatter),
            other => other.to_json().fmt(formatter),
        }
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl From<&str> for Atom {
    fn from(text: &str) -> Self {
        Atom::String(text.to_owned())
    }
}

impl From<String> for Atom {
    fn from(text: String) -> Self {
        Atom::String(text)
    }
}

impl From<i64> for Atom {
    fn from(integer: i64) -> Self {
        Atom::Integer(integer)
    }
}

impl From<f64> for Atom {
    fn from(real: f64) -> Self {
        Atom::Real(Real(real))
    }
}

impl From<bool> for Atom {
    fn from(flag: bool) -> Self {
        Atom::Boolean(flag)
    }
}

impl From<Uuid> for Atom {
    fn from(uuid: Uuid) -> Self {
        Atom::Uuid(uuid)
    }
}

impl From<Atom> for Value {
    fn from(atom: Atom) -> Self {
        atom.to_json()
    }
}

impl From<Uuid> for Value {
    fn from(uuid: Uuid) -> Self {
        Atom::Uuid(uuid).to_json()
    }
}

impl Real {
    /// To the database, both zeros are one value.
    fn folded(self) -> f64 {
        if self.0 == 0.0 { 0.0 } else { self.0 }
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.folded().total_cmp(&other.folded())
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Real {}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().to_bits().hash(state);
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
