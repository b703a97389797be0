//! The dead man's switch: NetworkManager's checkpoint, kept wound while this process lives and wants it.
//!
//! NetworkManager does one thing at a time: while it makes a hundred bridges, it neither answers nor looks at its timers. When it
//! comes back, a timer that has run out goes before calls that wait. So a call that winds is always on its way, on a connection that
//! carries nothing else, and a NetworkManager that answers late gets more time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Result;
use crate::nm::Nm;

/// How often it is wound.
const WIND_EVERY: Duration = Duration::from_millis(2500);
/// The timer of a NetworkManager that answers late, in times of the usual one.
const LONGEST: u32 = 3;

/// What is known about the checkpoint of this change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointState {
    /// nmstate has not made it yet.
    Awaited,
    Open(String),
    /// It was there and is not any more, and we did not end it.
    Lost(Loss),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// NetworkManager, or the bus.
    Restarted,
    /// NetworkManager was too busy to hear that it was wound.
    RanOut { after: Duration },
    /// Another program ended it: nmstate itself, if it failed.
    Ended,
}

#[derive(Debug)]
pub struct DeadManSwitch {
    state: watch::Receiver<CheckpointState>,
    task: JoinHandle<()>,
    made: Rc<RefCell<Option<Instant>>>,
    usual: Rc<Cell<Duration>>,
    /// From then on NetworkManager's own timer decides, whatever this process still waits for.
    until: Rc<Cell<Instant>>,
}

impl DeadManSwitch {
    /// nmstate makes the checkpoint and does not report its name: whatever appears beside `known` is it. It is wound
    /// for `longest` at most.
    pub async fn arm(known: Vec<String>, dead_man: Duration, longest: Duration) -> Result<Self> {
        let nm = Nm::connect().await?;
        let mut events = nm.checkpoint_events().await?;
        let mut restarts = nm.restarts().await?;
        let (publish, state) = watch::channel(CheckpointState::Awaited);
        let made = Rc::new(RefCell::new(None));
        let usual = Rc::new(Cell::new(dead_man));
        let until = Rc::new(Cell::new(Instant::now() + longest));
        let mut winder = Winder {
            nm,
            known,
            publish,
            made: made.clone(),
            usual: usual.clone(),
            until: until.clone(),
            list: None,
            wind: None,
            timer: Timer { set: Instant::now(), runs: dead_man, answer: Duration::ZERO },
        };
        let task = tokio::task::spawn_local(async move {
            let mut turn = tokio::time::interval(WIND_EVERY.min(dead_man / 4));
            while !winder.has_lost() {
                tokio::select! {
                    event = events.next() => match event {
                        Some(()) => winder.look(),
                        // The bus is gone, and this connection with it.
                        None => return winder.lose(Loss::Restarted),
                    },
                    restarted = restarts.next() => {
                        winder.lose(Loss::Restarted);
                        if restarted.is_none() {
                            return;
                        }
                    }
                    _ = turn.tick() => winder.turn(),
                    open = answer(&mut winder.list) => winder.listed(open),
                    (sent, runs, wound) = answer(&mut winder.wind) => winder.wound(sent, runs, wound),
                }
            }
        });
        Ok(Self { state, task, made, usual, until })
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
        self.usual.set(dead_man);
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
    pub async fn lost(&mut self) -> Loss {
        loop {
            if let CheckpointState::Lost(loss) = *self.state.borrow_and_update() {
                return loss;
            }
            if self.state.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Stops winding; from here on NetworkManager's own timer runs.
    pub fn disarm(self) -> CheckpointState {
        self.state()
    }
}

impl Drop for DeadManSwitch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The answer to a call that is on its way; nothing is lost if the wait is given up.
async fn answer<T>(call: &mut Option<LocalBoxFuture<'static, T>>) -> T {
    match call {
        Some(waiting) => {
            let answer = waiting.await;
            *call = None;
            answer
        }
        None => std::future::pending().await,
    }
}

struct Winder {
    nm: Nm,
    known: Vec<String>,
    publish: watch::Sender<CheckpointState>,
    made: Rc<RefCell<Option<Instant>>>,
    usual: Rc<Cell<Duration>>,
    until: Rc<Cell<Instant>>,
    list: Option<LocalBoxFuture<'static, Result<Vec<String>>>>,
    /// When it was sent, and for how long it winds.
    wind: Option<LocalBoxFuture<'static, (Instant, Duration, Result<()>)>>,
    timer: Timer,
}

impl Winder {
    fn has_lost(&self) -> bool {
        matches!(*self.publish.borrow(), CheckpointState::Lost(_))
    }

    fn lose(&self, loss: Loss) {
        if matches!(*self.publish.borrow(), CheckpointState::Open(_)) {
            self.publish.send_replace(CheckpointState::Lost(loss));
        }
    }

    fn turn(&mut self) {
        let open = match &*self.publish.borrow() {
            CheckpointState::Awaited => None,
            CheckpointState::Open(path) => Some(path.clone()),
            CheckpointState::Lost(_) => return,
        };
        match open {
            None => self.look(),
            Some(path) => self.wind(path),
        }
    }

    /// Which checkpoints there are.
    fn look(&mut self) {
        let nm = self.nm.clone();
        self.list.get_or_insert_with(|| Box::pin(async move { nm.checkpoints().await }));
    }

    fn wind(&mut self, path: String) {
        if self.wind.is_some() || Instant::now() >= self.until.get() {
            return;
        }
        let (nm, sent, runs) = (self.nm.clone(), Instant::now(), self.timer.next(self.usual.get()));
        let seconds = u32::try_from(runs.as_secs()).unwrap_or(u32::MAX);
        self.wind = Some(Box::pin(async move { (sent, runs, nm.wind(&path, seconds).await) }));
    }

    fn listed(&mut self, open: Result<Vec<String>>) {
        let Ok(open) = open else { return };
        let current = self.publish.borrow().clone();
        match current {
            CheckpointState::Awaited => {
                if let Some(new) = open.into_iter().find(|checkpoint| !self.known.contains(checkpoint)) {
                    self.made.borrow_mut().get_or_insert_with(Instant::now);
                    self.timer.set = Instant::now();
                    self.publish.send_replace(CheckpointState::Open(new.clone()));
                    self.wind(new);
                }
            }
            CheckpointState::Open(path) if !open.contains(&path) => {
                self.lose(self.timer.loss(Instant::now()));
            }
            _ => {}
        }
    }

    fn wound(&mut self, sent: Instant, runs: Duration, wound: Result<()>) {
        let took = sent.elapsed();
        match wound {
            Ok(()) => self.timer = Timer { set: sent, runs, answer: self.timer.remembered(took) },
            // Its checkpoint is gone, or NetworkManager is: both are announced, but perhaps not to us.
            Err(_) => self.look(),
        }
        // One that answers late may do so again.
        if took >= WIND_EVERY {
            self.turn();
        }
    }
}

/// NetworkManager's timer, as far as it is known here.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// At the earliest.
    set: Instant,
    runs: Duration,
    /// How long NetworkManager took to answer of late.
    answer: Duration,
}

impl Timer {
    /// Who was busy a moment ago may be so again: what is remembered fades within half a minute.
    fn remembered(&self, took: Duration) -> Duration {
        took.max(self.answer * 4 / 5)
    }

    /// How long it runs next: a NetworkManager that answers late hears of the next call late, too.
    fn next(&self, usual: Duration) -> Duration {
        (usual + self.answer * 2).min(usual * LONGEST)
    }

    /// Why the checkpoint is gone, if NetworkManager is not.
    fn loss(&self, now: Instant) -> Loss {
        match now.duration_since(self.set) {
            after if after >= self.runs => Loss::RanOut { after },
            _ => Loss::Ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(10);

    fn timer(answer: u64) -> Timer {
        Timer { set: Instant::now(), runs: USUAL, answer: Duration::from_secs(answer) }
    }

    #[test]
    fn who_answers_late_gets_more_time_within_a_bound() {
        assert_eq!(timer(0).next(USUAL), USUAL);
        assert_eq!(timer(4).next(USUAL), Duration::from_secs(18));
        assert_eq!(timer(25).next(USUAL), Duration::from_secs(30));
        assert_eq!(timer(5).remembered(Duration::ZERO), Duration::from_secs(4));
        assert_eq!(timer(5).remembered(Duration::from_secs(7)), Duration::from_secs(7));
    }

    #[test]
    fn a_timer_that_cannot_have_run_out_was_ended() {
        let timer = timer(0);
        assert_eq!(timer.loss(timer.set + Duration::from_secs(9)), Loss::Ended);
        assert_eq!(
            timer.loss(timer.set + Duration::from_secs(11)),
            Loss::RanOut { after: Duration::from_secs(11) }
        );
    }
}
