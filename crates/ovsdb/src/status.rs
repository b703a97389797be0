//! How a client is doing, for those who watch it.

use std::sync::Arc;

use crate::error::Error;
use crate::remote::Remote;
use crate::value::Uuid;

#[derive(Debug, Clone, Default)]
pub struct Status {
    pub state: State,
    /// Attempts that failed since the last connection that was one.
    pub failures: u64,
    /// Why the last attempt failed, or the last connection ended.
    pub error: Option<Arc<Error>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum State {
    #[default]
    Connecting,
    /// The replica is up to date, and calls are answered.
    Connected { remote: Remote, member: Option<Member> },
    /// Before the next round of attempts.
    Waiting,
}

impl Status {
    pub fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected { .. })
    }
}

/// What a server says about itself in `_Server`; older ones than 2.9 have nothing to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub model: Model,
    /// It is connected to its cluster.
    pub connected: bool,
    pub leader: bool,
    /// How far it has followed its cluster.
    pub index: Option<i64>,
    pub cluster: Option<Uuid>,
    pub server: Option<Uuid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    Standalone,
    Clustered,
    Relay,
}

/// Which servers will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Membership {
    /// Any that is connected to its cluster and not behind what was seen already.
    #[default]
    Any,
    /// Only the leader: needed for locks, which each member of a cluster grants for itself.
    LeaderOnly,
    /// Whichever answers; nothing is asked about it.
    Unchecked,
}
