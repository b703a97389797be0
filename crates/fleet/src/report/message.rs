//! One line for a person who looks at a condition: what, where, and what is on the host now.

use serde_json::Value;

use linesman_core::codes::named_in;
use linesman_core::compare::Difference;
use linesman_core::outcome::{Category, Outcome, Verdict};
use linesman_core::secrets::{is_secret_place, mask_text};

/// More is in the agent's log and in `linesman history`.
const LONGEST: usize = 400;
const ROOT: &str = "desiredState.";
const TOPS: [&str; 7] = ["interfaces", "routes", "route-rules", "dns-resolver", "hostname", "ovs-db", "ovn"];

pub fn success(outcome: &Outcome, reverting: bool) -> String {
    match (outcome.verdict, reverting) {
        (Verdict::Unchanged, false) => "already in the desired state; no changes made".into(),
        (Verdict::Unchanged, true) => "already reverted; no changes made".into(),
        // Finished by another process after a crash: nobody here saw the probes.
        (_, false) if outcome.milliseconds == 0 => "applied".into(),
        (_, true) if outcome.milliseconds == 0 => "reverted".into(),
        (_, true) => format!("reverted: {}", checked(outcome)),
        (_, false) => checked(outcome),
    }
}

fn checked(outcome: &Outcome) -> String {
    let text = format!("{}, in {}", outcome.checks(), seconds(outcome.milliseconds));
    let part = |title: &str, list: &[String]| match list {
        [] => String::new(),
        list => format!("; {title}: {}", list.join(", ")),
    };
    let lost = part("lost", &outcome.probes.lost);
    short(&format!("{text}{lost}{}", part("not protected", &outcome.probes.not_protected)))
}

pub fn failure(outcome: &Outcome) -> String {
    failure_of(outcome, "")
}

/// `who` stands behind the code: that is what is searched for.
pub fn failure_of(outcome: &Outcome, who: &str) -> String {
    let reason = mask_text(outcome.reason.as_deref().unwrap_or("failed").trim());
    let reason = reason.lines().next().unwrap_or_default();
    let code = outcome.code.as_deref().or_else(|| named_in(reason));
    let front = code.map(|code| format!("[{code}] ")).unwrap_or_default();
    let step = outcome.step.as_ref().map(|step| format!("{step}: ")).unwrap_or_default();
    // The differences are more precise, and the reason would only repeat the first of them.
    let what = match differences(&outcome.differences) {
        Some(differences) => differences,
        None => rooted(&without_code(reason, code)),
    };
    format!("{front}{who}{step}{}; {}", short(&what), now(outcome))
}

fn without_code(reason: &str, code: Option<&str>) -> String {
    match code {
        Some(code) => reason.replacen(&format!(" [{code}]"), "", 1),
        None => reason.to_string(),
    }
}

/// Places begin where the reader finds them: in the policy.
fn rooted(text: &str) -> String {
    let parts = text.split("; ").map(|part| match TOPS.iter().any(|top| begins(part, top)) {
        true => format!("{ROOT}{part}"),
        false => part.to_string(),
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn begins(part: &str, top: &str) -> bool {
    part.strip_prefix(top).is_some_and(|rest| rest.starts_with(['[', '.', ':']))
}

fn now(outcome: &Outcome) -> String {
    match (outcome.verdict, outcome.category) {
        (Verdict::RolledBack, _) => "rolled back".into(),
        (Verdict::Incomplete, _) => match outcome.remaining.as_slice() {
            [] => "the rollback is incomplete: check the node".into(),
            remaining => format!("the rollback is incomplete: {}", mask_text(&remaining.join(", "))),
        },
        (_, Some(Category::Input)) => "no changes made; correct the policy".into(),
        _ => "no changes made".into(),
    }
}

fn differences(found: &[Difference]) -> Option<String> {
    let first = difference(found.first()?);
    Some(match found.len() - 1 {
        0 => first,
        more => format!("{first}; {more} more"),
    })
}

pub fn difference(difference: &Difference) -> String {
    let Difference { path, want, got } = difference;
    if is_secret_place(path) {
        return format!("{ROOT}{path}: the secret differs");
    }
    format!("{ROOT}{path}: wanted {}, found {}", value(want), value(got))
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::String(text) => mask_text(text),
        other => {
            let mut other = other.clone();
            linesman_core::secrets::mask_value(&mut other);
            other.to_string()
        }
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:02} s", milliseconds / 1000, milliseconds % 1000 / 10)
}

/// Cut at a word: etcd and readers have limits.
pub fn short(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_string();
    }
    let cut: String = text.chars().take(LONGEST).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{} … (more in `linesman history` on the node)", &cut[..end])
}
