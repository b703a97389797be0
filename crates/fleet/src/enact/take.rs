//! What of the enactments concerns this node now.

use std::collections::BTreeMap;

use linesman_api::enactment::{EnactmentSpec, EnactmentStatus, Stage};
use linesman_api::time::Time;
use serde_json::json;

use super::{Order, Orders};
use linesman_core::check::{Schema, check};
use linesman_core::diagnostic::Diagnostic;
use linesman_core::document::Document;
use linesman_core::keep::{Ledger, Standing};
use linesman_core::policy::Policy;

/// An enactment of this node, as it was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The name of its policy.
    pub policy: String,
    pub uid: String,
    /// By the API server's clock; tells one that was made anew from one that a backup brought back.
    pub created: Time,
    /// `metadata.generation`.
    pub generation: i64,
    pub spec: EnactmentSpec,
    pub status: EnactmentStatus,
}

/// Why an instruction cannot be carried out on any host; each with its place.
pub type Refused = Vec<Diagnostic>;

/// Whether the instruction is one that this node may take and has not taken.
pub fn fresh(bound: &Bound, orders: &Orders) -> bool {
    let is_new = orders.0.get(&bound.policy).is_none_or(|order| match order.enactment == bound.uid {
        true => bound.spec.release_expires > Some(order.release),
        false => bound.created >= order.created,
    });
    bound.spec.stage == Stage::Released && bound.spec.release_expires.is_some() && is_new
}

/// The instruction as a policy, checked like any document.
pub fn policy(bound: &Bound, schema: Schema<'_>) -> Result<Policy, Refused> {
    let spec = &bound.spec;
    let state = spec.desired_state.clone().unwrap_or_else(|| json!({}));
    let mut told = json!({ "desiredState": state });
    if !spec.capture.is_empty() {
        told["capture"] = json!(spec.capture);
    }
    let document = Document::parse(&bound.policy, &told.to_string())?;
    let problems = check(&document, schema);
    if !problems.is_empty() {
        return Err(problems);
    }
    let policy = document.to_policy(&bound.policy);
    Ok(Policy { name: bound.policy.clone(), options: spec.options.clone(), ..policy })
}

/// A release is an order to try, even what was tried before as it is: whoever gave it waits for an answer.
pub fn try_again(policy: &Policy, ledger: &mut Ledger) {
    if let Some(entry) = ledger.0.get_mut(&policy.name).filter(|entry| entry.policy == *policy) {
        entry.turn(Standing::Waiting { reason: "released again".into(), attempts: 0, until: 0 });
    }
}

/// What this node keeps.
#[derive(Debug, Default, PartialEq)]
pub struct Taken {
    pub policies: Vec<Policy>,
    /// Those that are left as they are, and why: nothing is tried again without a new release.
    pub still: BTreeMap<String, String>,
}

/// What this node took last of each policy, as long as the policy has an enactment here.
pub fn taken<'a>(names: impl IntoIterator<Item = &'a str>, orders: &Orders, ledger: &Ledger) -> Taken {
    let mut taken = Taken::default();
    for name in names {
        match (orders.0.get(name), ledger.get(name)) {
            (Some(Order { ended: false, revert: true, .. }), _) => {}
            (Some(Order { ended: false, policy: Some(policy), .. }), _) => {
                taken.policies.push(policy.clone())
            }
            (_, Some(entry)) => match &entry.standing {
                Standing::Kept | Standing::RolledBack { .. } => taken.policies.push(entry.policy.clone()),
                Standing::Waiting { reason, .. } | Standing::RevertFailed { reason } => {
                    taken.still.insert(name.into(), reason.clone());
                }
            },
            (_, None) => {}
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::policy::Options;
    use serde_json::Value;

    fn bound(stage: Stage, until: u64) -> Bound {
        let spec = EnactmentSpec {
            stage,
            release_expires: Some(Time(until)),
            desired_state: Some(
                json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up" }] }),
            ),
            ..EnactmentSpec::default()
        };
        Bound {
            policy: "a".into(),
            uid: "u1".into(),
            created: Time(5),
            generation: 1,
            spec,
            status: EnactmentStatus::default(),
        }
    }

    fn took(until: u64, ended: bool) -> Orders {
        let one = bound(Stage::Released, until);
        let order = Order { ended, ..Order::of(&one, policy(&one, &|_| Ok(())).ok()) };
        Orders([("a".to_string(), order)].into())
    }

    #[test]
    fn only_a_later_release_is_taken() {
        assert!(fresh(&bound(Stage::Released, 10), &Orders::default()));
        assert!(fresh(&bound(Stage::Released, 11), &took(10, true)));
        for until in [9, 10] {
            assert!(!fresh(&bound(Stage::Released, until), &took(10, true)), "old news until {until}");
        }
        for stage in [Stage::Bound, Stage::Claimed, Stage::Expired] {
            assert!(!fresh(&bound(stage, 11), &took(10, true)), "{stage:?}");
        }
        let anew = |created| Bound { uid: "u2".into(), created: Time(created), ..bound(Stage::Released, 10) };
        assert!(fresh(&anew(5), &took(10, true)), "made anew within the same second");
        assert!(!fresh(&anew(4), &took(10, true)), "from a backup of before");
        let never = Bound {
            spec: EnactmentSpec { stage: Stage::Released, ..EnactmentSpec::default() },
            ..bound(Stage::Bound, 0)
        };
        assert!(!fresh(&never, &Orders::default()), "a release without an end is none");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let mut wrong = bound(Stage::Released, 10);
        wrong.spec.desired_state = Some(json!({ "interfaces": [{ "nam": "br1" }] }));
        let problems = policy(&wrong, &|_| Ok(())).unwrap_err();
        assert!(problems[0].path.is_some(), "{problems:?}");
    }

    #[test]
    fn an_empty_policy_is_a_policy() {
        let mut empty = bound(Stage::Released, 10);
        empty.spec.desired_state = None;
        assert_eq!(policy(&empty, &|_| Ok(())).unwrap().state, json!({}));
    }

    #[test]
    fn what_is_released_again_is_due_again() {
        let policy = policy(&bound(Stage::Released, 10), &|_| Ok(())).unwrap();
        for standing in [Standing::Kept, Standing::RolledBack { reason: String::new() }] {
            let entry = linesman_core::keep::Entry {
                policy: policy.clone(),
                standing,
                since: 0,
                state: Value::Null,
                back: Value::Null,
                corrections: linesman_core::keep::Fight::default(),
            };
            let mut ledger = Ledger([("a".to_string(), entry)].into());
            try_again(&policy, &mut ledger);
            let situation = linesman_core::keep::Situation {
                policies: std::slice::from_ref(&policy),
                unreadable: &std::collections::BTreeSet::new(),
                ledger: &ledger,
                held: false,
                drift: &BTreeMap::new(),
                now: 1,
            };
            assert_eq!(
                linesman_core::keep::decide(&situation),
                linesman_core::keep::Next::Apply(vec!["a".into()])
            );
        }
    }

    #[test]
    fn what_ended_badly_waits_for_a_new_release() {
        let one = bound(Stage::Released, 10);
        let policy = policy(&one, &|_| Ok(())).unwrap();
        let entry = |standing| linesman_core::keep::Entry {
            policy: Policy { options: Options::default(), ..policy.clone() },
            standing,
            since: 0,
            state: Value::Null,
            back: Value::Null,
            corrections: linesman_core::keep::Fight::default(),
        };
        let ledger = |standing| Ledger([("a".to_string(), entry(standing))].into());
        let waiting = || ledger(Standing::Waiting { reason: String::new(), attempts: 1, until: 0 });
        let look = |orders: &Orders, ledger: &Ledger| {
            let taken = taken(["a"], orders, ledger);
            (taken.policies, taken.still.into_keys().collect::<Vec<_>>())
        };
        assert_eq!(look(&took(10, false), &waiting()), (vec![policy.clone()], vec![]));
        assert_eq!(look(&took(10, true), &waiting()), (vec![], vec!["a".to_string()]));
        assert_eq!(look(&took(10, true), &ledger(Standing::Kept)), (vec![policy.clone()], vec![]));
        assert_eq!(taken([], &took(10, true), &ledger(Standing::Kept)), Taken::default());
    }
}
