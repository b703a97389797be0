//! Instructions that this node took. On disk before anything is touched, so that an answer outlives a crash or a cut.

use std::collections::BTreeMap;

use linesman_api::condition::Condition;
use linesman_api::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Bound;
use crate::report::{Category, Outcome, Verdict};
use linesman_core::codes::endings::INTERRUPTED;
use linesman_core::keep::{Entry, Standing};
use linesman_core::policy::Policy;

/// So long a release is remembered whose policy is gone.
const MEMORY: u64 = 90 * 24 * 3600;

/// By name of the policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Orders(pub BTreeMap<String, Order>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Of the enactment: one that was made anew under the same name waits for no answer of ours.
    pub enactment: String,
    #[serde(default)]
    pub created: Time,
    pub generation: i64,
    pub attempt: i64,
    /// `releaseExpires` of the instruction: no other one is taken that does not end later.
    pub release: Time,
    /// What was asked for; none: it could not be read.
    pub policy: Option<Policy>,
    pub revert: bool,
    /// Seconds since 1970.
    #[serde(default)]
    pub taken: u64,
    /// What is about to be made; gone when it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// `metadata.uid` of the policy.
    #[serde(default)]
    pub of: String,
    /// What undoes it, of an enactment that is gone: the same policy may come back, and want that some day.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub back: Value,
    /// What is to be told, and whether it was.
    #[serde(default)]
    pub answer: Vec<Condition>,
    /// What nmstate calls the features that the state uses.
    #[serde(default)]
    pub features: Vec<String>,
    #[serde(default)]
    pub ended: bool,
    #[serde(default)]
    pub told: bool,
}

/// Worked out on the host as it was before: nobody could do so afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// Captures filled in.
    pub state: Value,
    /// What undoes it.
    pub back: Value,
}

impl Orders {
    /// The policy is gone from this node. Only when it was last released stays known: a backup may bring the instruction
    /// back, and it is to be no news then.
    pub fn bury(&mut self, name: &str, back: Value) {
        if let Some(order) = self.0.get_mut(name) {
            (order.policy, order.plan, order.answer) = (None, None, Vec::new());
            (order.ended, order.told) = (true, true);
            if !back.is_null() {
                order.back = back;
            }
        }
    }

    /// The way back from what this very policy made under an enactment that is gone.
    pub fn way_back(&self, bound: &Bound) -> Option<&Value> {
        let order = self.0.get(&bound.policy)?;
        let same = order.of == bound.spec.policy.uid;
        (same && !order.back.is_null()).then_some(&order.back)
    }

    pub fn forget_the_old(&mut self, now: Time) {
        self.0.retain(|_, order| order.policy.is_some() || now.since(order.release) < MEMORY);
    }
}

impl Order {
    pub fn of(bound: &Bound, policy: Option<Policy>) -> Self {
        Self {
            enactment: bound.uid.clone(),
            created: bound.created,
            generation: bound.spec.policy.generation,
            attempt: bound.spec.attempt,
            release: bound.spec.release_expires.unwrap_or_default(),
            policy,
            revert: bound.spec.revert,
            taken: 0,
            plan: None,
            of: bound.spec.policy.uid.clone(),
            back: Value::Null,
            answer: Vec::new(),
            features: Vec::new(),
            ended: false,
            told: false,
        }
    }

    pub fn answer(&mut self, conditions: Vec<Condition>, ended: bool) {
        (self.answer, self.ended, self.told) = (conditions, ended, false);
        self.plan.take_if(|_| ended);
    }

    /// How it ended, if the agent died before it could say so and the journal knows nothing of it. The ledger is written
    /// first.
    pub fn after_a_crash(&self, entry: Option<&Entry>) -> Outcome {
        let known = entry.filter(|entry| self.policy.as_ref() == Some(&entry.policy));
        let (verdict, category, reason) = match known.map(|entry| &entry.standing) {
            Some(Standing::Kept) if !self.revert => (Verdict::Committed, None, None),
            None if self.revert && entry.is_none() => (Verdict::Committed, None, None),
            Some(Standing::RolledBack { reason }) => {
                (Verdict::RolledBack, Some(Category::RolledBack), Some(reason.clone()))
            }
            _ => {
                let reason = format!("the agent was interrupted in mid-change [{INTERRUPTED}]");
                (Verdict::RolledBack, Some(Category::RolledBack), Some(reason))
            }
        };
        Outcome { category, reason, ..Outcome::new(verdict) }
    }
}

#[cfg(test)]
mod tests {
    use linesman_api::enactment::{EnactmentSpec, PolicyRef};
    use serde_json::json;

    use super::*;

    fn bound(uid: &str) -> Bound {
        let policy = PolicyRef { name: "a".into(), uid: uid.into(), generation: 1 };
        let spec = EnactmentSpec { policy, ..EnactmentSpec::default() };
        Bound {
            policy: "a".into(),
            uid: "e".into(),
            created: Time(5),
            generation: 1,
            spec,
            status: Default::default(),
        }
    }

    #[test]
    fn the_way_back_outlives_an_enactment_for_the_same_policy_alone() {
        let mut orders = Orders([("a".to_string(), Order::of(&bound("u"), None))].into());
        assert_eq!(orders.way_back(&bound("u")), None);
        let back = json!({ "interfaces": [{ "name": "br1", "state": "absent" }] });
        orders.bury("a", back.clone());
        orders.bury("a", Value::Null);
        assert_eq!(orders.way_back(&bound("u")), Some(&back));
        assert_eq!(orders.way_back(&bound("v")), None, "another policy of the same name");
    }
}
