//! One condition of an object.

use serde::{Deserialize, Serialize};

use crate::time::Time;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Truth {
    True,
    False,
    #[default]
    Unknown,
}

/// As kubernetes-nmstate writes them. The heartbeat moves only when something else does: a status that did
/// not change is not written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: Truth,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_heartbeat_time: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// The generation of the object that the condition was set for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

impl Condition {
    pub fn new(
        kind: impl AsRef<str>,
        status: Truth,
        reason: impl AsRef<str>,
        message: impl Into<String>,
    ) -> Self {
        let (kind, reason) = (kind.as_ref().into(), reason.as_ref().into());
        Self { kind, status, reason, message: message.into(), ..Self::default() }
    }

    pub fn is_true(&self) -> bool {
        self.status == Truth::True
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.kind, self.status, &self.reason, &self.message, self.observed_generation)
            == (&other.kind, other.status, &other.reason, &other.message, other.observed_generation)
    }
}

pub fn find(conditions: &[Condition], kind: impl AsRef<str>) -> Option<&Condition> {
    conditions.iter().find(|condition| condition.kind == kind.as_ref())
}

pub fn is_true(conditions: &[Condition], kind: impl AsRef<str>) -> bool {
    find(conditions, kind).is_some_and(Condition::is_true)
}

/// `new` with times: an unchanged condition keeps both; a transition is a change of status.
pub fn dated(old: &[Condition], new: Vec<Condition>, now: Time) -> Vec<Condition> {
    let date = |mut condition: Condition| {
        let before = find(old, &condition.kind);
        if let Some(same) = before.filter(|before| before.is_same(&condition)) {
            return same.clone();
        }
        let steady = before.filter(|before| before.status == condition.status);
        condition.last_transition_time = steady.and_then(|before| before.last_transition_time).or(Some(now));
        condition.last_heartbeat_time = Some(now);
        condition
    };
    new.into_iter().map(date).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_only_with_what_they_date() {
        let condition = |status, message: &str| vec![Condition::new("Available", status, "R", message)];
        let first = dated(&[], condition(Truth::False, "a"), Time(10));
        assert_eq!(first[0].last_transition_time, Some(Time(10)));
        assert_eq!(dated(&first, condition(Truth::False, "a"), Time(20)), first);
        let second = dated(&first, condition(Truth::False, "b"), Time(20));
        assert_eq!(second[0].last_transition_time, Some(Time(10)));
        assert_eq!(second[0].last_heartbeat_time, Some(Time(20)));
        let third = dated(&second, condition(Truth::True, "b"), Time(30));
        assert_eq!(third[0].last_transition_time, Some(Time(30)));
    }
}
