//! Which enactments this node carries out.

use std::collections::BTreeMap;

use linesman_api::enactment::{EnactmentSpec, EnactmentStatus, Stage};
use linesman_api::time::Time;
use serde_json::json;

use super::{AcceptedRelease, AcceptedReleases};
use linesman_core::check::{Schema, check, check_options};
use linesman_core::diagnostic::Diagnostic;
use linesman_core::document::Document;
use linesman_core::policy::Policy;
use linesman_core::reconcile::{Ledger, PolicyState};

/// An enactment of this node, as it was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The name of its policy.
    pub policy: String,
    pub uid: String,
    /// By the API server's clock; distinguishes a recreated one from one that a backup brought back.
    pub created: Time,
    /// `metadata.generation`.
    pub generation: i64,
    pub spec: EnactmentSpec,
    pub status: EnactmentStatus,
}

/// An enactment of this node whose spec cannot be read, perhaps because a newer operator wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Unreadable {
    pub policy: String,
    pub uid: String,
    pub generation: i64,
    pub attempt: i64,
    /// Which field, and why.
    pub error: String,
    pub status: EnactmentStatus,
}

/// Whether this node has begun what the enactment asks for, by its own report.
pub fn is_begun(bound: &Bound) -> bool {
    bound.status.attempt == Some(bound.spec.attempt)
}

/// Whether the enactment carries a release that this node has not accepted yet. If the file of accepted releases was lost, the
/// status proves which one was begun.
pub fn is_new_release(bound: &Bound, releases: &AcceptedReleases) -> bool {
    let is_new = match releases.0.get(&bound.policy) {
        None => !is_begun(bound),
        Some(release) if release.enactment_uid == bound.uid => {
            bound.spec.release_expires > Some(release.release_expires)
        }
        Some(release) => bound.created >= release.created,
    };
    bound.spec.stage == Stage::Released && bound.spec.release_expires.is_some() && is_new
}

/// The enactment as a policy, checked like any document. An error carries why it cannot be carried out on any host.
pub fn policy(bound: &Bound, schema: Schema<'_>) -> Result<Policy, Vec<Diagnostic>> {
    let spec = &bound.spec;
    let state = spec.desired_state.clone().unwrap_or_else(|| json!({}));
    let mut document = json!({ "desiredState": state });
    if !spec.capture.is_empty() {
        document["capture"] = json!(spec.capture);
    }
    let document = Document::parse(&bound.policy, &document.to_string())?;
    let problems = [check_options(&spec.options), check(&document, schema)].concat();
    if !problems.is_empty() {
        return Err(problems);
    }
    let policy = document.to_policy(&bound.policy);
    Ok(Policy { name: bound.policy.clone(), options: spec.options.clone(), ..policy })
}

/// A release asks for an attempt, even of a policy that was tried before unchanged: the operator waits for the outcome.
pub fn make_due(policy: &Policy, ledger: &mut Ledger) {
    if let Some(entry) = ledger.0.get_mut(&policy.name).filter(|entry| entry.policy == *policy) {
        entry.transition(PolicyState::Waiting { reason: "released again".into(), attempts: 0, until: 0 });
    }
}

/// The policies of this node, by what it accepted.
#[derive(Debug, Default, PartialEq)]
pub struct Accepted {
    pub policies: Vec<Policy>,
    /// Policies that wait for a new release before another attempt, and why.
    pub waiting: BTreeMap<String, String>,
}

/// What this node accepted last of each policy, as long as the policy has an enactment here.
pub fn accepted<'a>(
    names: impl IntoIterator<Item = &'a str>,
    releases: &AcceptedReleases,
    ledger: &Ledger,
) -> Accepted {
    let mut accepted = Accepted::default();
    for name in names {
        match (releases.0.get(name), ledger.get(name)) {
            (Some(AcceptedRelease { ended: false, revert: true, .. }), _) => {}
            (Some(AcceptedRelease { ended: false, policy: Some(policy), .. }), _) => {
                accepted.policies.push(policy.clone())
            }
            (_, Some(entry)) => match &entry.policy_state {
                PolicyState::Applied | PolicyState::RolledBack { .. } => {
                    accepted.policies.push(entry.policy.clone())
                }
                PolicyState::Waiting { reason, .. } | PolicyState::RevertFailed { reason } => {
                    accepted.waiting.insert(name.into(), reason.clone());
                }
            },
            (_, None) => {}
        }
    }
    accepted
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

    fn accepted_until(until: u64, ended: bool) -> AcceptedReleases {
        let one = bound(Stage::Released, until);
        let release = AcceptedRelease { ended, ..AcceptedRelease::of(&one, policy(&one, &|_| Ok(())).ok()) };
        AcceptedReleases([("a".to_string(), release)].into())
    }

    #[test]
    fn only_a_later_release_is_accepted() {
        assert!(is_new_release(&bound(Stage::Released, 10), &AcceptedReleases::default()));
        assert!(is_new_release(&bound(Stage::Released, 11), &accepted_until(10, true)));
        for until in [9, 10] {
            assert!(
                !is_new_release(&bound(Stage::Released, until), &accepted_until(10, true)),
                "outdated, until {until}"
            );
        }
        for stage in [Stage::Bound, Stage::Claimed, Stage::Expired] {
            assert!(!is_new_release(&bound(stage, 11), &accepted_until(10, true)), "{stage:?}");
        }
        let anew = |created| Bound { uid: "u2".into(), created: Time(created), ..bound(Stage::Released, 10) };
        assert!(is_new_release(&anew(5), &accepted_until(10, true)), "recreated within the same second");
        assert!(!is_new_release(&anew(4), &accepted_until(10, true)), "from a backup of before");
        let never = Bound {
            spec: EnactmentSpec { stage: Stage::Released, ..EnactmentSpec::default() },
            ..bound(Stage::Bound, 0)
        };
        assert!(!is_new_release(&never, &AcceptedReleases::default()), "a release without an end is none");
    }

    #[test]
    fn a_release_that_was_begun_is_not_new_though_its_record_is_lost() {
        let mut begun = bound(Stage::Released, 10);
        (begun.spec.attempt, begun.status.attempt) = (2, Some(1));
        assert!(is_new_release(&begun, &AcceptedReleases::default()), "that was the one before");
        begun.status.attempt = Some(2);
        assert!(!is_new_release(&begun, &AcceptedReleases::default()));
    }

    #[test]
    fn an_invalid_enactment_is_reported_with_its_place() {
        let mut wrong = bound(Stage::Released, 10);
        wrong.spec.desired_state = Some(json!({ "interfaces": [{ "nam": "br1" }] }));
        let problems = policy(&wrong, &|_| Ok(())).unwrap_err();
        assert!(problems[0].path.is_some(), "{problems:?}");
    }

    #[test]
    fn a_policy_is_not_applied_without_a_probe_that_cannot_be_read() {
        let mut wrong = bound(Stage::Released, 10);
        wrong.spec.options.probes = Some(vec!["dns".into(), "gateway,timout=5s".into()]);
        wrong.spec.options.patience = Some(1_000_000);
        let problems = policy(&wrong, &|_| Ok(())).unwrap_err();
        let lines: Vec<String> = problems.iter().map(Diagnostic::line).collect();
        assert_eq!(
            lines,
            [
                "probes[1]: \"gateway,timout=5s\" is not a probe: it has no option \"timout=5s\" [LM0018]",
                "patience: it is at most 3600 seconds and cannot be 1000000 [LM0018]"
            ]
        );
    }

    #[test]
    fn an_empty_policy_is_a_policy() {
        let mut empty = bound(Stage::Released, 10);
        empty.spec.desired_state = None;
        assert_eq!(policy(&empty, &|_| Ok(())).unwrap().state, json!({}));
    }

    #[test]
    fn a_policy_that_is_released_again_is_due_again() {
        let policy = policy(&bound(Stage::Released, 10), &|_| Ok(())).unwrap();
        for policy_state in [PolicyState::Applied, PolicyState::RolledBack { reason: String::new() }] {
            let entry = linesman_core::reconcile::Entry {
                policy: policy.clone(),
                policy_state,
                since: 0,
                applied_state: Value::Null,
                revert_state: Value::Null,
                captured: None,
                drifted_since: None,
                corrections: linesman_core::reconcile::CorrectionHistory::default(),
            };
            let mut ledger = Ledger([("a".to_string(), entry)].into());
            make_due(&policy, &mut ledger);
            let situation = linesman_core::reconcile::Situation {
                policies: std::slice::from_ref(&policy),
                unreadable: &std::collections::BTreeSet::new(),
                ledger: &ledger,
                frozen: false,
                drift: &BTreeMap::new(),
                now: 1,
            };
            assert_eq!(
                linesman_core::reconcile::decide(&situation),
                linesman_core::reconcile::Next::Apply(vec!["a".into()])
            );
        }
    }

    #[test]
    fn a_failed_policy_waits_for_a_new_release() {
        let one = bound(Stage::Released, 10);
        let policy = policy(&one, &|_| Ok(())).unwrap();
        let entry = |policy_state| linesman_core::reconcile::Entry {
            policy: Policy { options: Options::default(), ..policy.clone() },
            policy_state,
            since: 0,
            applied_state: Value::Null,
            revert_state: Value::Null,
            captured: None,
            drifted_since: None,
            corrections: linesman_core::reconcile::CorrectionHistory::default(),
        };
        let ledger = |policy_state| Ledger([("a".to_string(), entry(policy_state))].into());
        let waiting = || ledger(PolicyState::Waiting { reason: String::new(), attempts: 1, until: 0 });
        let of = |releases: &AcceptedReleases, ledger: &Ledger| {
            let accepted = accepted(["a"], releases, ledger);
            (accepted.policies, accepted.waiting.into_keys().collect::<Vec<_>>())
        };
        assert_eq!(of(&accepted_until(10, false), &waiting()), (vec![policy.clone()], vec![]));
        assert_eq!(of(&accepted_until(10, true), &waiting()), (vec![], vec!["a".to_string()]));
        assert_eq!(
            of(&accepted_until(10, true), &ledger(PolicyState::Applied)),
            (vec![policy.clone()], vec![])
        );
        assert_eq!(
            accepted([], &accepted_until(10, true), &ledger(PolicyState::Applied)),
            Accepted::default()
        );
    }
}
