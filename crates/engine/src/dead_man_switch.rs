//! The dead man's switch: NetworkManager's checkpoint, kept wound while this process lives and wants it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Result;
use crate::nm::Nm;

/// How often it is wound.
const WIND_EVERY: Duration = Duration::from_millis(2500);
/// An answer that took longer than this came from a NetworkManager that lives.
const BUSY: Duration = Duration::from_secs(5);

fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_secs()).unwrap_or(u32::MAX)
}

/// What is known about the checkpoint of this change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointState {
    /// nmstate has not made it yet.
    Awaited,
    Open(String),
    /// It was there and is not any more, and we did not end it: NetworkManager died, or its timer ran out.
    Lost(String),
}

#[derive(Debug)]
pub struct DeadManSwitch {
    state: watch::Receiver<CheckpointState>,
    task: JoinHandle<()>,
    made: Rc<RefCell<Option<Instant>>>,
    seconds: Rc<Cell<u32>>,
    /// From then on NetworkManager's own timer decides, whatever this process still waits for.
    until: Rc<Cell<Instant>>,
}

impl DeadManSwitch {
    /// nmstate makes the checkpoint and does not report its name: whatever appears beside `known` is it. It is wound
    /// for `longest` at most.
    pub async fn arm(nm: &Nm, known: Vec<String>, dead_man: Duration, longest: Duration) -> Result<Self> {
        let mut events = nm.checkpoint_events().await?;
        let (publish, state) = watch::channel(CheckpointState::Awaited);
        let nm = nm.clone();
        let made = Rc::new(RefCell::new(None));
        let since = made.clone();
        let seconds = Rc::new(Cell::new(whole_seconds(dead_man)));
        let wound = seconds.clone();
        let until = Rc::new(Cell::new(Instant::now() + longest));
        let deadline = until.clone();
        let task = tokio::task::spawn_local(async move {
            let mut turn = tokio::time::interval(WIND_EVERY.min(dead_man / 4));
            loop {
                tokio::select! {
                    event = events.next() => if event.is_none() { publish.send_modify(CheckpointState::lose); return },
                    _ = turn.tick() => {}
                }
                let current = publish.borrow().clone();
                let asked = Instant::now();
                match (current, nm.checkpoints().await) {
                    (CheckpointState::Awaited, Ok(open)) => {
                        if let Some(new) = open.into_iter().find(|c| !known.contains(c)) {
                            since.borrow_mut().get_or_insert_with(Instant::now);
                            publish.send_replace(CheckpointState::Open(new));
                        }
                    }
                    (CheckpointState::Open(path), Ok(open)) if !open.contains(&path) => {
                        publish.send_replace(CheckpointState::Lost(path));
                        return;
                    }
                    (CheckpointState::Open(path), Ok(_)) if Instant::now() < deadline.get() => {
                        nm.wind(&path, wound.get()).await.ok();
                    }
                    (CheckpointState::Open(_), Ok(_)) => {}
                    // One that is gone says so at once; one that is busy with the change is only late.
                    (CheckpointState::Open(_), Err(_)) if asked.elapsed() > BUSY => {}
                    (CheckpointState::Open(path), Err(_)) => {
                        publish.send_replace(CheckpointState::Lost(path));
                        return;
                    }
                    (CheckpointState::Awaited, Err(_)) => {}
                    (CheckpointState::Lost(_), _) => return,
                }
            }
        });
        Ok(Self { state, task, made, seconds, until })
    }

    pub fn state(&self) -> CheckpointState {
        self.state.borrow().clone()
    }

    /// When the checkpoint was first seen.
    pub fn since(&self) -> Option<Instant> {
        *self.made.borrow()
    }

    /// From the next turn on NetworkManager waits only so long for a sign of life.
    pub fn tighten(&self, dead_man: Duration) {
        self.seconds.set(whole_seconds(dead_man));
    }

    /// Winds it for so long from now, at most.
    pub fn wind_for(&self, longest: Duration) {
        self.until.set(Instant::now() + longest);
    }

    /// The change is to be rolled back: if that takes too long, NetworkManager does it.
    pub fn stop_winding(&self) {
        self.wind_for(Duration::ZERO);
    }

    /// Ends only when the checkpoint is lost.
    pub async fn lost(&mut self) {
        if self.state.wait_for(|s| matches!(s, CheckpointState::Lost(_))).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Stops winding; from here on NetworkManager's own timer runs.
    pub fn disarm(self) -> CheckpointState {
        self.state()
    }
}

impl CheckpointState {
    fn lose(&mut self) {
        if let Self::Open(path) = self {
            *self = Self::Lost(std::mem::take(path));
        }
    }
}

impl Drop for DeadManSwitch {
    fn drop(&mut self) {
        self.task.abort();
    }
}
