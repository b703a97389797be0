//! A command that was killed in the middle of a change: NetworkManager rolls back its own part, the agent the rest.

use linesman_engine::journal::Journal;
use linesman_engine::lock::HostLock;
use linesman_engine::recover;
use tracing::{error, warn};

use super::Agent;

impl Agent {
    /// True: somebody is changing this host, or a change awaits confirmation; whoever does that may be killed, too.
    ///
    /// What the agent itself left unfinished waits for its next start, which also tells the ledger.
    pub(super) async fn finish_interrupted(&mut self) -> bool {
        let journal = Journal::new(&self.config.settings.state_dir);
        if !journal.may_be_unfinished() {
            return false;
        }
        let Ok(_lock) = HostLock::take(&self.config.settings.run_dir) else { return true };
        let mut is_pending = false;
        let by_hand = journal.unfinished().into_iter().filter(|record| record.policies.is_empty());
        for record in by_hand.filter(|record| !self.interrupted.contains(&record.id)).collect::<Vec<_>>() {
            let (id, source) = (record.id.clone(), record.source.clone());
            match recover::finish(&journal, &self.config.settings.cluster, record).await {
                Ok(None) => {
                    is_pending = true;
                    continue;
                }
                Ok(Some(outcome)) => {
                    warn!(change = id, source, verdict = ?outcome.verdict, "a change was interrupted and is finished now");
                }
                Err(e) => {
                    error!(change = id, source, error = %e, "a change was interrupted and cannot be finished")
                }
            }
            self.interrupted.insert(id);
        }
        is_pending
    }
}
