//! The host as the agent observes it: its state, and the drift of the applied policies.

use std::collections::{BTreeMap, BTreeSet};

use linesman_core::compare::Difference;
use linesman_core::reconcile::{Entry, Ledger};
use linesman_core::verify::verify;
use linesman_daemon::clock;
use linesman_engine::observe::live::{Depth, Live};
use serde_json::Value;

#[derive(Debug, Default)]
pub struct Host {
    live: Option<Live>,
    pub drift: BTreeMap<String, Vec<Difference>>,
    /// Why the last look failed.
    pub observation_error: Option<String>,
    /// When the last look succeeded; 0 before the first.
    pub observed: u64,
    /// Just verified by a transaction: no drift before the next full look.
    fresh: BTreeSet<String>,
}

impl Host {
    /// Never ends before something is new.
    pub async fn changed(&mut self) -> Option<Depth> {
        let Some(live) = &mut self.live else {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            self.look().await;
            return None;
        };
        match live.next().await {
            Ok(depth) => {
                if depth == Depth::Full {
                    self.fresh.clear();
                }
                self.observation_error = None;
                self.observed = clock::now();
                Some(depth)
            }
            Err(e) => {
                self.observation_error = Some(e.to_string());
                None
            }
        }
    }

    /// Looks at everything.
    pub async fn look(&mut self) {
        let looked = match &mut self.live {
            Some(live) => live.look_fully().await,
            None => Live::start().await.map(|live| self.live = Some(live)),
        };
        if looked.is_ok() {
            self.fresh.clear();
            self.observed = clock::now();
        }
        self.observation_error = looked.err().map(|e| e.to_string());
    }

    /// A transaction has just looked at these itself; the state is from before, and a full look comes.
    pub fn verified(&mut self, ledger: &Ledger, names: &[String]) {
        let applied = |name: &&String| ledger.get(name).is_some_and(Entry::is_applied);
        self.fresh.extend(names.iter().filter(applied).cloned());
        if let Some(live) = &mut self.live {
            live.look_soon();
        }
    }

    /// Everything that was made was looked at since.
    pub fn is_settled(&self) -> bool {
        self.fresh.is_empty()
    }

    pub fn state(&self) -> &Value {
        self.live.as_ref().map_or(&Value::Null, Live::state)
    }

    /// Whether it is known if a policy has drifted.
    pub fn is_observed(&self, name: &str) -> bool {
        self.observation_error.is_none() && !self.state().is_null() && !self.fresh.contains(name)
    }

    /// Compares the applied states with the host. True if the drift changed.
    pub fn compare(&mut self, ledger: &Ledger) -> bool {
        if self.observation_error.is_some() || self.state().is_null() {
            return false;
        }
        let state = self.state();
        let drift: BTreeMap<String, Vec<Difference>> = ledger
            .0
            .iter()
            .filter(|(name, entry)| {
                entry.is_applied() && !entry.applied_state.is_null() && !self.fresh.contains(*name)
            })
            .map(|(name, entry)| (name.clone(), verify(&entry.applied_state, state, state)))
            .filter(|(_, differences)| !differences.is_empty())
            .collect();
        let new = drift != self.drift;
        self.drift = drift;
        new
    }
}
