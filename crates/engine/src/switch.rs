//! The dead man's switch: NetworkManager's checkpoint, kept wound while this process lives and wants it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Result;
use crate::nm::Nm;

/// What is known about the checkpoint of this change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// nmstate has not made it yet.
    Awaited,
    Open(String),
    /// It was there and is not any more, and we did not end it: NetworkManager died, or its timer ran out.
    Lost(String),
}

#[derive(Debug)]
pub struct Switch {
    state: watch::Receiver<State>,
    task: JoinHandle<()>,
    made: Rc<RefCell<Option<std::time::Instant>>>,
}

impl Switch {
    /// nmstate makes the checkpoint and does not tell its name: whatever appears beside `known` is it.
    pub async fn arm(nm: &Nm, known: Vec<String>, dead_man: Duration) -> Result<Self> {
        let mut events = nm.checkpoint_events().await?;
        let (tell, state) = watch::channel(State::Awaited);
        let nm = nm.clone();
        let made = Rc::new(RefCell::new(None));
        let since = made.clone();
        let seconds = u32::try_from(dead_man.as_secs()).unwrap_or(u32::MAX);
        let task = tokio::task::spawn_local(async move {
            let mut turn = tokio::time::interval(dead_man / 4);
            loop {
                tokio::select! {
                    event = events.next() => if event.is_none() { tell.send_modify(State::lose); return },
                    _ = turn.tick() => {}
                }
                let current = tell.borrow().clone();
                match (current, nm.checkpoints().await) {
                    (State::Awaited, Ok(open)) => {
                        if let Some(new) = open.into_iter().find(|c| !known.contains(c)) {
                            since.borrow_mut().get_or_insert_with(std::time::Instant::now);
                            tell.send_replace(State::Open(new));
                        }
                    }
                    (State::Open(path), Ok(open)) if !open.contains(&path) => {
                        tell.send_replace(State::Lost(path));
                        return;
                    }
                    (State::Open(path), Ok(_)) => {
                        nm.wind(&path, seconds).await.ok();
                    }
                    (State::Open(path), Err(_)) => {
                        tell.send_replace(State::Lost(path));
                        return;
                    }
                    (State::Awaited, Err(_)) => {}
                    (State::Lost(_), _) => return,
                }
            }
        });
        Ok(Self { state, task, made })
    }

    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// When the checkpoint was first seen.
    pub fn since(&self) -> Option<std::time::Instant> {
        *self.made.borrow()
    }

    /// Ends only when the checkpoint is lost.
    pub async fn lost(&mut self) {
        if self.state.wait_for(|s| matches!(s, State::Lost(_))).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Stops winding; from here on NetworkManager's own timer runs.
    pub fn release(self) -> State {
        self.state()
    }
}

impl State {
    fn lose(&mut self) {
        if let Self::Open(path) = self {
            *self = Self::Lost(std::mem::take(path));
        }
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.task.abort();
    }
}
