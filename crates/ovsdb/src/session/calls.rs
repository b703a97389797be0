//! Calls that are on their way. Several may be; their ids tell the answers apart.

use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::op::ErrorCode;

/// As many as a connection has on its way at once; further ones wait for their turn, within their own deadlines.
const AT_ONCE: usize = 256;

/// From a handle to the connection.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) params: Value,
    pub(crate) reply: oneshot::Sender<Result<Value>>,
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    pending: HashMap<u64, Pending>,
}

#[derive(Debug)]
enum Pending {
    Call { method: String, reply: oneshot::Sender<Result<Value>> },
    Lock(String),
}

/// An answer that concerns the connection itself.
#[derive(Debug, PartialEq)]
pub(crate) struct LockAnswer {
    pub(crate) lock: String,
    pub(crate) answer: Value,
}

impl Calls {
    pub(crate) fn has_room(&self) -> bool {
        self.pending.len() < AT_ONCE
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub(crate) fn call(&mut self, id: u64, method: String, reply: oneshot::Sender<Result<Value>>) {
        self.pending.insert(id, Pending::Call { method, reply });
    }

    pub(crate) fn lock(&mut self, id: u64, name: String) {
        self.pending.insert(id, Pending::Lock(name));
    }

    /// Answers to calls that were given up are nobody's.
    pub(crate) fn answered(
        &mut self,
        id: u64,
        result: std::result::Result<Value, Value>,
    ) -> Option<LockAnswer> {
        match self.pending.remove(&id)? {
            Pending::Call { method, reply } => {
                let _ = reply.send(result.map_err(|error| refused(&method, &error)));
                None
            }
            Pending::Lock(lock) => result.ok().map(|answer| LockAnswer { lock, answer }),
        }
    }

    /// Forgets calls that nobody waits for any more; those that the server should cancel.
    pub(crate) fn abandoned(&mut self) -> Vec<u64> {
        let given_up =
            |pending: &Pending| matches!(pending, Pending::Call { reply, .. } if reply.is_closed());
        let ids: Vec<u64> =
            self.pending.iter().filter(|(_, pending)| given_up(pending)).map(|(id, _)| *id).collect();
        ids.into_iter()
            .filter(|id| matches!(self.pending.remove(id), Some(Pending::Call { method, .. }) if method == "transact"))
            .collect()
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        for (_, pending) in self.pending.drain() {
            if let Pending::Call { method, reply } = pending {
                let _ = reply.send(Err(Error::Interrupted { what: method }));
            }
        }
    }
}

/// A refused call: `error` is a text, or an object with `error` and `details`.
pub(crate) fn refused(method: &str, error: &Value) -> Error {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let code = error.get("error").map_or_else(|| text(error), text);
    let details = ["details", "syntax"].iter().filter_map(|key| error.get(key)).map(text).collect::<Vec<_>>();
    Error::Refused { method: method.to_owned(), code: ErrorCode::parse(&code), details: details.join(": ") }
}
