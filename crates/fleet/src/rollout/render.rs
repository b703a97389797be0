//! A decision in words: for golden cases, logs and people.

use std::fmt::Write as _;

use linesman_api::condition::Condition;

use super::decide::Decision;
use super::phase::NodePhase;
use super::steps::{Action, Step};

impl Decision {
    pub fn render(&self) -> String {
        let mut text = String::new();
        for action in &self.actions {
            let _ = writeln!(text, "{}", describe(action));
        }
        if self.actions.is_empty() {
            text += "nothing to do\n";
        }
        text += "\n";
        for (node, phase) in &self.nodes {
            let _ = writeln!(text, "{node}: {}", word(phase));
        }
        let status = &self.status;
        let _ = writeln!(text, "\nat a time: {}", status.max_unavailable.unwrap_or_default());
        if let Some(waves) = status.waves {
            let _ = writeln!(text, "wave: {} of {}", waves.current, waves.total);
        }
        for condition in status.conditions.iter().filter(|condition| condition.is_true()) {
            let Condition { kind, reason, message, .. } = condition;
            let _ = writeln!(text, "{kind} ({reason}): {message}");
        }
        for held in &status.held {
            let _ = writeln!(text, "  {}: {}", held.node, held.reason);
        }
        if let Some(wake) = self.wake {
            let _ = writeln!(text, "look again: {wake}");
        }
        text
    }
}

fn describe(action: &Action) -> String {
    match action {
        Action::Finalizer { keep: true } => "keep the policy until its nodes have gone back".into(),
        Action::Finalizer { keep: false } => "let the policy go".into(),
        Action::Enactment { node, version, step } => {
            let new = if version.is_none() { " (new)" } else { "" };
            format!("{node}: {}{new}", doing(step))
        }
    }
}

fn doing(step: &Step) -> String {
    let said = step.spec().map(|spec| {
        let what = if spec.revert { ", to go back" } else { "" };
        format!("generation {}, attempt {}{what}", spec.policy.generation, spec.attempt)
    });
    let said = said.unwrap_or_default();
    match step {
        Step::Bind(_) => format!("bind {said}"),
        Step::Claim(_) => format!("claim {said}"),
        Step::Unclaim(_) => format!("give the slot back, {said}"),
        Step::Release { until, .. } => format!("release until {until}, {said}"),
        Step::Withdraw(_) => format!("withdraw the release, {said}"),
        Step::Expire(_) => format!("expire {said}"),
        Step::SetStatus(mark) => {
            let kind = if mark.aborted { "aborted" } else { "pending" };
            format!("say {kind} ({}): {}", mark.reason, mark.message)
        }
        Step::Delete => "delete".into(),
    }
}

fn word(phase: &NodePhase) -> String {
    match phase {
        NodePhase::Done => "done".into(),
        NodePhase::InProgress => "busy".into(),
        NodePhase::Claimed => "claimed".into(),
        NodePhase::Failed { expired: false } => "failed".into(),
        NodePhase::Failed { expired: true } => "failed: expired".into(),
        NodePhase::Waiting => "waiting".into(),
        NodePhase::Blocked(blocked_by) => format!("held: {blocked_by}"),
        NodePhase::Unaffected => "left as it is".into(),
    }
}
