//! Requests to the agent: from the command line, from a signal, from a changed directory or cluster.

use linesman_core::reconcile::{CorrectionHistory, PolicyState};
use tracing::warn;

use super::Agent;
use crate::socket::Command;
use crate::{Source, sources};

impl Agent {
    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::Look(answer) => {
                self.reload();
                self.report();
                answer.send(()).ok();
            }
            Command::Retry(name, answer) => {
                let mut retried = Vec::new();
                // In a cluster a new try is the operator's: whoever wants one edits the policy.
                let alone = self.cluster.is_none();
                self.ledger.0.retain(|known, entry| {
                    let meant = name.as_ref().is_none_or(|name| name == known);
                    let corrected = !entry.corrections.is_empty();
                    if !meant || (!corrected && (entry.is_applied() || !alone)) {
                        return true;
                    }
                    retried.push(known.clone());
                    entry.corrections = CorrectionHistory::default();
                    if !entry.is_applied() && alone {
                        entry.transition(PolicyState::Waiting {
                            reason: "retried".into(),
                            attempts: 0,
                            until: 0,
                        });
                    }
                    true
                });
                self.store();
                answer.send(retried).ok();
            }
        }
    }

    pub(super) fn reload(&mut self) {
        let dir = match (&self.cluster, &self.config.source) {
            (Some(cluster), _) => {
                self.sources = cluster.sources(&self.ledger);
                return;
            }
            (None, Source::Directory(dir)) => dir.clone(),
            (None, Source::Cluster(_)) => return,
        };
        match sources::read(&dir) {
            Ok(mut sources) => {
                sources.keep_unaccounted(&self.ledger);
                for (name, why) in &sources.wrong {
                    if self.sources.wrong.get(name) != Some(why) {
                        warn!(policy = name, "policy {name} cannot be read:\n{why}");
                    }
                }
                let is_new = sources.differs(&self.sources);
                self.sources = sources;
                // What one policy lacked another may have brought; an editor's files bring nothing.
                let waiting = self.ledger.0.values_mut().filter(|_| is_new);
                for entry in waiting {
                    if let PolicyState::Waiting { attempts, until, .. } = &mut entry.policy_state {
                        (*attempts, *until) = (0, 0);
                    }
                }
            }
            Err(e) => {
                let why = format!("cannot read {}: {e}; the applied policies stay", dir.display());
                if self.sources.directory_error.as_ref() != Some(&why) {
                    warn!("{why}");
                }
                self.sources.directory_error = Some(why);
            }
        }
    }
}
