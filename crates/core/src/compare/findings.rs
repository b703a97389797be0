//! Collecting differences, and the comparison of plain values.

use std::net::IpAddr;
use std::str::FromStr;

use serde_json::Value;

use super::Difference;
use crate::mac_address::MacAddress;
use crate::path::Path;
use crate::secrets::HIDDEN;

#[derive(Debug, Default)]
pub(super) struct Findings(pub(super) Vec<Difference>);

impl Findings {
    pub(super) fn add(&mut self, path: Path, want: impl Into<Value>, got: impl Into<Value>) {
        self.0.push(Difference { path, want: want.into(), got: got.into() });
    }

    pub(super) fn missing(&mut self, path: Path, want: impl Into<Value>) {
        self.add(path, want, Value::Null);
    }

    pub(super) fn surplus(&mut self, path: Path, got: impl Into<Value>) {
        self.add(path, Value::Null, got);
    }

    /// Everything that `want` says must be so in `got`; what it leaves out may be as it likes.
    pub(super) fn holds(&mut self, path: &Path, want: &Value, got: Option<&Value>) {
        match (want, got) {
            (Value::Null, _) => {}
            (Value::Object(want), got) => {
                for (key, want) in want {
                    self.holds(&path.key(key), want, got.and_then(|got| got.get(key)));
                }
            }
            (Value::Array(want), Some(Value::Array(got))) if want.len() == got.len() => {
                for (index, (want, got)) in want.iter().zip(got).enumerate() {
                    self.holds(&path.index(index), want, Some(got));
                }
            }
            (want, got) => self.equal(path, want, got.unwrap_or(&Value::Null)),
        }
    }

    pub(super) fn equal(&mut self, path: &Path, want: &Value, got: &Value) {
        if !same(want, got) {
            self.add(path.clone(), want.clone(), got.clone());
        }
    }

    /// Two lists whose order means nothing.
    pub(super) fn same_set(&mut self, path: &Path, want: &Value, got: Option<&Value>) {
        let empty = Value::Array(Vec::new());
        let got = got.unwrap_or(&empty);
        if sorted(want) != sorted(got) {
            self.add(path.clone(), want.clone(), got.clone());
        }
    }
}

fn sorted(list: &Value) -> Vec<String> {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let mut texts: Vec<String> = items.iter().map(Value::to_string).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn same(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::String(want), Value::String(got)) => same_text(want, got),
        (Value::Number(want), Value::Number(got)) => want.as_i128() == got.as_i128(),
        _ => want == got,
    }
}

/// MAC addresses in any case and IP addresses in any spelling are the same.
pub(super) fn same_text(want: &str, got: &str) -> bool {
    fn equal<T: FromStr + PartialEq>(one: &str, other: &str) -> bool {
        one.parse::<T>().is_ok_and(|one| other.parse::<T>().is_ok_and(|other| one == other))
    }
    want == got
        || want == HIDDEN
        || got == HIDDEN
        || equal::<MacAddress>(want, got)
        || equal::<IpAddr>(want, got)
}
