//! How a client is set up.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::{Client, Shared};
use crate::cluster::Seen;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::remote::Remote;
use crate::replica::Mirror;
use crate::session::{Lasting, Locks};
use crate::status::{Membership, Status};
use crate::supervisor;
use crate::tls::Tls;

/// Calls that wait for the connection to take them; further ones wait to be let in.
const WAITING: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) remotes: Vec<Remote>,
    pub(crate) database: String,
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) membership: Membership,
    pub(crate) connect_timeout: Duration,
    pub(crate) handshake_timeout: Duration,
    pub(crate) probe_interval: Option<Duration>,
    pub(crate) backoff: (Duration, Duration),
    pub(crate) max_message: usize,
}

#[derive(Debug)]
pub struct Builder {
    config: Config,
    monitor: Option<Monitor>,
    call_timeout: Duration,
}

impl Builder {
    pub(super) fn new(remotes: Vec<Remote>, database: String) -> Self {
        let seconds = Duration::from_secs;
        let config = Config {
            remotes,
            database,
            tls: None,
            membership: Membership::default(),
            connect_timeout: seconds(5),
            handshake_timeout: seconds(30),
            probe_interval: Some(seconds(5)),
            backoff: (seconds(1), seconds(8)),
            max_message: 256 << 20,
        };
        Builder { config, monitor: None, call_timeout: seconds(10) }
    }

    /// For remotes of the kind `ssl:`.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.config.tls = Some(Arc::new(tls));
        self
    }

    /// Keeps a replica of these tables.
    #[must_use]
    pub fn monitor(mut self, monitor: Monitor) -> Self {
        self.monitor = Some(monitor);
        self
    }

    #[must_use]
    pub fn membership(mut self, membership: Membership) -> Self {
        self.config.membership = membership;
        self
    }

    /// Of each call, from when it is made; 10 s unless told.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = limit;
        self
    }

    /// Of a connection, TLS included; 5 s unless told.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.config.connect_timeout = limit;
        self
    }

    /// From the connection to the filled replica; 30 s unless told.
    #[must_use]
    pub fn handshake_timeout(mut self, limit: Duration) -> Self {
        self.config.handshake_timeout = limit;
        self
    }

    /// A server that sends nothing for this long is sent an echo, and is given up if it sends nothing for as long again. 5 s
    /// unless told; none: it is trusted.
    #[must_use]
    pub fn probe_interval(mut self, interval: Option<Duration>) -> Self {
        self.config.probe_interval = interval;
        self
    }

    /// The first and the longest pause after all remotes have failed; 1 s and 8 s unless told.
    #[must_use]
    pub fn backoff(mut self, min: Duration, max: Duration) -> Self {
        self.config.backoff = (min, max);
        self
    }

    /// Of one message, in bytes; 256 MiB unless told. The first rows of a monitor are one message.
    #[must_use]
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.config.max_message = bytes;
        self
    }

    /// Connects in the background, and again whenever the connection is lost. Needs a tokio runtime.
    pub fn start(self) -> Result<Client> {
        if self.config.remotes.is_empty() {
            return Err(Error::NoRemote);
        }
        let runtime = Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let (calls, incoming) = mpsc::channel(WAITING);
        let (locks, requests) = mpsc::unbounded_channel();
        let (status, watched) = watch::channel(Status::default());
        let database = self.config.database.clone();
        let mirror = self.monitor.map(Mirror::new);
        let replica = mirror.as_ref().map(Mirror::replica);
        let lasting = Lasting {
            config: self.config,
            calls: incoming,
            locks: Locks::new(requests),
            replica: mirror,
            seen: Seen::default(),
            status,
            last_id: 0,
        };
        let task = runtime.spawn(supervisor::run(lasting)).abort_handle();
        let names = Arc::default();
        let shared = Shared { database, calls, locks, names, status: watched, replica, task };
        Ok(Client { shared: Arc::new(shared), limit: self.call_timeout })
    }

    /// The same, but every remote has one chance: if none of them will do, nothing is left running.
    pub async fn connect(self) -> Result<Client> {
        let chances = u64::try_from(self.config.remotes.len()).unwrap_or(u64::MAX);
        let client = self.start()?;
        let decided = |status: &Status| status.is_connected() || status.failures >= chances;
        let mut watched = client.status();
        let status = watched.wait_for(decided).await.map_err(|_| Error::Stopped)?.clone();
        match status.error {
            Some(error) if !status.is_connected() => Err((*error).clone()),
            _ => Ok(client),
        }
    }
}
