//! Applying: policies into transactions, outcomes into the ledger.

use std::time::Duration;

use linesman_core::codes::CONTRADICTION;
use linesman_core::codes::failures::NO_SECRET;
use linesman_core::compose::compose;
use linesman_core::inverse::{inverse, without, younger};
use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::Policy;
use linesman_core::probe::{ParseError, Probe};
use linesman_core::reconcile::{CorrectionHistory, Entry, Ledger, PolicyState};
use linesman_core::secrets::{Secrets, hide, left_open};
use linesman_daemon::backoff::Backoff;
use linesman_daemon::clock;
use linesman_engine::transaction::{Loaded, Refusal, Request, Session, Settings, Step};
use linesman_engine::{Category, desired};
use serde_json::Value;
use tokio::sync::watch;

/// After an attempt that made no changes.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(5), Duration::from_secs(300));

/// Whether it may have been one of several policies that made it fail for all.
pub fn has_culprit(outcome: &Outcome) -> bool {
    match outcome.verdict {
        Verdict::RolledBack | Verdict::Incomplete => true,
        Verdict::Abandoned => outcome.category == Some(Category::Input),
        Verdict::Unchanged | Verdict::Committed | Verdict::Pending => false,
    }
}

/// The document does not fit this host.
fn unfit(reason: impl Into<String>) -> Outcome {
    Outcome::abandoned(Category::Input, reason)
}

/// The host lacks something, or is busy.
fn hindered(reason: impl Into<String>) -> Outcome {
    Outcome::abandoned(Category::Environment, reason)
}

/// A policy on its way: its state with captures filled in, and what would undo it.
#[derive(Debug)]
pub struct Ready {
    pub policy: Policy,
    pub state: Value,
    /// The same without the secrets that the policy refers to: this goes to disk.
    pub recorded_state: Value,
    pub revert_state: Value,
}

/// A host that is locked and looked at, for a first attempt.
pub async fn begin(settings: &Settings) -> Result<Session, Outcome> {
    Session::begin(settings).await.map_err(refused)
}

/// Fills captures in, and computes what reverts the policy while the host is still as it was. Pure but for nmstate's captures.
pub fn prepare(
    policies: &[Policy],
    secrets: &Secrets,
    loaded: &Loaded,
) -> Vec<(Policy, Result<Ready, Outcome>)> {
    let one = |policy: &Policy| {
        let resolve = |state: &Value| {
            desired::resolve(state, policy.capture.as_ref(), &loaded.observed).map_err(|e| unfit(coded(&e)))
        };
        let missing = |why| hindered(format!("{why} [{NO_SECRET}]"));
        let state = resolve(&secrets.fill(&policy.state).map_err(missing)?)?;
        let recorded_state = resolve(&left_open(&policy.state))?;
        let mut revert_state = linesman_core::plan::plan(&state, &loaded.observed, &loaded.facts)
            .map_or(Value::Null, |plan| inverse(&plan, &loaded.observed, &loaded.facts));
        if recorded_state != state {
            // What the host has now may be what the same policy filled in before.
            hide(&mut revert_state);
        }
        Ok(Ready { policy: policy.clone(), state, recorded_state, revert_state })
    };
    policies.iter().map(|policy| (policy.clone(), one(policy))).collect()
}

/// All of them as one transaction.
pub async fn together(
    session: Session,
    ready: &[&Ready],
    secrets: &Secrets,
    settings: &Settings,
    on_step: &mut dyn FnMut(&str, &Step),
) -> Outcome {
    let policies: Vec<Policy> =
        ready.iter().map(|r| Policy { state: r.state.clone(), capture: None, ..r.policy.clone() }).collect();
    let all: Vec<&Policy> = policies.iter().collect();
    let state = match compose(&all) {
        Ok(state) => state,
        Err(conflicts) => {
            let conflicts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
            return unfit(format!("conflict: {} [{CONTRADICTION}]", conflicts.join("; ")));
        }
    };
    let probes = match probes(&all) {
        Ok(probes) => probes,
        Err(error) => return unfit(error.to_string()),
    };
    let mut request = Request::new(title(&all), state);
    request.policies = all.iter().map(|policy| policy.name.clone()).collect();
    request.probes = probes;
    if let Some(patience) = all.iter().filter_map(|p| p.options.patience).max() {
        request.patience = Duration::from_secs(patience);
    }
    without_secrets(run(session, &request, settings, on_step).await, secrets)
}

/// Those of all policies; none if no policy names any.
fn probes(policies: &[&Policy]) -> Result<Option<Vec<Probe>>, ParseError> {
    let named: Vec<&Vec<String>> = policies.iter().filter_map(|p| p.options.probes.as_ref()).collect();
    if named.is_empty() {
        return Ok(None);
    }
    named.into_iter().flatten().map(|text| text.parse()).collect::<Result<_, _>>().map(Some)
}

/// Messages of NetworkManager and nmstate may contain what they were given.
fn without_secrets(mut outcome: Outcome, secrets: &Secrets) -> Outcome {
    let clean = |text: &str| {
        let mut text = Value::from(text);
        secrets.redact(&mut text);
        text.as_str().unwrap_or_default().to_string()
    };
    outcome.reason = outcome.reason.as_deref().map(clean);
    for text in outcome.remaining.iter_mut().chain(&mut outcome.notes) {
        *text = clean(text);
    }
    for difference in &mut outcome.differences {
        secrets.redact(&mut difference.want);
        secrets.redact(&mut difference.got);
    }
    outcome
}

/// What people call it in `linesman history`.
fn title(policies: &[&Policy]) -> String {
    let names: Vec<&str> = policies.iter().map(|p| p.name.as_str()).collect();
    match names.as_slice() {
        [one] => format!("policy {one}"),
        [one, two, three] => format!("policies {one}, {two}, {three}"),
        [one, two] => format!("policies {one}, {two}"),
        [one, two, rest @ ..] => format!("policies {one}, {two} and {} more", rest.len()),
        [] => "no policy".into(),
    }
}

/// Reverts what a deleted policy changed, except what other policies ask for.
pub async fn revert(
    entry: &Entry,
    applied: &[Policy],
    settings: &Settings,
    on_step: &mut dyn FnMut(&str, &Step),
) -> Outcome {
    let others: Vec<&Policy> = applied.iter().filter(|p| p.name != entry.policy.name).collect();
    let others = compose(&others).unwrap_or(Value::Null);
    let revert_state = without(&entry.revert_state, &others);
    let mut request = Request::new(format!("revert of policy {}", entry.policy.name), revert_state);
    (request.policies, request.revert) = (vec![entry.policy.name.clone()], true);
    if request.state.as_object().is_none_or(serde_json::Map::is_empty) {
        return Outcome::unchanged();
    }
    match begin(settings).await {
        Ok(session) => run(session, &request, settings, on_step).await,
        Err(outcome) => outcome,
    }
}

async fn run(
    session: Session,
    request: &Request,
    settings: &Settings,
    on_step: &mut dyn FnMut(&str, &Step),
) -> Outcome {
    // A daemon that is stopped finishes its change first: rolled back, the change would count as failed.
    let (_never, stop) = watch::channel(false);
    let mut report = |step: Step| on_step(&request.source, &step);
    session.apply(request, settings, stop, &mut report).await.unwrap_or_else(refused)
}

fn refused(refusal: Refusal) -> Outcome {
    match refusal {
        Refusal::Document(problems) => {
            let problems: Vec<String> = problems
                .iter()
                .map(|p| match &p.path {
                    Some(path) if !path.is_root() => format!("{path}: {} [{}]", p.message, p.code),
                    _ => format!("{} [{}]", p.message, p.code),
                })
                .collect();
            unfit(problems.join("; "))
        }
        Refusal::Host(error) if error.category() == Category::Input => unfit(coded(&error)),
        Refusal::Host(error) => hindered(coded(&error)),
    }
}

fn coded(error: &linesman_engine::Error) -> String {
    let (text, code) = (error.to_string(), error.code());
    if text.contains(code) { text } else { format!("{text} [{code}]") }
}

pub fn reason(outcome: &Outcome) -> String {
    outcome.why().unwrap_or_else(|| "no reason given".into())
}

/// Writes an outcome into the ledger. `ready` is absent if the policy could not be prepared.
pub fn enter(ledger: &mut Ledger, policy: &Policy, ready: Option<&Ready>, outcome: &Outcome) {
    let former = ledger.0.remove(&policy.name);
    let (former_state, former_revert_state, mut corrections) =
        former.as_ref().map_or((Value::Null, Value::Null, CorrectionHistory::default()), |e| {
            (e.applied_state.clone(), e.revert_state.clone(), e.corrections.clone())
        });
    let edited = former.as_ref().is_none_or(|e| e.policy != *policy);
    let before = former.map(|e| e.policy_state);
    let attempts = match &before {
        Some(PolicyState::Waiting { attempts, .. }) if !edited => attempts + 1,
        _ => 1,
    };
    let untouched = outcome.verdict == Verdict::Abandoned;
    let (policy_state, applied_state, revert_state) = match ready {
        Some(ready) if outcome.succeeded() => {
            let revert_state = if former_revert_state.is_null() {
                ready.revert_state.clone()
            } else {
                younger(&former_revert_state, &ready.revert_state)
            };
            (PolicyState::Applied, ready.recorded_state.clone(), revert_state)
        }
        // A correction that failed, since another writer changes the same: the policy stays applied, drift is only reported.
        _ if !untouched && !edited && before == Some(PolicyState::Applied) => {
            corrections.record_failure(clock::now());
            (PolicyState::Applied, former_state, former_revert_state)
        }
        _ if !untouched => {
            (PolicyState::RolledBack { reason: reason(outcome) }, former_state, former_revert_state)
        }
        _ => {
            let until = clock::now() + BACKOFF.after(attempts).as_secs();
            let waiting = PolicyState::Waiting { reason: reason(outcome), attempts, until };
            (waiting, former_state, former_revert_state)
        }
    };
    debug_assert!(policy_state.follows(before.as_ref()), "{before:?} -> {policy_state:?}");
    let corrections = if edited { CorrectionHistory::default() } else { corrections };
    let entry = Entry {
        policy: policy.clone(),
        policy_state,
        since: clock::now(),
        applied_state,
        revert_state,
        corrections,
    };
    ledger.0.insert(policy.name.clone(), entry);
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::policy::Options;
    use serde_json::json;

    fn policy(mtu: u64) -> Policy {
        let state = json!({ "interfaces": [{ "name": "eth1", "mtu": mtu }] });
        Policy { name: "a".into(), state, capture: None, options: Options::default() }
    }

    fn ready(mtu: u64, before: u64) -> Ready {
        let revert_state =
            json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "state": "up", "mtu": before }] });
        Ready {
            policy: policy(mtu),
            state: policy(mtu).state,
            recorded_state: policy(mtu).state,
            revert_state,
        }
    }

    #[test]
    fn an_edited_policy_still_reverts_to_the_state_before_its_first_version() {
        let mut ledger = Ledger::default();
        let done = Outcome::committed();
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &done);
        enter(&mut ledger, &policy(4000), Some(&ready(4000, 9000)), &done);
        let entry = ledger.get("a").unwrap();
        assert_eq!(entry.revert_state["interfaces"][0]["mtu"], 1500);
        assert_eq!(entry.applied_state["interfaces"][0]["mtu"], 4000);
    }

    #[test]
    fn what_failed_leaves_the_former_version_applied() {
        let mut ledger = Ledger::default();
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &Outcome::committed());
        let bad = Outcome { reason: Some("cut off".into()), ..Outcome::new(Verdict::RolledBack) };
        enter(&mut ledger, &policy(4000), Some(&ready(4000, 9000)), &bad);
        let entry = ledger.get("a").unwrap();
        assert_eq!(entry.policy_state, PolicyState::RolledBack { reason: "cut off".into() });
        assert_eq!(entry.applied_state["interfaces"][0]["mtu"], 9000);
    }

    #[test]
    fn a_failed_correction_is_not_repeated_over_and_over() {
        let mut ledger = Ledger::default();
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &Outcome::committed());
        let bad = Outcome { reason: Some("mtu".into()), ..Outcome::new(Verdict::RolledBack) };
        enter(&mut ledger, &policy(9000), Some(&ready(9000, 1500)), &bad);
        let entry = ledger.get("a").unwrap();
        assert!(entry.is_applied());
        assert!(entry.corrections.paused_until(clock::now()).is_some());
    }

    #[test]
    fn waits_grow_until_the_policy_is_edited() {
        let mut ledger = Ledger::default();
        let attempts = |ledger: &Ledger| match &ledger.get("a").unwrap().policy_state {
            PolicyState::Waiting { attempts, .. } => *attempts,
            other => panic!("{other:?}"),
        };
        for expected in 1..4 {
            enter(&mut ledger, &policy(1), None, &hindered("no NetworkManager"));
            assert_eq!(attempts(&ledger), expected);
        }
        enter(&mut ledger, &policy(2), None, &unfit("no such port"));
        assert_eq!(attempts(&ledger), 1);
    }

    #[test]
    fn titles_stay_short() {
        let (a, b) = (policy(1), Policy { name: "b".into(), ..policy(1) });
        assert_eq!(title(&[&a]), "policy a");
        assert_eq!(title(&[&a, &b, &a, &b]), "policies a, b and 2 more");
    }
}
