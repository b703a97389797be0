//! Why a setting is not applied: what, where, and what to do about it.

use std::fmt;

use linesman_api::reasons::SettingReason;

use super::document::Place;

pub use linesman_api::reasons::SettingReason as Cause;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    pub place: Option<Place>,
    pub key: String,
    pub cause: SettingReason,
    pub message: String,
    pub remedy: String,
}

impl Refusal {
    pub fn new(
        key: impl fmt::Display,
        place: Option<Place>,
        cause: Cause,
        message: String,
        remedy: impl Into<String>,
    ) -> Self {
        Self { key: shown(&key.to_string()), place, cause, message, remedy: remedy.into() }
    }
}

/// It goes to terminals and into the cluster.
fn shown(key: &str) -> String {
    let plain = |character: char| match character.is_control() {
        true => character.escape_default().collect(),
        false => character.to_string(),
    };
    key.chars().map(plain).collect()
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        let key = if self.key.is_empty() { "the document" } else { &self.key };
        write!(f, "{key}: {}; {}", self.message, self.remedy)
    }
}
