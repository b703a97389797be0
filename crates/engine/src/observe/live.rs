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
use super::schedule::{Event, Schedule};
use crate::netlink::LinkEvents;
use crate::nm::Nm;
use crate::{Error, Result};

/// Events come in bursts; one glance after a burst is enough.
const BURST: Duration = Duration::from_millis(40);
const RECONNECT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Live {
    full: Value,
    kernel: Value,
    events: mpsc::Receiver<Event>,
    tasks: Vec<JoinHandle<()>>,
    /// There were events that were not glanced at yet.
    glance_due: bool,
    schedule: Schedule,
    /// The full look that is under way. It goes on by itself: whoever waits for it may give up at any moment.
    looking: Option<(JoinHandle<Result<Looked>>, Instant)>,
}

/// A full look, and glances before and after it: what happens in between is seen as a change, not lost.
#[derive(Debug)]
struct Looked {
    before: Value,
    full: Result<Value>,
    after: Value,
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
            schedule: Schedule::new(Instant::now()),
            looking: None,
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
                while let Ok(event) = self.events.try_recv() {
                    self.note(event);
                }
                if self.glance().await? {
                    return Ok(Depth::Kernel);
                }
            }
            let due = self.schedule.due();
            if self.looking.is_none() && due <= Instant::now() {
                self.begin_full();
            }
            let looked = async {
                match &mut self.looking {
                    Some((task, _)) => Some(task.await.unwrap_or_else(|e| Err(Error::Observe(e.into())))),
                    None => {
                        tokio::time::sleep_until(due.into()).await;
                        None
                    }
                }
            };
            tokio::select! {
                looked = looked => {
                    if let Some(looked) = looked {
                        return self.take_full(looked).map(|()| Depth::Full);
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
        self.begin_full();
        let looked = match &mut self.looking {
            Some((task, _)) => task.await.unwrap_or_else(|e| Err(Error::Observe(e.into()))),
            None => return Ok(()),
        };
        self.take_full(looked)
    }

    /// A full look with the next wait, whatever it costs, as after a change of our own.
    pub fn look_soon(&mut self) {
        self.schedule.look_soon(Instant::now());
        // What is under way began before.
        if let Some((task, ..)) = self.looking.take() {
            task.abort();
        }
    }

    fn begin_full(&mut self) {
        self.schedule.begun();
        self.looking = Some((tokio::task::spawn_local(look()), Instant::now()));
    }

    fn take_full(&mut self, looked: Result<Looked>) -> Result<()> {
        let Some((_, start)) = self.looking.take() else { return Ok(()) };
        let now = Instant::now();
        self.schedule.ended(start, now);
        let Looked { before, full, after } = looked.inspect_err(|_| self.schedule.failed(now))?;
        match full {
            Ok(full) => {
                self.full = patch(&full, &before, &after);
                self.kernel = after;
                // There may have been newer glances than its last one.
                self.glance_due = true;
                Ok(())
            }
            Err(e) => {
                self.schedule.failed(now);
                if self.full.is_null() {
                    self.full = after.clone();
                    self.kernel = after;
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
        self.schedule.event(event, Instant::now());
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn look() -> Result<Looked> {
    let before = glance().await?;
    let full = async { retrieve(&Nm::connect().await?).await }.await;
    Ok(Looked { before, full, after: glance().await? })
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
