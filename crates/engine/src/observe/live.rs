//! The state of this host, kept up to date by events.
//!
//! A full retrieve asks NetworkManager for every profile and device and takes seconds with hundreds of them.
//! A look at the kernel alone is quick: what changed there is patched into the last full state at once, and a
//! full look follows when NetworkManager has something to say and falls silent again.

use std::time::{Duration, Instant};

use linesman_core::observation::patch;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{retrieve, retrieve_with};
use crate::netlink::LinkEvents;
use crate::nm::Nm;
use crate::{Error, Result};

/// Events come in bursts; one look after a burst is enough.
const BURST: Duration = Duration::from_millis(40);
/// A storm of events must not become a storm of looks: so many times as long as the last look took.
const REST: u32 = 4;
/// NetworkManager speaks in sentences; the full look waits for their end, but not for ever.
const SILENCE: Duration = Duration::from_millis(700);
/// Full looks are dear: so many times as long as the last one took.
const FULL_REST: u32 = 20;
/// What nobody announces (settings of Open vSwitch, sysctls) is found this late.
const REGULAR: Duration = Duration::from_secs(600);
const RECONNECT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Kernel,
    NetworkManager,
}

#[derive(Debug)]
pub struct Live {
    full: Value,
    kernel: Value,
    heard: mpsc::Receiver<Heard>,
    tasks: Vec<JoinHandle<()>>,
    /// Something was heard, but not looked at yet.
    look_due: bool,
    full_due: Option<Instant>,
    last_full: (Instant, Duration),
    last_look: (Instant, Duration),
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Kernel,
    Full,
}

impl Live {
    pub async fn start() -> Result<Self> {
        let links = LinkEvents::subscribe().await.map_err(|e| Error::Observe(e.to_string()))?;
        let (tell, heard) = mpsc::channel(64);
        let tasks = vec![
            tokio::task::spawn_local(listen_to_kernel(links, tell.clone())),
            tokio::task::spawn_local(listen_to_networkmanager(tell)),
        ];
        let now = Instant::now();
        let mut live = Self {
            full: Value::Null,
            kernel: Value::Null,
            heard,
            tasks,
            look_due: false,
            full_due: None,
            last_full: (now, Duration::ZERO),
            last_look: (now, Duration::ZERO),
        };
        live.look_fully().await?;
        Ok(live)
    }

    pub fn state(&self) -> &Value {
        &self.full
    }

    /// Waits until there is something new, looks, and says how. An error is a look that failed. Nothing is lost if
    /// the wait is given up.
    pub async fn next(&mut self) -> Result<Depth> {
        loop {
            let due = self.full_due.unwrap_or(self.last_full.0 + REGULAR);
            if due <= Instant::now() {
                self.look_fully().await?;
                return Ok(Depth::Full);
            }
            if self.look_due {
                tokio::time::sleep(BURST.max(self.until_rested())).await;
                while let Ok(heard) = self.heard.try_recv() {
                    self.note(heard);
                }
                if self.look().await? {
                    return Ok(Depth::Kernel);
                }
                continue;
            }
            match tokio::time::timeout_at(due.into(), self.heard.recv()).await {
                Err(_) => {}
                Ok(None) => return Err(Error::Observe("nobody listens any more".into())),
                Ok(Some(heard)) => self.note(heard),
            }
        }
    }

    /// Looks at everything now, as after a change of our own.
    pub async fn look_fully(&mut self) -> Result<()> {
        let start = Instant::now();
        self.full_due = None;
        // The kernel first: what happens in between is seen as a change, not lost.
        let kernel = kernel().await?;
        let full = match Nm::connect().await {
            Ok(nm) => retrieve(&nm).await,
            Err(e) => Err(e),
        };
        self.last_full = (Instant::now(), start.elapsed());
        match full {
            Ok(full) => {
                self.full = full;
                self.kernel = kernel;
                Ok(())
            }
            Err(e) => {
                self.full_due = Some(Instant::now() + RECONNECT);
                if self.full.is_null() {
                    self.full = kernel.clone();
                    self.kernel = kernel;
                }
                Err(e)
            }
        }
    }

    async fn look(&mut self) -> Result<bool> {
        let start = Instant::now();
        let now = kernel().await?;
        self.look_due = false;
        self.last_look = (Instant::now(), start.elapsed());
        if now == self.kernel {
            return Ok(false);
        }
        self.full = patch(&self.full, &self.kernel, &now);
        self.kernel = now;
        Ok(true)
    }

    fn note(&mut self, heard: Heard) {
        self.look_due = true;
        if heard == Heard::NetworkManager {
            let rested = self.last_full.0 + self.last_full.1 * FULL_REST;
            self.full_due = Some((Instant::now() + SILENCE).max(rested));
        }
    }

    fn until_rested(&self) -> Duration {
        (self.last_look.0 + self.last_look.1 * REST).saturating_duration_since(Instant::now())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn kernel() -> Result<Value> {
    retrieve_with(|s| {
        s.set_kernel_only(true);
    })
    .await
}

async fn listen_to_kernel(mut links: LinkEvents, tell: mpsc::Sender<Heard>) {
    loop {
        links.changed().await;
        // Full means that a look is due anyway.
        tell.try_send(Heard::Kernel).ok();
    }
}

/// Through restarts of NetworkManager and of the bus.
async fn listen_to_networkmanager(tell: mpsc::Sender<Heard>) {
    use futures_util::StreamExt;
    loop {
        if let Ok(nm) = Nm::connect().await
            && let (Ok(mut events), Ok(mut owner)) = (nm.events().await, nm.restarts().await)
        {
            tell.try_send(Heard::NetworkManager).ok();
            loop {
                tokio::select! {
                    event = events.next() => match event {
                        Some(()) => { tell.try_send(Heard::NetworkManager).ok(); }
                        None => break,
                    },
                    _ = owner.next() => break,
                }
            }
            tell.try_send(Heard::NetworkManager).ok();
        }
        tokio::time::sleep(RECONNECT).await;
    }
}
