//! The status of an enactment, and whether it has to be published.

use std::collections::BTreeMap;

use linesman_api::condition::{Condition, dated, find, is_true};
use linesman_api::conditions::EnactmentCondition::{Available, Drifted, Failing, Progressing};
use linesman_api::enactment::{CapturedState, EnactmentStatus, Stage};
use linesman_api::reasons::{EnactmentReason, ReleaseRequest};
use linesman_api::time::Time;

use super::{AcceptedRelease, AcceptedReleases, Bound, Unreadable, is_begun, is_new_release};
use crate::report::{self, Category, Outcome};
use crate::rollout::WaitingStatus;
use linesman_core::codes::failures::{INTERRUPTED, OLD_INSTRUCTION};
use linesman_core::compare::Difference;
use linesman_core::policy::Drift;
use linesman_core::reconcile::Entry;
use linesman_core::secrets::mask_value;
use serde_json::Value;

/// Published before anything is changed.
pub fn started(bound: &Bound, now: Time) -> EnactmentStatus {
    EnactmentStatus {
        policy_generation: Some(bound.spec.policy.generation),
        attempt: Some(bound.spec.attempt),
        observed_generation: Some(bound.generation),
        conditions: dated(&bound.status.conditions, report::applying(), now),
        ..EnactmentStatus::default()
    }
}

/// The status of an accepted release, if there is one and the cluster does not have it.
pub fn pending_status(
    release: &AcceptedRelease,
    bound: &Bound,
    entry: Option<&Entry>,
    drift: &[Difference],
    request: Option<ReleaseRequest>,
    now: Time,
) -> Option<EnactmentStatus> {
    // A newer release, or one that is being written, does not wait for the status of the one before.
    let current = bound.uid == release.enactment_uid
        && bound.spec.release_expires == Some(release.release_expires)
        && matches!(bound.spec.stage, Stage::Released | Stage::Expired);
    if !current || release.conditions.is_empty() {
        return None;
    }
    let drifted = release.ended.then(|| drifted(release, entry, drift)).flatten();
    // A cluster that was restored from a backup has lost the status.
    let lost = bound.status.attempt != Some(release.attempt) || !has(&bound.status, &release.conditions);
    let drift_changed = !has_drift(&bound.status.conditions, drifted.as_ref());
    let requests_release = request.filter(|_| release.ended).map(|request| request.to_string());
    let request_changed = bound.status.requests_release != requests_release;
    if release.published && !lost && !drift_changed && !request_changed {
        return None;
    }
    let conditions = release.conditions.iter().cloned().chain(drifted).collect();
    Some(EnactmentStatus {
        desired_state: applied(release, entry).map(|entry| masked(&entry.applied_state)),
        captured_states: applied(release, entry).map(captured_states).unwrap_or_default(),
        policy_generation: Some(release.generation),
        attempt: Some(release.attempt),
        observed_generation: Some(bound.generation),
        conditions: dated(&bound.status.conditions, conditions, now),
        requests_release,
        features: release.features.clone(),
        retry_count: retry_count(release),
        ..EnactmentStatus::default()
    })
}

fn masked(state: &Value) -> Value {
    let mut state = state.clone();
    mask_value(&mut state);
    state
}

/// What the captures of the applied policy found, by name.
fn captured_states(entry: &Entry) -> BTreeMap<String, CapturedState> {
    let found = entry.captured.as_ref().and_then(|captured| captured.found.as_object());
    let state = |(name, state): (&String, &Value)| {
        (name.clone(), CapturedState { state: Some(masked(state)), meta_info: None })
    };
    found.into_iter().flatten().map(state).collect()
}

/// By generation of the policy.
fn retry_count(release: &AcceptedRelease) -> BTreeMap<String, u64> {
    let failed = (release.failures > 0).then(|| (release.generation.to_string(), release.failures));
    failed.into_iter().collect()
}

/// A release from before what this node accepted last: the cluster was restored from a backup. Nothing is done for it, and
/// its status reports that; whatever its outcome once was, it is not valid any more.
pub fn outdated(bound: &Bound, releases: &AcceptedReleases, now: Time) -> Option<EnactmentStatus> {
    let release = releases.0.get(&bound.policy)?;
    let old = match release.enactment_uid == bound.uid {
        true => bound.spec.release_expires < Some(release.release_expires),
        false => bound.created < release.created,
    };
    if !matches!(bound.spec.stage, Stage::Released | Stage::Expired) || !old {
        return None;
    }
    let reason = "this release is older than the last one that the node accepted, as after a restored backup; \
                  edit the policy to roll it out again";
    let outcome =
        Outcome { code: Some(OLD_INSTRUCTION.into()), ..Outcome::abandoned(Category::Transient, reason) };
    let conditions = report::ended(&outcome, false);
    if bound.status.attempt == Some(bound.spec.attempt) && has(&bound.status, &conditions) {
        return None;
    }
    let conditions = dated(&bound.status.conditions, conditions, now);
    Some(EnactmentStatus { conditions, ..started(bound, now) })
}

/// A release that this node began and has no record of, because the files of the agent were lost in between. It is not begun
/// again: it may have been rolled back.
pub fn unrecorded(bound: &Bound, releases: &AcceptedReleases, now: Time) -> Option<EnactmentStatus> {
    let conditions = &bound.status.conditions;
    let ended =
        is_true(conditions, Available) || (is_true(conditions, Failing) && !is_true(conditions, Progressing));
    let released = matches!(bound.spec.stage, Stage::Released | Stage::Expired);
    if ended || !released || !is_begun(bound) || releases.0.contains_key(&bound.policy) {
        return None;
    }
    let message = format!(
        "[{INTERRUPTED}] the agent was interrupted and has lost its record of this release; whether the change was committed or \
         rolled back is not known; edit the policy to roll it out again"
    );
    let conditions = dated(conditions, report::unknown(&message), now);
    Some(EnactmentStatus { conditions, ..started(bound, now) })
}

/// The policy is applied, and this node has no record of it: whether it still holds, and what would revert it, is only known when
/// it is applied again.
pub fn lost_record(bound: &Bound, releases: &AcceptedReleases) -> Option<EnactmentStatus> {
    let released = matches!(bound.spec.stage, Stage::Released | Stage::Expired) && !bound.spec.revert;
    let applied = released && is_begun(bound) && is_true(&bound.status.conditions, Available);
    let requests_release = Some(ReleaseRequest::RecordLost.to_string());
    if !applied || releases.0.contains_key(&bound.policy) || bound.status.requests_release == requests_release
    {
        return None;
    }
    Some(EnactmentStatus { requests_release, ..bound.status.clone() })
}

/// An enactment that cannot be read fails, whatever it asks for; nothing is done for it.
pub fn unreadable(enactment: &Unreadable, now: Time) -> Option<EnactmentStatus> {
    let reason =
        format!("the agent cannot read the enactment: {}; upgrade the agent on this node", enactment.error);
    let conditions = report::ended(&Outcome::abandoned(Category::Transient, reason), false);
    let known = &enactment.status;
    if known.attempt == Some(enactment.attempt) && has(known, &conditions) {
        return None;
    }
    Some(EnactmentStatus {
        attempt: Some(enactment.attempt),
        observed_generation: Some(enactment.generation),
        conditions: dated(&known.conditions, conditions, now),
        ..EnactmentStatus::default()
    })
}

/// A release to a node that was frozen with `linesman freeze`: not an outcome, the release still waits for one.
pub fn frozen(bound: &Bound, releases: &AcceptedReleases, why: &str, now: Time) -> Option<EnactmentStatus> {
    // As the operator words it for nodes that it blocks itself.
    let message = format!("the node is {why}; run `linesman unfreeze` on it to continue");
    let conditions = WaitingStatus::pending(EnactmentReason::Blocked, message).conditions();
    if !is_new_release(bound, releases) || has(&bound.status, &conditions) {
        return None;
    }
    Some(EnactmentStatus {
        conditions: dated(&bound.status.conditions, conditions, now),
        ..bound.status.clone()
    })
}

/// Whether the status has these conditions already.
fn has(status: &EnactmentStatus, conditions: &[Condition]) -> bool {
    conditions.iter().all(|new| {
        let known = find(&status.conditions, &new.kind);
        known.is_some_and(|known| {
            (known.status, &known.reason, &known.message) == (new.status, &new.reason, &new.message)
        })
    })
}

fn applied<'a>(release: &AcceptedRelease, entry: Option<&'a Entry>) -> Option<&'a Entry> {
    entry.filter(|entry| entry.is_applied() && release.policy.as_ref() == Some(&entry.policy))
}

fn drifted(release: &AcceptedRelease, entry: Option<&Entry>, drift: &[Difference]) -> Option<Condition> {
    let entry = applied(release, entry)?;
    report::drift(drift).filter(|_| entry.policy.options.drift != Drift::Ignore)
}

fn has_drift(known: &[Condition], drifted: Option<&Condition>) -> bool {
    let known = find(known, Drifted).map(|c| (c.status, &c.reason, &c.message));
    known == drifted.map(|c| (c.status, &c.reason, &c.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_api::enactment::EnactmentSpec;
    use linesman_core::path::Path;
    use linesman_core::policy::{Options, Policy};
    use linesman_core::reconcile::{CorrectionHistory, PolicyState};
    use serde_json::json;

    fn bound(stage: Stage, until: u64, attempt: i64) -> Bound {
        let spec =
            EnactmentSpec { stage, attempt, release_expires: Some(Time(until)), ..EnactmentSpec::default() };
        let status = EnactmentStatus::default();
        Bound { policy: "a".into(), uid: "u".into(), created: Time(5), generation: 1, spec, status }
    }

    fn policy() -> Policy {
        let state = json!({ "interfaces": [{ "name": "br1", "psk": "hidden" }] });
        Policy { name: "a".into(), state, capture: None, options: Options::default() }
    }

    fn ended() -> AcceptedRelease {
        let mut release = AcceptedRelease::of(&bound(Stage::Released, 10, 1), Some(policy()));
        release.report(report::ended(&Outcome::committed(), false), true);
        release
    }

    fn entry() -> Entry {
        let state = policy().state;
        Entry {
            policy: policy(),
            policy_state: PolicyState::Applied,
            since: 0,
            applied_state: state,
            revert_state: Value::Null,
            captured: None,
            drifted_since: None,
            corrections: CorrectionHistory::default(),
        }
    }

    fn pending(release: &AcceptedRelease, bound: &Bound, drift: &[Difference]) -> Option<EnactmentStatus> {
        pending_status(release, bound, Some(&entry()), drift, None, Time(100))
    }

    #[test]
    fn a_status_is_published_once_and_again_to_a_cluster_that_lost_it() {
        let mut release = ended();
        let mut bound = bound(Stage::Released, 10, 1);
        let status = pending(&release, &bound, &[]).expect("a status");
        assert_eq!(status.desired_state.as_ref().unwrap()["interfaces"][0]["psk"], "<masked>");
        bound.status = status;
        release.published = true;
        assert_eq!(pending(&release, &bound, &[]), None);
        bound.status = EnactmentStatus::default();
        assert!(pending(&release, &bound, &[]).is_some(), "restored from a backup");
        bound.status = started(&bound, Time(1));
        let again = pending(&release, &bound, &[]).expect("restored from when it was under way");
        assert!(linesman_api::condition::is_true(&again.conditions, "Available"));
    }

    #[test]
    fn captures_and_failed_attempts_are_shown_as_in_kubernetes_nmstate() {
        let (mut release, mut entry) = (ended(), entry());
        let found = json!({ "gw": { "interfaces": [{ "name": "eth0", "psk": "hidden" }] } });
        entry.captured = Some(linesman_core::captures::Captured::keep(
            &json!({ "gw": "routes" }),
            found,
            &json!({}),
            &json!({}),
            None,
        ));
        (release.generation, release.failures) = (3, 2);
        let bound = bound(Stage::Released, 10, 1);
        let status = json!(pending_status(&release, &bound, Some(&entry), &[], None, Time(100)).unwrap());
        assert_eq!(
            status["capturedStates"],
            json!({ "gw": { "state": { "interfaces": [{ "name": "eth0", "psk": "<masked>" }] } } })
        );
        assert_eq!(status["retryCount"], json!({ "3": 2 }));
    }

    #[test]
    fn the_status_of_an_earlier_release_is_not_published() {
        let release = ended();
        for stage in [Stage::Bound, Stage::Claimed] {
            assert_eq!(pending(&release, &bound(stage, 10, 2), &[]), None, "{stage:?}");
        }
        assert_eq!(pending(&release, &bound(Stage::Released, 11, 2), &[]), None, "a later release");
        let other = Bound { uid: "v".into(), ..bound(Stage::Released, 10, 1) };
        assert_eq!(pending(&release, &other, &[]), None, "another of the same name");
        assert!(pending(&release, &bound(Stage::Expired, 10, 1), &[]).is_some(), "late is better than never");
    }

    #[test]
    fn drift_is_published_when_it_appears_and_when_it_is_gone() {
        let mut release = ended();
        let mut bound = bound(Stage::Released, 10, 1);
        bound.status = pending(&release, &bound, &[]).unwrap();
        release.published = true;
        let drift = [Difference { path: Path::root(), want: 1.into(), got: 2.into() }];
        let drifted = pending(&release, &bound, &drift).expect("drift is published");
        assert!(linesman_api::condition::is_true(&drifted.conditions, Drifted));
        assert!(
            linesman_api::condition::is_true(&drifted.conditions, "Available"),
            "it was applied all the same"
        );
        bound.status = drifted;
        assert_eq!(pending(&release, &bound, &drift), None);
        let again = pending(&release, &bound, &[]).expect("that it is gone is published");
        assert_eq!(find(&again.conditions, Drifted), None);
    }

    #[test]
    fn an_outdated_release_is_refused_in_the_status() {
        let releases = AcceptedReleases([("a".to_string(), ended())].into());
        let old = bound(Stage::Released, 9, 1);
        let status = outdated(&old, &releases, Time(1)).expect("a status");
        assert!(linesman_api::condition::is_true(&status.conditions, "Failing"));
        let known = Bound { status, ..old };
        assert_eq!(outdated(&known, &releases, Time(1)), None);
        assert_eq!(outdated(&bound(Stage::Released, 11, 2), &releases, Time(1)), None);
        assert_eq!(outdated(&bound(Stage::Claimed, 9, 2), &releases, Time(1)), None);
    }

    #[test]
    fn a_frozen_node_reports_it_once_and_no_outcome() {
        let releases = AcceptedReleases([("a".to_string(), ended())].into());
        let mut waits = bound(Stage::Released, 11, 2);
        waits.status.attempt = Some(1);
        let status = frozen(&waits, &releases, "frozen by ann", Time(1)).unwrap();
        let pending = find(&status.conditions, "Pending").unwrap();
        assert_eq!(pending.message, "the node is frozen by ann; run `linesman unfreeze` on it to continue");
        assert_eq!(status.attempt, Some(1), "the release still waits for its outcome");
        waits.status = status;
        assert_eq!(frozen(&waits, &releases, "frozen by ann", Time(2)), None);
        let accepted = bound(Stage::Released, 10, 1);
        assert_eq!(frozen(&accepted, &releases, "frozen by ann", Time(2)), None);
    }

    #[test]
    fn the_outcome_of_an_outdated_release_is_replaced() {
        let releases = AcceptedReleases([("a".to_string(), ended())].into());
        let mut old = bound(Stage::Released, 9, 1);
        let available = report::ended(&Outcome::committed(), false);
        old.status =
            EnactmentStatus { attempt: Some(1), conditions: available, ..EnactmentStatus::default() };
        let status = outdated(&old, &releases, Time(1)).expect("the node accepted another release since");
        assert!(linesman_api::condition::is_true(&status.conditions, "Failing"));
    }

    #[test]
    fn what_was_begun_and_forgotten_is_reported_and_what_ended_stays() {
        let begun = |kinds: &[&str]| {
            let conditions = kinds
                .iter()
                .map(|kind| Condition::new(kind, linesman_api::condition::Truth::True, "", "as it was"));
            let status = EnactmentStatus {
                attempt: Some(1),
                conditions: conditions.collect(),
                ..EnactmentStatus::default()
            };
            Bound { status, ..bound(Stage::Released, 10, 1) }
        };
        let none = AcceptedReleases::default();
        for kinds in [&["Progressing"][..], &["Failing", "Progressing"]] {
            let status = unrecorded(&begun(kinds), &none, Time(20)).unwrap();
            let failing = find(&status.conditions, Failing).unwrap();
            assert!(failing.is_true() && failing.message.contains("has lost its record"), "{failing:?}");
        }
        for kinds in [["Available"], ["Failing"]] {
            assert_eq!(unrecorded(&begun(&kinds), &none, Time(20)), None, "{kinds:?}");
        }
        let known = AcceptedReleases([("a".to_string(), ended())].into());
        assert_eq!(unrecorded(&begun(&["Progressing"]), &known, Time(20)), None);
        assert_eq!(unrecorded(&bound(Stage::Released, 10, 1), &none, Time(20)), None, "not begun");
    }
}
