//! Releases that this agent asks for. It corrects drift and repeats what was refused only when the operator lets it, so that the
//! limits of a rollout hold whatever the reason of a change.

use std::time::Duration;

use linesman_api::reasons::ReleaseRequest;
use linesman_core::policy::Policy;
use linesman_core::reconcile::{Ledger, refusals};
use linesman_daemon::clock;
use tokio::time::Instant;
use tracing::info;

use super::Cluster;

/// Without the API server nobody can release this node, and the drift may be what cut it off.
const ALONE_AFTER: Duration = Duration::from_secs(30);

impl Cluster {
    pub fn request_correction(&mut self, name: &str) {
        self.corrections.entry(name.to_string()).or_insert_with(|| {
            info!(policy = name, "asking for a release to correct the drift");
            Instant::now()
        });
    }

    /// Whether the agent waits for a release to correct this.
    pub fn awaits_correction(&self, name: &str) -> bool {
        self.corrections.contains_key(name) && !self.may_correct_alone(name)
    }

    /// Only after silence: an API server that refuses is there, and whoever paused a rollout or revoked a token means it.
    pub fn may_correct_alone(&self, name: &str) -> bool {
        let asked = self.corrections.get(name).map(Instant::elapsed);
        let silent = self.enactments.api_server.silent_for(Instant::now());
        asked.zip(silent).is_some_and(|(asked, silent)| asked.min(silent) >= ALONE_AFTER)
    }

    /// When the first correction need not wait any longer, if nobody can be asked.
    pub fn alone_in(&self) -> Option<Duration> {
        let silent = self.enactments.api_server.silent_for(Instant::now())?;
        let waited = self.corrections.values().min()?.elapsed().min(silent);
        Some(ALONE_AFTER.saturating_sub(waited).max(Duration::from_secs(1)))
    }

    /// Some drift ended by itself.
    pub fn keep_requests(&mut self, is_drifted: impl Fn(&str) -> bool) {
        self.corrections.retain(|name, _| is_drifted(name));
    }

    /// The correction begins.
    pub(super) fn take_request(&mut self, name: &str, ledger: &mut Ledger) {
        if let (Some(_), Some(entry)) = (self.corrections.remove(name), ledger.0.get_mut(name)) {
            entry.corrections.record(clock::now());
            self.metrics.corrections.inc();
        }
    }

    /// Whether policies that were refused would be refused again.
    pub fn judge_refused(&mut self, policies: &[Policy], ledger: &Ledger) {
        let refused = self.releases.0.values().filter(|release| release.refused);
        let ended = refused.filter_map(|release| release.policy.as_ref()).filter(|policy| {
            let others = policies.iter().filter(|other| other.name != policy.name);
            let all: Vec<Policy> = others.chain([*policy]).cloned().collect();
            !refusals(&all, ledger).contains_key(&policy.name)
        });
        self.ended_conflicts = ended.map(|policy| policy.name.clone()).collect();
    }

    pub(super) fn request(&self, name: &str) -> Option<ReleaseRequest> {
        if self.ended_conflicts.contains(name) {
            return Some(ReleaseRequest::ConflictEnded);
        }
        self.corrections.contains_key(name).then_some(ReleaseRequest::Drifted)
    }
}
