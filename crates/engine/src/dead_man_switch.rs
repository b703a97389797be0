//! The dead man's switch: NetworkManager's checkpoint, kept wound while this process lives and wants it.
//!
//! NetworkManager does one thing at a time: while it makes a hundred bridges, it neither answers nor looks at its timers. When it
//! comes back, a timer that has run out goes before calls that wait. So a call that winds is always on its way, on a connection that
//! carries nothing else, and a NetworkManager that answers late gets more time.
//!
//! It has a thread of its own: the process's other thread waits for the disk (the journal is on it before each step), and on a
//! busy host that can take longer than the timer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{LocalBoxStream, StreamExt};
use tokio::sync::{oneshot, watch};

use crate::nm::Nm;
use crate::{Error, Result};

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
    terms: Arc<Mutex<Terms>>,
    /// Its thread ends when this goes.
    _wanted: oneshot::Sender<()>,
}

/// What this process wants of its winder, and what it has seen.
#[derive(Debug)]
struct Terms {
    made: Option<Instant>,
    usual: Duration,
    /// From then on NetworkManager's own timer decides, whatever this process still waits for.
    until: Instant,
}

impl DeadManSwitch {
    /// nmstate makes the checkpoint and does not report its name: whatever appears beside `known` is it. It is wound
    /// for `longest` at most.
    pub async fn arm(known: Vec<String>, dead_man: Duration, longest: Duration) -> Result<Self> {
        let (publish, state) = watch::channel(CheckpointState::Awaited);
        let terms = Terms { made: None, usual: dead_man, until: Instant::now() + longest };
        let terms = Arc::new(Mutex::new(terms));
        let (wanted, unwanted) = oneshot::channel();
        let (ready, armed) = oneshot::channel();
        let terms_of_winder = terms.clone();
        let winding = async move || {
            let timer = Timer { set: Instant::now(), runs: dead_man, answer: Duration::ZERO };
            match Winder::connect(known, publish, terms_of_winder, timer).await {
                Ok((winder, signals)) => {
                    // If nobody hears this any more, nobody wants it either.
                    let _ = ready.send(Ok(()));
                    tokio::select! {
                        () = winder.run(signals, WIND_EVERY.min(dead_man / 4)) => {}
                        _ = unwanted => {}
                    }
                }
                Err(error) => drop(ready.send(Err(error))),
            }
        };
        let failed = |e| Error::call("starting the thread that keeps the checkpoint", e);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let thread = std::thread::Builder::new().name("dead-man-switch".to_owned());
        thread.spawn(move || runtime.block_on(winding())).map_err(failed)?;
        armed.await.map_err(|_| failed(std::io::Error::other("it ended")))??;
        Ok(Self { state, terms, _wanted: wanted })
    }

    pub fn state(&self) -> CheckpointState {
        self.state.borrow().clone()
    }

    /// When the checkpoint was first seen.
    pub fn since(&self) -> Option<Instant> {
        locked(&self.terms).made
    }

    /// From the next turn on NetworkManager waits only so long for a sign of life.
    pub fn tighten(&self, dead_man: Duration) {
        locked(&self.terms).usual = dead_man;
    }

    /// Winds it for so long from now, at most.
    pub fn wind_for(&self, longest: Duration) {
        locked(&self.terms).until = Instant::now() + longest;
    }

    /// The change is to be rolled back: if that takes too long, NetworkManager does it.
    pub fn stop_winding(&self) {
        self.wind_for(Duration::ZERO);
    }

    /// Ends when the checkpoint is there, and never if it does not come.
    pub fn opened(&self) -> impl Future<Output = ()> + use<> {
        let mut state = self.state.clone();
        async move {
            if state.wait_for(|state| matches!(state, CheckpointState::Open(_))).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
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
}

fn locked(terms: &Mutex<Terms>) -> MutexGuard<'_, Terms> {
    terms.lock().unwrap_or_else(PoisonError::into_inner)
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
    terms: Arc<Mutex<Terms>>,
    list: Option<LocalBoxFuture<'static, Result<Vec<String>>>>,
    /// When it was sent, and for how long it winds.
    wind: Option<LocalBoxFuture<'static, (Instant, Duration, Result<()>)>>,
    timer: Timer,
}

/// What NetworkManager announces.
struct Signals {
    checkpoints: LocalBoxStream<'static, ()>,
    restarts: LocalBoxStream<'static, ()>,
}

impl Winder {
    async fn connect(
        known: Vec<String>,
        publish: watch::Sender<CheckpointState>,
        terms: Arc<Mutex<Terms>>,
        timer: Timer,
    ) -> Result<(Self, Signals)> {
        let nm = Nm::connect().await?;
        let checkpoints = nm.checkpoint_events().await?.boxed_local();
        let restarts = nm.restarts().await?.boxed_local();
        let winder = Self { nm, known, publish, terms, list: None, wind: None, timer };
        Ok((winder, Signals { checkpoints, restarts }))
    }

    /// Until the checkpoint is lost.
    async fn run(mut self, mut signals: Signals, every: Duration) {
        let mut turn = tokio::time::interval(every);
        while !self.has_lost() {
            tokio::select! {
                event = signals.checkpoints.next() => match event {
                    Some(()) => self.look(),
                    // The bus is gone, and this connection with it.
                    None => return self.lose(Loss::Restarted),
                },
                restarted = signals.restarts.next() => {
                    self.lose(Loss::Restarted);
                    if restarted.is_none() {
                        return;
                    }
                }
                _ = turn.tick() => self.turn(),
                open = answer(&mut self.list) => self.listed(open),
                (sent, runs, wound) = answer(&mut self.wind) => self.wound(sent, runs, wound),
            }
        }
    }

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
        let (usual, until) = {
            let terms = locked(&self.terms);
            (terms.usual, terms.until)
        };
        if self.wind.is_some() || Instant::now() >= until {
            return;
        }
        let (nm, sent, runs) = (self.nm.clone(), Instant::now(), self.timer.next(usual));
        let seconds = u32::try_from(runs.as_secs()).unwrap_or(u32::MAX);
        self.wind = Some(Box::pin(async move { (sent, runs, nm.wind(&path, seconds).await) }));
    }

    fn listed(&mut self, open: Result<Vec<String>>) {
        let Ok(open) = open else { return };
        let current = self.publish.borrow().clone();
        match current {
            CheckpointState::Awaited => {
                if let Some(new) = open.into_iter().find(|checkpoint| !self.known.contains(checkpoint)) {
                    locked(&self.terms).made.get_or_insert_with(Instant::now);
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
