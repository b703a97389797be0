//! Locks: who may write, among clients that agreed to ask (RFC 7047, section 4.1.8).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};

use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockState {
    /// There is no connection; a lock that was held is lost. It is asked for again.
    Disconnected,
    /// Another client has it.
    Waiting,
    Held,
    /// Another client took it; this one waits for it again.
    Stolen,
}

/// A lock that this client has asked for. Dropping it gives the lock back.
///
/// Each server grants its locks for itself: in a cluster they mean something only with
/// [`crate::Membership::LeaderOnly`]. Put [`crate::Op::assert_lock`] into every transaction that needs it.
#[derive(Debug)]
pub struct Lock {
    name: String,
    state: watch::Receiver<LockState>,
    requests: mpsc::UnboundedSender<LockRequest>,
    names: Names,
}

/// Those that handles exist for.
pub(crate) type Names = Arc<Mutex<BTreeSet<String>>>;

#[derive(Debug)]
pub(crate) enum LockRequest {
    Lock { name: String, steal: bool, state: watch::Sender<LockState> },
    Steal(String),
    Unlock(String),
}

impl Lock {
    pub(crate) fn new(
        name: &str,
        steal: bool,
        requests: &mpsc::UnboundedSender<LockRequest>,
        names: &Names,
    ) -> Result<Self> {
        if !names.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned()) {
            return Err(Error::LockInUse(name.to_owned()));
        }
        let (sender, state) = watch::channel(LockState::Disconnected);
        let lock = Lock { name: name.to_owned(), state, requests: requests.clone(), names: names.clone() };
        let request = LockRequest::Lock { name: name.to_owned(), steal, state: sender };
        requests.send(request).map_err(|_| Error::Stopped)?;
        Ok(lock)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn state(&self) -> LockState {
        *self.state.borrow()
    }

    /// Waits for another state than the last that was seen here.
    pub async fn changed(&mut self) -> Result<LockState> {
        self.state.changed().await.map_err(|_| Error::Stopped)?;
        Ok(*self.state.borrow_and_update())
    }

    /// Waits until it is held, however long that takes.
    pub async fn held(&mut self) -> Result<()> {
        self.state.wait_for(|state| *state == LockState::Held).await.map(drop).map_err(|_| Error::Stopped)
    }

    /// Takes it from whoever has it.
    pub fn steal(&self) -> Result<()> {
        self.requests.send(LockRequest::Steal(self.name.clone())).map_err(|_| Error::Stopped)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A client that has ended has no locks.
        let _ = self.requests.send(LockRequest::Unlock(self.name.clone()));
        self.names.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}
