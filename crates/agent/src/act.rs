//! Policies into transactions.

use std::time::Duration;

use linesman_core::captures::Captured;
use linesman_core::codes::failures::NO_SECRET;
use linesman_core::codes::{CONFLICT, WRONG_OPTION};
use linesman_core::compose::compose;
use linesman_core::default_trunks;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::inverse::{inverse, make, without};
use linesman_core::outcome::{Outcome, Verdict};
use linesman_core::policy::{OnDelete, Options, Policy};
use linesman_core::probe::{DEFAULT_PATIENCE, required};
use linesman_core::reconcile::{Entry, Ledger};
use linesman_core::secrets::{MissingSecret, Secrets, hide, left_open, mask_text};
use linesman_engine::transaction::{Loaded, Refusal, Request, Session, Settings, Step};
use linesman_engine::{Category, desired};
use linesman_fleet::enactment::Planned;
use serde_json::Value;
use tokio::sync::watch;

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
pub fn hindered(reason: impl Into<String>) -> Outcome {
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
    /// None: the policy has no captures.
    pub captured: Option<Captured>,
}

impl Ready {
    /// As much of it as is kept until the change has ended.
    pub fn planned(&self) -> Planned {
        Planned {
            state: self.recorded_state.clone(),
            revert_state: self.revert_state.clone(),
            captured: self.captured.clone(),
        }
    }

    /// As it was planned before a crash.
    pub fn again(policy: &Policy, planned: Planned) -> Self {
        let Planned { state, revert_state, captured } = planned;
        Self { policy: policy.clone(), recorded_state: state.clone(), state, revert_state, captured }
    }
}

/// A host that is locked and looked at, for a first attempt.
pub async fn begin(settings: &Settings) -> Result<Session, Outcome> {
    Session::begin(settings).await.map_err(refused)
}

/// Fills captures in, and computes what reverts each policy while the host is still as it was. The policies come in the order in which
/// they build on each other. Pure but for nmstate's captures.
pub fn prepare(
    policies: &[Policy],
    ledger: &Ledger,
    secrets: &Secrets,
    loaded: &Loaded,
) -> Vec<(Policy, Result<Ready, Box<Outcome>>)> {
    // What builds on others in this change is planned on a host that has them already.
    let mut host = loaded.observed.clone();
    // As their authors wrote them: what was filled in for one does not speak for another.
    let others = |policy: &Policy| {
        let applied = ledger.0.values().map(|entry| &entry.policy);
        let others = policies.iter().chain(applied).filter(|other| other.name != policy.name);
        others.map(|other| &other.state).collect::<Vec<&Value>>()
    };
    let one = |policy: &Policy, host: &Value| {
        let invalid = |e: linesman_engine::Error| Box::new(unfit(coded(&e)));
        let former = ledger.get(&policy.name).and_then(|entry| entry.captured.as_ref());
        let once =
            |capture: &Value| desired::capture_once(capture, former, &loaded.observed).map_err(invalid);
        let found = policy.capture.as_ref().map(once).transpose()?;
        let resolve = |state: &Value| {
            let mut resolved = match &found {
                Some(found) => desired::fill(state, found).map_err(invalid),
                None => desired::canonical(state).map_err(invalid),
            }?;
            if loaded.facts.filters_vlans {
                default_trunks::fill(&mut resolved, &others(policy));
            }
            Ok::<Value, Box<Outcome>>(resolved)
        };
        let missing = |missing: MissingSecret| Box::new(hindered(format!("{missing} [{NO_SECRET}]")));
        let state = resolve(&secrets.fill(&policy.state).map_err(missing)?)?;
        let recorded_state = resolve(&left_open(&policy.state))?;
        let whole = linesman_core::plan::with_implied(&state, host, &loaded.facts);
        let mut revert_state = match linesman_core::plan::plan(&whole, host, &loaded.facts) {
            Ok(plan) => inverse(&plan, host, &loaded.facts),
            // It would be retained without a word.
            Err(problems) if policy.options.on_delete == OnDelete::Revert => {
                return Err(Box::new(refused(Refusal::Document(problems))));
            }
            Err(_) => Value::Null,
        };
        if recorded_state != state {
            // What the host has now may be what the same policy filled in before.
            hide(&mut revert_state);
        }
        let captured = policy.capture.as_ref().zip(found).map(|(capture, found)| {
            Captured::keep(capture, found, &recorded_state, &loaded.observed, former)
        });
        Ok(Ready { policy: policy.clone(), state, recorded_state, revert_state, captured })
    };
    let mut prepared = Vec::with_capacity(policies.len());
    for policy in policies {
        let ready = one(policy, &host);
        if let Ok(ready) = &ready {
            make(&mut host, &ready.state);
        }
        prepared.push((policy.clone(), ready));
    }
    prepared
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
            return unfit(format!("conflict: {} [{CONFLICT}]", conflicts.join("; ")));
        }
    };
    let required = match required(all.iter().map(|policy| &policy.options), settings.cluster.is_some()) {
        Ok(required) => required,
        Err(error) => return unfit(format!("{} [{WRONG_OPTION}]", error.brief())),
    };
    let mut request = Request::new(title(&all), state);
    request.policies = all.iter().map(|policy| policy.name.clone()).collect();
    (request.probes, request.patience) = (Some(required.probes), required.patience);
    request.patience_grows = required.patience_grows;
    without_secrets(run(session, &request, settings, on_step).await, secrets)
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
    // Probes of the policy itself may rightly fail without it; what every host needs must not.
    request.patience = revert_patience(&entry.policy.options);
    if request.state.as_object().is_none_or(serde_json::Map::is_empty) {
        return Outcome::unchanged();
    }
    match begin(settings).await {
        Ok(session) => run(session, &request, settings, on_step).await,
        Err(outcome) => outcome,
    }
}

fn revert_patience(options: &Options) -> Duration {
    options.patience.map_or(DEFAULT_PATIENCE, |own| Duration::from_secs(own).max(DEFAULT_PATIENCE))
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

pub fn refused(refusal: Refusal) -> Outcome {
    match refusal {
        Refusal::Document(problems) => {
            unfit(problems.iter().map(Diagnostic::line).collect::<Vec<_>>().join("; "))
        }
        Refusal::Host(error) if error.category() == Category::Input => unfit(coded(&error)),
        Refusal::Host(error) => hindered(coded(&error)),
    }
}

fn coded(error: &linesman_engine::Error) -> String {
    let (text, code) = (error.to_string(), error.code());
    if text.contains(code) { text } else { format!("{text} [{code}]") }
}

/// Why it failed; and what is not as before, if the rollback is not complete.
pub fn reason(outcome: &Outcome) -> String {
    let reason = outcome.why().unwrap_or_else(|| "no reason given".into());
    match outcome.remaining.as_slice() {
        [] => reason,
        remaining => format!("{reason}; the rollback is incomplete: {}", mask_text(&remaining.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rollback_left_is_part_of_the_reason() {
        let remaining =
            vec!["gateway:v4 failed: silent".into(), "route to 10.0.0.0/8: no such device".into()];
        let outcome = Outcome {
            reason: Some("mtu differs".into()),
            code: Some("LM2007".into()),
            remaining,
            ..Outcome::new(Verdict::Incomplete)
        };
        assert_eq!(
            reason(&outcome),
            "mtu differs [LM2007]; the rollback is incomplete: gateway:v4 failed: silent; route to 10.0.0.0/8: no such device"
        );
        assert_eq!(reason(&Outcome { remaining: Vec::new(), ..outcome }), "mtu differs [LM2007]");
    }

    #[test]
    fn titles_stay_short() {
        let policy = |name: &str| {
            let (name, state, options) = (name.into(), Value::Null, Options::default());
            Policy { name, state, capture: None, options }
        };
        let (a, b) = (policy("a"), policy("b"));
        assert_eq!(title(&[&a]), "policy a");
        assert_eq!(title(&[&a, &b, &a, &b]), "policies a, b and 2 more");
    }
}
