//! Values as people and programs get to see them.

use serde::ser::{SerializeStruct, Serializer};
use serde_json::Value;

use super::{MASK, is_secret, mask_value};
use crate::path::{Path, PathStep};

/// Whether what is written at this place is a secret, or part of one.
pub fn is_secret_place(path: &Path) -> bool {
    path.steps().iter().any(|step| matches!(step, PathStep::Key(key) if is_secret(key)))
}

/// What is at `path`, without its secrets.
pub fn shown(path: &Path, value: &Value) -> Value {
    let mut value = value.clone();
    if is_secret_place(path) && !value.is_null() && !value.is_boolean() {
        return MASK.into();
    }
    mask_value(&mut value);
    value
}

/// A place with what is wanted and what is there, as it leaves the process: to a file, a terminal or a cluster.
pub(crate) fn serialize_change<S: Serializer>(
    serializer: S,
    name: &'static str,
    (path, want, got): (&Path, &Value, &Value),
) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct(name, 3)?;
    fields.serialize_field("path", path)?;
    fields.serialize_field("want", &shown(path, want))?;
    fields.serialize_field("got", &shown(path, got))?;
    fields.end()
}

/// Implements `Serialize` for a struct of `path`, `want` and `got`.
macro_rules! serialize_masked {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let fields = (&self.path, &self.want, &self.got);
                crate::secrets::serialize_change(serializer, stringify!($name), fields)
            }
        }
    };
}
pub(crate) use serialize_masked;
