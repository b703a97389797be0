//! The handle that programs hold.

mod builder;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

pub use builder::Builder;
pub(crate) use builder::Config;

use crate::error::{Error, Result};
use crate::lock::{Lock, LockRequest, Names};
use crate::op::{Op, OpResult, results};
use crate::remote::Remote;
use crate::replica::Replica;
use crate::schema::Schema;
use crate::session::{Call, Lasting};
use crate::status::{State, Status};

/// One database of a server or of a cluster, over a connection that is kept.
///
/// Clones share it. Calls may be made at the same time and are answered as the server gets to them; one that is made while
/// there is no connection waits for the next one. Each is bounded by its deadline.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
    limit: Duration,
}

#[derive(Debug)]
struct Shared {
    database: String,
    calls: mpsc::Sender<Call>,
    locks: mpsc::UnboundedSender<LockRequest>,
    names: Names,
    status: watch::Receiver<Status>,
    replica: Option<Replica>,
    task: AbortHandle,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Client {
    /// Several remotes are members of one cluster.
    pub fn builder(remotes: impl IntoIterator<Item = Remote>, database: impl Into<String>) -> Builder {
        Builder::new(remotes.into_iter().collect(), database.into())
    }

    /// The same connection, with another deadline for the calls of this handle.
    #[must_use]
    pub fn with_timeout(&self, limit: Duration) -> Self {
        Client { shared: self.shared.clone(), limit }
    }

    pub fn database(&self) -> &str {
        &self.shared.database
    }

    pub fn status(&self) -> watch::Receiver<Status> {
        self.shared.status.clone()
    }

    /// Waits for a connection with a filled replica, as long as a call may take.
    pub async fn ready(&self) -> Result<()> {
        let mut status = self.status();
        match timeout(self.limit, status.wait_for(Status::is_connected)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Error::Stopped),
            Err(_) => Err(self.not_connected()),
        }
    }

    /// Empty for ever without [`Builder::monitor`].
    pub fn replica(&self) -> Option<Replica> {
        self.shared.replica.clone()
    }

    pub async fn schema(&self) -> Result<Arc<Schema>> {
        let schema = self.call("get_schema", json!([self.shared.database])).await?;
        Ok(Arc::new(Schema::parse(&schema)?))
    }

    /// Runs the operations as one transaction: all of them, or none.
    ///
    /// When the deadline passes or the connection is lost, it is unknown whether it was committed.
    pub async fn transact(&self, ops: &[Op]) -> Result<Vec<OpResult>> {
        let ops_sent = ops.iter().map(|op| json!(op));
        let params = std::iter::once(json!(self.shared.database)).chain(ops_sent).collect();
        let answers = self.call("transact", Value::Array(params)).await?;
        let answers = answers.as_array().map(Vec::as_slice).unwrap_or_default();
        results(ops, answers).map_err(Error::Transaction)
    }

    /// Any method of the protocol, such as `list_dbs`.
    pub async fn call(&self, method: &str, params: Value) -> Result<Value> {
        let (reply, answer) = oneshot::channel();
        let call = Call { method: method.to_owned(), params, reply };
        let answered = async {
            self.shared.calls.send(call).await.map_err(|_| Error::Stopped)?;
            answer.await.map_err(|_| Error::Stopped)?
        };
        match timeout(self.limit, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(self.too_late(method)),
        }
    }

    /// Asks for a lock. The handle says when it is held; dropping it gives the lock back.
    pub fn lock(&self, name: &str) -> Result<Lock> {
        Lock::new(name, false, &self.shared.locks, &self.shared.names)
    }

    /// Takes a lock from whoever has it.
    pub fn steal(&self, name: &str) -> Result<Lock> {
        Lock::new(name, true, &self.shared.locks, &self.shared.names)
    }

    fn too_late(&self, method: &str) -> Error {
        let status = self.shared.status.borrow().clone();
        match status.state {
            State::Connected { remote, .. } => {
                Error::NoAnswer { remote, what: method.to_owned(), limit: self.limit }
            }
            State::Connecting | State::Waiting => self.not_connected(),
        }
    }

    fn not_connected(&self) -> Error {
        Error::NotConnected { limit: self.limit, last: Lasting::last_error(&self.shared.status.borrow()) }
    }
}
