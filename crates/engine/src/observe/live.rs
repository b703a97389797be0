//! The state of this host, kept up to date by events.
//!
//! A full look asks NetworkManager for every profile and device and takes seconds with hundreds of them. A glance at
//! the kernel takes milliseconds: what changed there is patched into the last full state at once, and a full look
//! follows beside it when it is quiet again.

use std::time::{Duration, Instant};

use linesman_core::observation::patch;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::glance::glance;
use super::retrieve;
use crate::netlink::LinkEvents;
use crate::nm::Nm;
use crate::{Error, Result};

/// Events come in bursts; one glance after a burst is enough.
const BURST: Duration = Duration::from_millis(40);
/// NetworkManager speaks in sentences; the full look waits for their end.
const SILENCE: Duration = Duration::from_millis(700);
/// Full looks are dear: so many times as long as the last one took.
const REST: u32 = 40;
/// What nobody announces (settings of Open vSwitch, sysctls) is found this late.
const REGULAR: Duration = Duration::from_secs(600);
const RECONNECT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Kernel,
    NetworkManager,
}

#[derive(Debug)]
pub struct Live {
    full: Value,
    kernel: Value,
    events: mpsc::Receiver<Event>,
    tasks: Vec<JoinHandle<()>>,
    /// Something was events, but not glanced at yet.
    glance_due: bool,
    full_due: Option<Instant>,
    /// The full look that is due must not be put off.
    urgent: bool,
    /// The full look that is under way, and the glance before it.
    looking: Option<(JoinHandle<Result<Value>>, Value, Instant)>,
    last_full: (Instant, Duration),
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Kernel,
    Full,
}

impl Live {
    pub async fn start() -> Result<Self> {
        let links = LinkEvents::subscribe().await.map_err(|e| Error::Observe(e.into()))?;
        let (sender, events) = mpsc::channel(64);
        let tasks = vec![
            tokio::task::spawn_local(listen_to_kernel(links, sender.clone())),
            tokio::task::spawn_local(listen_to_networkmanager(sender)),
        ];
        let mut live = Self {
            full: Value::Null,
            kernel: Value::Null,
            events,
            tasks,
            glance_due: false,
            full_due: None,
            urgent: false,
            looking: None,
            last_full: (Instant::now(), Duration::ZERO),
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
            if self.glance_due {
                tokio::time::sleep(BURST).await;
                while let Ok(events) = self.events.try_recv() {
                    self.note(events);
                }
                if self.glance().await? {
                    return Ok(Depth::Kernel);
                }
            }
            let due = self.full_due.unwrap_or(self.last_full.0 + REGULAR);
            if self.looking.is_none() && due <= Instant::now() {
                self.begin_full().await?;
            }
            let looked = async {
                match &mut self.looking {
                    Some((task, _, _)) => task.await.unwrap_or_else(|e| Err(Error::Observe(e.into()))),
                    None => {
                        tokio::time::sleep_until(due.into()).await;
                        Ok(Value::Null)
                    }
                }
            };
            tokio::select! {
                full = looked => {
                    if self.looking.is_some() {
                        self.take_full(full).await?;
                        return Ok(Depth::Full);
                    }
                }
                event = self.events.recv() => match event {
                    Some(event) => self.note(event),
                    None => return Err(Error::Observe("the event sources have ended".into())),
                },
            }
        }
    }

    /// Looks at everything now.
    pub async fn look_fully(&mut self) -> Result<()> {
        if let Some((task, ..)) = self.looking.take() {
            task.abort();
        }
        self.begin_full().await?;
        let full = match &mut self.looking {
            Some((task, ..)) => task.await.unwrap_or_else(|e| Err(Error::Observe(e.into()))),
            None => return Ok(()),
        };
        self.take_full(full).await
    }

    /// A full look with the next wait, whatever it costs, as after a change of our own.
    pub fn look_soon(&mut self) {
        self.full_due = Some(Instant::now());
        self.urgent = true;
        // What is under way began before.
        if let Some((task, ..)) = self.looking.take() {
            task.abort();
        }
    }

    async fn begin_full(&mut self) -> Result<()> {
        self.full_due = None;
        self.urgent = false;
        // The glance first: what happens in between is seen as a change, not lost.
        let before = glance().await?;
        let task = tokio::task::spawn_local(async {
            let nm = Nm::connect().await?;
            retrieve(&nm).await
        });
        self.looking = Some((task, before, Instant::now()));
        Ok(())
    }

    async fn take_full(&mut self, full: Result<Value>) -> Result<()> {
        let Some((_, before, start)) = self.looking.take() else { return Ok(()) };
        self.last_full = (Instant::now(), start.elapsed());
        let now = glance().await?;
        match full {
            Ok(full) => {
                self.full = patch(&full, &before, &now);
                self.kernel = now;
                Ok(())
            }
            Err(e) => {
                self.full_due = Some(Instant::now() + RECONNECT);
                if self.full.is_null() {
                    self.full = now.clone();
                    self.kernel = now;
                }
                Err(e)
            }
        }
    }

    async fn glance(&mut self) -> Result<bool> {
        let now = glance().await?;
        self.glance_due = false;
        if now == self.kernel {
            return Ok(false);
        }
        self.full = patch(&self.full, &self.kernel, &now);
        self.kernel = now;
        Ok(true)
    }

    fn note(&mut self, event: Event) {
        self.glance_due = true;
        let rested = self.last_full.0 + self.last_full.1 * REST;
        let quiet = Instant::now() + SILENCE;
        self.full_due = Some(match (event, self.full_due) {
            // A busy kernel must not put off what is due.
            (Event::Kernel, Some(due)) => due,
            (_, Some(due)) if self.urgent => due,
            _ => quiet.max(rested),
        });
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn listen_to_kernel(mut links: LinkEvents, sender: mpsc::Sender<Event>) {
    loop {
        links.changed().await;
        // Full means that a look is due anyway.
        sender.try_send(Event::Kernel).ok();
    }
}

/// Through restarts of NetworkManager and of the bus.
async fn listen_to_networkmanager(sender: mpsc::Sender<Event>) {
    use futures_util::StreamExt;
    loop {
        if let Ok(nm) = Nm::connect().await
            && let (Ok(mut events), Ok(mut owner)) = (nm.events().await, nm.restarts().await)
        {
            sender.try_send(Event::NetworkManager).ok();
            loop {
                tokio::select! {
                    event = events.next() => match event {
                        Some(()) => { sender.try_send(Event::NetworkManager).ok(); }
                        None => break,
                    },
                    _ = owner.next() => break,
                }
            }
            sender.try_send(Event::NetworkManager).ok();
        }
        tokio::time::sleep(RECONNECT).await;
    }
}
