//! A decision in words: for golden cases, logs and people.

use std::fmt::Write as _;

use linesman_api::condition::Condition;

use super::decide::Decision;
use super::phase::{Failure, NodePhase};
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
            let _ = writeln!(text, "{node}: {}", describe_phase(phase));
        }
        let status = &self.status;
        let _ = writeln!(text, "\nmaxUnavailable: {}", status.max_unavailable.unwrap_or_default());
        if let Some(waves) = status.waves {
            let _ = writeln!(text, "wave: {} of {}", waves.current, waves.total);
        }
        for condition in status.conditions.iter().filter(|condition| condition.is_true()) {
            let Condition { kind, reason, message, .. } = condition;
            let _ = writeln!(text, "{kind} ({reason}): {message}");
        }
        for blocked in &status.blocked_nodes {
            let _ = writeln!(text, "  {}: {}", blocked.node, blocked.reason);
        }
        if !status.failed_nodes.is_empty() {
            let _ = writeln!(text, "remembered as failed: {}", status.failed_nodes.join(", "));
        }
        if !status.soaking_nodes.is_empty() {
            let _ = writeln!(text, "soaking: {}", status.soaking_nodes.join(", "));
        }
        if let Some(wake) = self.wake {
            let _ = writeln!(text, "decide again: {wake}");
        }
        text
    }
}

fn describe(action: &Action) -> String {
    match action {
        Action::Finalizer { keep: true } => {
            "add the finalizer: keep the policy until its nodes have reverted".into()
        }
        Action::Finalizer { keep: false } => "remove the finalizer".into(),
        Action::Enactment { node, version, step } => {
            let new = if version.is_none() { " (new)" } else { "" };
            format!("{node}: {}{new}", describe_step(step))
        }
    }
}

fn describe_step(step: &Step) -> String {
    let version = step.spec().map(|spec| {
        let revert = if spec.revert { ", revert" } else { "" };
        format!("generation {}, attempt {}{revert}", spec.policy.generation, spec.attempt)
    });
    let version = version.unwrap_or_default();
    match step {
        Step::Bind(_) => format!("bind {version}"),
        Step::Claim(_) => format!("claim {version}"),
        Step::Unclaim(_) => format!("give the slot back, {version}"),
        Step::Release { until, .. } => format!("release until {until}, {version}"),
        Step::Withdraw(_) => format!("withdraw the release, {version}"),
        Step::Seal(_) => format!("seal the Secrets again, {version}"),
        Step::FailSoak(_) => format!("count as failed, {version}"),
        Step::Expire(_) => format!("expire {version}"),
        Step::SetStatus(status) => {
            format!("set {} ({}): {}", status.condition, status.reason, status.message)
        }
        Step::Delete => "delete".into(),
    }
}

fn describe_phase(phase: &NodePhase) -> String {
    match phase {
        NodePhase::Done => "done".into(),
        NodePhase::InProgress => "in progress".into(),
        NodePhase::Claimed => "claimed".into(),
        NodePhase::Failed(Failure::Reported) => "failed".into(),
        NodePhase::Failed(Failure::Expired) => "failed: expired".into(),
        NodePhase::Failed(Failure::NotReady) => "failed: not ready".into(),
        NodePhase::Failed(Failure::Remembered) => "failed: earlier".into(),
        NodePhase::Waiting => "waiting".into(),
        NodePhase::Blocked(blocked_by) => format!("blocked: {blocked_by}"),
        NodePhase::Unaffected => "unaffected".into(),
    }
}
