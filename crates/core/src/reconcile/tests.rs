use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::*;
use crate::compare::Difference;
use crate::path::Path;
use crate::policy::{Drift, OnDelete, Options, Policy};

const NOW: u64 = 10_000;

fn policy(name: &str, mtu: u64) -> Policy {
    let state = json!({ "interfaces": [{ "name": format!("br-{name}"), "mtu": mtu }] });
    Policy { name: name.into(), state, capture: None, options: Options::default() }
}

fn entry(policy: &Policy, policy_state: PolicyState) -> Entry {
    Entry {
        policy: policy.clone(),
        policy_state,
        since: 0,
        applied_state: policy.state.clone(),
        revert_state: json!({ "interfaces": [] }),
        captured: None,
        drifted_since: None,
        corrections: CorrectionHistory::default(),
    }
}

fn ledger(entries: &[Entry]) -> Ledger {
    Ledger(entries.iter().map(|e| (e.policy.name.clone(), e.clone())).collect())
}

fn drift(name: &str) -> BTreeMap<String, Vec<Difference>> {
    let difference = Difference { path: Path::root(), want: Value::Null, got: Value::Null };
    [(name.to_string(), vec![difference])].into()
}

struct Given {
    policies: Vec<Policy>,
    ledger: Ledger,
    drift: BTreeMap<String, Vec<Difference>>,
    frozen: bool,
}

fn next(given: &Given) -> Next {
    decide(&Situation {
        policies: &given.policies,
        unreadable: &BTreeSet::from(["broken".to_string()]),
        ledger: &given.ledger,
        frozen: given.frozen,
        drift: &given.drift,
        now: NOW,
    })
}

fn given(policies: &[Policy], entries: &[Entry]) -> Given {
    Given { policies: policies.to_vec(), ledger: ledger(entries), drift: BTreeMap::new(), frozen: false }
}

const IDLE: Next = Next::Idle { until: None };

#[test]
fn new_and_edited_policies_go_together() {
    let (a, b) = (policy("a", 1), policy("b", 1));
    let kept = entry(&b, PolicyState::Applied);
    let apply = |names: &[&str]| Next::Apply(names.iter().map(|n| (*n).to_string()).collect());
    assert_eq!(next(&given(&[b.clone(), a.clone()], &[])), apply(&["a", "b"]));
    assert_eq!(next(&given(&[a.clone(), b.clone()], std::slice::from_ref(&kept))), apply(&["a"]));
    assert_eq!(next(&given(&[policy("b", 2)], std::slice::from_ref(&kept))), apply(&["b"]));
    assert_eq!(next(&given(&[b], &[kept])), IDLE);
}

#[test]
fn what_was_rolled_back_waits_for_another_version() {
    let a = policy("a", 1);
    let failed = entry(&a, PolicyState::RolledBack { reason: "cut off".into() });
    assert_eq!(next(&given(&[a], std::slice::from_ref(&failed))), IDLE);
    assert_eq!(next(&given(&[policy("a", 2)], &[failed])), Next::Apply(vec!["a".into()]));
}

#[test]
fn what_could_not_start_is_tried_again_in_time() {
    let a = policy("a", 1);
    let waiting =
        |until| entry(&a, PolicyState::Waiting { reason: "no NetworkManager".into(), attempts: 1, until });
    assert_eq!(
        next(&given(std::slice::from_ref(&a), &[waiting(NOW + 5)])),
        Next::Idle { until: Some(NOW + 5) }
    );
    assert_eq!(next(&given(std::slice::from_ref(&a), &[waiting(NOW)])), Next::Apply(vec!["a".into()]));
}

#[test]
fn a_policy_that_is_gone_is_forgotten_or_reverted_as_it_said() {
    let mut a = policy("a", 1);
    assert_eq!(next(&given(&[], &[entry(&a, PolicyState::Applied)])), Next::Forget(vec!["a".into()]));
    a.options.on_delete = OnDelete::Revert;
    assert_eq!(next(&given(&[], &[entry(&a, PolicyState::Applied)])), Next::Revert("a".into()));
    let failed = PolicyState::RevertFailed { reason: "cut off".into() };
    assert_eq!(next(&given(&[], &[entry(&a, failed)])), IDLE);
}

#[test]
fn what_builds_on_others_is_reverted_first() {
    let stacked = |name: &str, state: Value| {
        let mut policy = Policy { state, ..policy(name, 1) };
        policy.options.on_delete = OnDelete::Revert;
        policy
    };
    let vlan = json!({ "name": "br1.7", "type": "vlan", "vlan": { "base-iface": "br1", "id": 7 } });
    let base = stacked("a-base", json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge" }] }));
    let top = stacked("z-top", json!({ "interfaces": [vlan] }));
    let gone = |top_state: PolicyState| {
        next(&given(&[], &[entry(&base, PolicyState::Applied), entry(&top, top_state)]))
    };
    assert_eq!(gone(PolicyState::Applied), Next::Revert("z-top".into()));
    let waiting = PolicyState::Waiting { reason: "busy".into(), attempts: 1, until: NOW + 5 };
    assert!(matches!(gone(waiting), Next::Idle { .. }));
    assert_eq!(gone(PolicyState::RevertFailed { reason: "cut off".into() }), Next::Revert("a-base".into()));
}

#[test]
fn a_file_that_cannot_be_read_is_not_gone() {
    let mut broken = policy("broken", 1);
    broken.options.on_delete = OnDelete::Revert;
    assert_eq!(next(&given(&[], &[entry(&broken, PolicyState::Applied)])), IDLE);
}

#[test]
fn drift_is_corrected_where_the_policy_says_so_and_not_for_ever() {
    let mut a = policy("a", 1);
    let drifted = |a: &Policy, corrections: CorrectionHistory| Given {
        drift: drift("a"),
        ..given(std::slice::from_ref(a), &[Entry { corrections, ..entry(a, PolicyState::Applied) }])
    };
    assert_eq!(next(&drifted(&a, CorrectionHistory::default())), IDLE);
    a.options.drift = Drift::Correct;
    assert_eq!(next(&drifted(&a, CorrectionHistory::default())), Next::Correct(vec!["a".into()]));
    let mut history = CorrectionHistory::default();
    for second in 0..3 {
        history.record(NOW - 30 + second);
    }
    assert_eq!(next(&drifted(&a, history.clone())), Next::Idle { until: history.paused_until(NOW) });
    assert!(history.paused_until(NOW + 4000).is_none());
}

#[test]
fn drift_has_lasted_since_it_began() {
    let mut known = ledger(&[entry(&policy("a", 1), PolicyState::Applied)]);
    let since = |ledger: &Ledger| ledger.get("a").and_then(|entry| entry.drifted_since);
    assert!(known.note_drift(&drift("a"), |_| true, 100));
    assert!(!known.note_drift(&drift("a"), |_| true, 200), "seen again, and nothing is new");
    assert_eq!(since(&known), Some(100));
    assert!(!known.note_drift(&BTreeMap::new(), |_| false, 300), "nobody looked");
    let restarted: Ledger = serde_json::from_str(&serde_json::to_string(&known).unwrap()).unwrap();
    assert_eq!(since(&restarted), Some(100));
    assert!(known.note_drift(&BTreeMap::new(), |_| true, 400));
    assert_eq!(since(&known), None);
}

#[test]
fn a_change_by_hand_that_would_be_corrected_is_known() {
    let mut corrects = policy("a", 1400);
    corrects.options.drift = Drift::Correct;
    let applied =
        ledger(&[entry(&corrects, PolicyState::Applied), entry(&policy("b", 1400), PolicyState::Applied)]);
    let by_hand = |name: &str, mtu: u64| json!({ "interfaces": [{ "name": name, "mtu": mtu }] });
    let found = contradictions(&by_hand("br-a", 1300), &applied);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "the agent will correct this: policy a sets interfaces[br-a].mtu; edit the policy, or run `linesman freeze` first"
    );
    assert_eq!(contradictions(&by_hand("br-a", 1400), &applied), [], "as the policy has it");
    assert_eq!(contradictions(&by_hand("br-b", 1300), &applied), [], "drift of that one is only reported");
    assert_eq!(contradictions(&by_hand("br-c", 1300), &applied), []);
    let failed = ledger(&[entry(&corrects, PolicyState::RolledBack { reason: String::new() })]);
    assert_eq!(contradictions(&by_hand("br-a", 1300), &failed), [], "what is not applied is not corrected");
}

#[test]
fn a_frozen_host_is_left_alone() {
    let given = Given { frozen: true, ..given(&[policy("a", 1)], &[]) };
    assert_eq!(next(&given), IDLE);
}

#[test]
fn of_two_new_policies_that_conflict_neither_is_accepted() {
    let claim = |name: &str, mtu: u64| Policy {
        state: json!({ "interfaces": [{ "name": "eth1", "mtu": mtu }] }),
        ..policy(name, mtu)
    };
    let (a, b, c) = (claim("a", 1500), claim("b", 9000), policy("c", 1));
    let refused = refusals(&[a.clone(), b.clone(), c.clone()], &Ledger::default());
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(next(&given(&[a.clone(), b.clone(), c], &[])), Next::Apply(vec!["c".into()]));
    let ledger = ledger(&[entry(&a, PolicyState::Applied)]);
    let refused = refusals(&[a, b], &ledger);
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(refused["b"][0].other_policy("b"), "a");
}
