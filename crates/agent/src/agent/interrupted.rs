//! Changes that were begun and not ended: of a command that was killed, or of this agent whose rollback NetworkManager or
//! Open vSwitch could not follow. NetworkManager rolls back its own part, the agent the rest.

use std::time::{Duration, Instant};

use linesman_core::outcome::Outcome;
use linesman_core::reconcile::PolicyState;
use linesman_daemon::backoff::Backoff;
use linesman_engine::journal::{Journal, Record};
use linesman_engine::lock::HostLock;
use linesman_engine::recover;
use tracing::{error, warn};

use super::Agent;
use crate::act::reason;

/// Between two attempts to finish the same change.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(5), Duration::from_secs(300));

/// Attempts to finish a change, none of which could.
#[derive(Debug)]
pub(super) struct Unfinished {
    attempts: u32,
    next: Instant,
}

impl Agent {
    /// True: somebody is changing this host, a change awaits confirmation, or one could not be finished yet; look again.
    pub(super) async fn finish_interrupted(&mut self) -> bool {
        let settings = self.config.settings.clone();
        let journal = Journal::new(&settings.state_dir);
        if !journal.may_be_unfinished() {
            self.unfinished.clear();
            return false;
        }
        let Ok(_lock) = HostLock::take(&settings.run_dir) else { return true };
        let mut is_open = false;
        for record in journal.unfinished() {
            if self.unfinished.get(&record.id).is_some_and(|known| Instant::now() < known.next) {
                is_open = true;
                continue;
            }
            let (id, source) = (record.id.clone(), record.source.clone());
            match recover::finish(&journal, &settings.cluster, record.clone()).await {
                Ok(None) => {
                    is_open = true;
                    continue;
                }
                Ok(Some(outcome)) => {
                    warn!(change = id, source, verdict = ?outcome.verdict, "a change was interrupted and is finished now");
                    self.note_finished(&record, &outcome);
                }
                Err(e) => {
                    error!(change = id, source, error = %e, "a change was interrupted and cannot be finished");
                }
            }
            if journal.is_unfinished(&id) {
                is_open = true;
                let attempts = self.unfinished.get(&id).map_or(1, |known| known.attempts + 1);
                let next = Instant::now() + BACKOFF.after(attempts);
                self.unfinished.insert(id, Unfinished { attempts, next });
            }
        }
        is_open
    }

    /// The ledger, and in a cluster the enactment, may say that something is missing that is there now.
    fn note_finished(&mut self, record: &Record, outcome: &Outcome) {
        if record.policies.is_empty() {
            return;
        }
        self.settle_attempts();
        for name in &record.policies {
            let state = self.ledger.0.get_mut(name).map(|entry| &mut entry.policy_state);
            if let Some(
                PolicyState::RolledBack { reason: said } | PolicyState::RevertFailed { reason: said },
            ) = state
            {
                *said = reason(outcome);
            }
            if let Some(cluster) = &mut self.cluster {
                cluster.amend(name, outcome);
            }
        }
        self.store();
    }
}
