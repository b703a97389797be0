//! The locks that handles exist for, and what the server says about them.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::lock::{LockRequest, LockState};

#[derive(Debug)]
pub(crate) struct Locks {
    requests: mpsc::UnboundedReceiver<LockRequest>,
    wanted: BTreeMap<String, Wanted>,
}

#[derive(Debug)]
struct Wanted {
    steal: bool,
    state: watch::Sender<LockState>,
    /// The call whose answer counts.
    asked: Option<u64>,
}

/// What to ask the server for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) lock: String,
}

impl Ask {
    fn new(method: &'static str, lock: &str) -> Self {
        Ask { method, lock: lock.to_owned() }
    }
}

impl Locks {
    pub(crate) fn new(requests: mpsc::UnboundedReceiver<LockRequest>) -> Self {
        Locks { requests, wanted: BTreeMap::new() }
    }

    /// None: every handle and every client is gone.
    pub(crate) async fn next(&mut self) -> Option<LockRequest> {
        self.requests.recv().await
    }

    /// Notes it, and says what the server must be asked for because of it.
    pub(crate) fn take(&mut self, request: LockRequest) -> Vec<Ask> {
        match request {
            LockRequest::Lock { name, steal, state } => {
                let ask = Ask::new(if steal { "steal" } else { "lock" }, &name);
                self.wanted.insert(name, Wanted { steal, state, asked: None });
                vec![ask]
            }
            // A client that waits for a lock must give that up before it may steal it.
            LockRequest::Steal(name) => vec![Ask::new("unlock", &name), Ask::new("steal", &name)],
            LockRequest::Unlock(name) => {
                self.wanted.remove(&name);
                vec![Ask::new("unlock", &name)]
            }
        }
    }

    /// On a new connection. A lock is stolen once, not again each time the connection was lost.
    pub(crate) fn all(&mut self) -> Vec<Ask> {
        let ask = |(name, wanted): (&String, &mut Wanted)| {
            let steal = std::mem::take(&mut wanted.steal);
            Ask::new(if steal { "steal" } else { "lock" }, name)
        };
        self.wanted.iter_mut().map(ask).collect()
    }

    pub(crate) fn asked(&mut self, ask: &Ask, id: u64) {
        if let Some(wanted) = self.wanted.get_mut(&ask.lock) {
            wanted.asked = Some(id);
            wanted.steal = wanted.steal && ask.method != "steal";
        }
    }

    /// To a `lock` or `steal`; others than the last one are of the past.
    pub(crate) fn answered(&mut self, name: &str, id: u64, answer: &Value) {
        if let Some(wanted) = self.wanted.get(name).filter(|wanted| wanted.asked == Some(id)) {
            match answer.get("locked").and_then(Value::as_bool) {
                Some(true) => wanted.set(LockState::Held),
                Some(false) => wanted.set(LockState::Waiting),
                None => {}
            }
        }
    }

    pub(crate) fn notified(&self, name: &str, state: LockState) {
        if let Some(wanted) = self.wanted.get(name) {
            wanted.set(state);
        }
    }

    pub(crate) fn disconnected(&self) {
        self.wanted.values().for_each(|wanted| wanted.set(LockState::Disconnected));
    }
}

impl Wanted {
    fn set(&self, state: LockState) {
        self.state.send_if_modified(|now| std::mem::replace(now, state) != state);
    }
}
