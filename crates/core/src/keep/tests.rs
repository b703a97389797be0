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

fn entry(policy: &Policy, standing: Standing) -> Entry {
    Entry {
        policy: policy.clone(),
        standing,
        since: 0,
        state: policy.state.clone(),
        back: json!({ "interfaces": [] }),
        corrections: Fight::default(),
    }
}

fn ledger(entries: &[Entry]) -> Ledger {
    Ledger(entries.iter().map(|e| (e.policy.name.clone(), e.clone())).collect())
}

fn drift(name: &str) -> BTreeMap<String, Vec<Difference>> {
    let difference = Difference { path: Path::root(), want: Value::Null, got: Value::Null };
    [(name.to_string(), vec![difference])].into()
}

struct Told {
    policies: Vec<Policy>,
    ledger: Ledger,
    drift: BTreeMap<String, Vec<Difference>>,
    held: bool,
}

fn next(told: &Told) -> Next {
    decide(&Situation {
        policies: &told.policies,
        unreadable: &BTreeSet::from(["broken".to_string()]),
        ledger: &told.ledger,
        held: told.held,
        drift: &told.drift,
        now: NOW,
    })
}

fn told(policies: &[Policy], entries: &[Entry]) -> Told {
    Told { policies: policies.to_vec(), ledger: ledger(entries), drift: BTreeMap::new(), held: false }
}

const REST: Next = Next::Rest { until: None };

#[test]
fn new_and_edited_policies_go_together() {
    let (a, b) = (policy("a", 1), policy("b", 1));
    let kept = entry(&b, Standing::Kept);
    let apply = |names: &[&str]| Next::Apply(names.iter().map(|n| (*n).to_string()).collect());
    assert_eq!(next(&told(&[b.clone(), a.clone()], &[])), apply(&["a", "b"]));
    assert_eq!(next(&told(&[a.clone(), b.clone()], std::slice::from_ref(&kept))), apply(&["a"]));
    assert_eq!(next(&told(&[policy("b", 2)], std::slice::from_ref(&kept))), apply(&["b"]));
    assert_eq!(next(&told(&[b], &[kept])), REST);
}

#[test]
fn what_was_rolled_back_waits_for_another_version() {
    let a = policy("a", 1);
    let failed = entry(&a, Standing::RolledBack { reason: "cut off".into() });
    assert_eq!(next(&told(&[a], std::slice::from_ref(&failed))), REST);
    assert_eq!(next(&told(&[policy("a", 2)], &[failed])), Next::Apply(vec!["a".into()]));
}

#[test]
fn what_could_not_begin_is_tried_again_in_time() {
    let a = policy("a", 1);
    let waiting =
        |until| entry(&a, Standing::Waiting { reason: "no NetworkManager".into(), attempts: 1, until });
    assert_eq!(
        next(&told(std::slice::from_ref(&a), &[waiting(NOW + 5)])),
        Next::Rest { until: Some(NOW + 5) }
    );
    assert_eq!(next(&told(std::slice::from_ref(&a), &[waiting(NOW)])), Next::Apply(vec!["a".into()]));
}

#[test]
fn a_policy_that_is_gone_is_forgotten_or_reverted_as_it_said() {
    let mut a = policy("a", 1);
    assert_eq!(next(&told(&[], &[entry(&a, Standing::Kept)])), Next::Forget(vec!["a".into()]));
    a.options.on_delete = OnDelete::Revert;
    assert_eq!(next(&told(&[], &[entry(&a, Standing::Kept)])), Next::Revert("a".into()));
    let failed = Standing::RevertFailed { reason: "cut off".into() };
    assert_eq!(next(&told(&[], &[entry(&a, failed)])), REST);
}

#[test]
fn a_file_that_cannot_be_read_is_not_gone() {
    let mut broken = policy("broken", 1);
    broken.options.on_delete = OnDelete::Revert;
    assert_eq!(next(&told(&[], &[entry(&broken, Standing::Kept)])), REST);
}

#[test]
fn drift_is_corrected_where_the_policy_says_so_and_not_for_ever() {
    let mut a = policy("a", 1);
    let drifted = |a: &Policy, corrections: Fight| Told {
        drift: drift("a"),
        ..told(std::slice::from_ref(a), &[Entry { corrections, ..entry(a, Standing::Kept) }])
    };
    assert_eq!(next(&drifted(&a, Fight::default())), REST);
    a.options.drift = Drift::Correct;
    assert_eq!(next(&drifted(&a, Fight::default())), Next::Correct(vec!["a".into()]));
    let mut fight = Fight::default();
    for second in 0..3 {
        fight.another(NOW - 30 + second);
    }
    assert_eq!(next(&drifted(&a, fight.clone())), Next::Rest { until: fight.pause(NOW) });
    assert!(fight.pause(NOW + 4000).is_none());
}

#[test]
fn hands_off_means_hands_off() {
    let told = Told { held: true, ..told(&[policy("a", 1)], &[]) };
    assert_eq!(next(&told), REST);
}

#[test]
fn of_two_new_ones_that_contradict_each_other_neither_is_taken() {
    let claim = |name: &str, mtu: u64| Policy {
        state: json!({ "interfaces": [{ "name": "eth1", "mtu": mtu }] }),
        ..policy(name, mtu)
    };
    let (a, b, c) = (claim("a", 1500), claim("b", 9000), policy("c", 1));
    let refused = refusals(&[a.clone(), b.clone(), c.clone()], &Ledger::default());
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(next(&told(&[a.clone(), b.clone(), c], &[])), Next::Apply(vec!["c".into()]));
    let stands = ledger(&[entry(&a, Standing::Kept)]);
    let refused = refusals(&[a, b], &stands);
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(refused["b"][0].rival("b"), "a");
}
