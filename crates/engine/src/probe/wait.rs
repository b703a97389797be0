//! After a change the network takes its time. Probes are tried again until they pass or patience runs out.

use std::{
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{
    StreamExt,
    future::{Either, join, join_all, select},
    stream::FuturesUnordered,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};

use linesman_core::probe::{DEFAULT_TIMEOUT, Probe, ProbeResult, ProbeStatus};

use super::{
    cluster::Cluster,
    run::{SLACK, attempt},
};

/// No probe is started more often than this, whatever happens on the network.
const PAUSE: Duration = Duration::from_millis(300);
/// An attempt that has heard nothing for so long is joined by a second one: it may be bound to an address that is gone.
const OVERLAP: Duration = Duration::from_secs(1);
/// What a probe that did not pass before may cost once all the others have passed.
const GRACE: Duration = Duration::from_millis(500);
/// How long a family that passed before may be without a default route, once another one passes: address detection and
/// router advertisements take their time, and it may have been withdrawn.
const OTHER_FAMILY: Duration = Duration::from_secs(5);
/// What a host loses on which nothing answers, however many probes there are: one time-out before, the grace after.
const LOST: Duration = DEFAULT_TIMEOUT.saturating_add(SLACK).saturating_add(GRACE);
const _: () = assert!(LOST.as_millis() <= 3000, "a host without gateway and DNS loses at most three seconds");

/// What a change owes to a probe, by what it said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// It passed: nothing less will do.
    InFull,
    /// It passed with a remark, or nobody had asked.
    Somehow,
    /// It did not pass: of interest only.
    Nothing,
}

impl Due {
    fn to(probe: &Probe, before: &[ProbeResult]) -> Self {
        let result = before.iter().find(|result| result.probe.spec == probe.spec);
        match result.map(|result| &result.status) {
            Some(ProbeStatus::Passed { note: None, .. }) => Due::InFull,
            Some(ProbeStatus::Passed { .. }) | None => Due::Somehow,
            Some(ProbeStatus::Failed { .. } | ProbeStatus::NotApplicable { .. }) => Due::Nothing,
        }
    }

    fn is_settled_by(self, status: &ProbeStatus) -> bool {
        match status {
            ProbeStatus::Passed { note: None, .. } => true,
            ProbeStatus::Passed { .. } => self != Due::InFull,
            // One that must pass may find its route again; for the others nothing to probe is an answer.
            ProbeStatus::NotApplicable { .. } => self == Due::Nothing,
            ProbeStatus::Failed { .. } => false,
        }
    }
}

/// Tries all probes after a change until every one that passed before passes again, or until patience runs out: at once
/// whenever `wake` returns, and from time to time without that. The others are reported as they stand then.
pub async fn wait_until_pass(
    probes: &[Probe],
    before: &[ProbeResult],
    cluster: &Cluster,
    patience: Duration,
    mut wake: impl AsyncFnMut(),
) -> Vec<ProbeResult> {
    let board = Board::new(patience, cluster.clone());
    let listen = async {
        loop {
            wake().await;
            board.changes.send_replace(());
            // One that never has to wait must not keep the probes from running.
            tokio::task::yield_now().await;
        }
    };
    let wishes =
        probes.iter().flat_map(Probe::expand).map(|probe| board.wish(Due::to(&probe, before), probe));
    let fulfil = fulfil(&board, wishes.collect());
    tokio::select! {
        () = listen => {}
        () = fulfil => {}
    }
    board.results()
}

async fn fulfil(board: &Board, wishes: Vec<Wish<'_>>) {
    let (others, required): (Vec<_>, Vec<_>) = wishes.into_iter().partition(|wish| wish.due == Due::Nothing);
    let (families, required): (Vec<_>, Vec<_>) =
        required.into_iter().partition(|wish| wish.probe.alternative);
    let required = pin!(join(join_all(required.into_iter().map(Wish::pursue)), any_family(board, families)));
    let others = pin!(join_all(others.into_iter().map(Wish::pursue)));
    match select(required, others).await {
        Either::Left((_, others)) => drop(timeout(GRACE, select(others, pin!(board.complete()))).await),
        Either::Right((_, required)) => drop(required.await),
    }
}

/// One of them has to pass. The others get some time to find a default route; one that has a route is waited for.
async fn any_family(board: &Board, families: Vec<Wish<'_>>) {
    let slots: Vec<usize> = families.iter().map(|wish| wish.slot).collect();
    let mut running: FuturesUnordered<_> = families.into_iter().map(Wish::pursue).collect();
    if running.next().await.is_some() {
        let all = pin!(running.collect::<Vec<()>>());
        let withdrawn = pin!(async {
            sleep(OTHER_FAMILY).await;
            board.until(|entries| slots.iter().all(|slot| entries[*slot].is_decided())).await;
        });
        select(all, withdrawn).await;
    }
}

/// What is known of each probe so far, and what they share.
struct Board {
    started: Instant,
    deadline: Instant,
    entries: Mutex<Vec<Entry>>,
    written: watch::Sender<()>,
    changes: watch::Sender<()>,
    cluster: Cluster,
}

struct Entry {
    probe: Probe,
    latest: Option<(ProbeStatus, Duration)>,
}

impl Entry {
    fn is_decided(&self) -> bool {
        let status = self.latest.as_ref().map(|(status, _)| status);
        matches!(status, Some(ProbeStatus::Passed { note: None, .. } | ProbeStatus::NotApplicable { .. }))
    }
}

impl Board {
    fn new(patience: Duration, cluster: Cluster) -> Self {
        let started = Instant::now();
        let (changes, _) = watch::channel(());
        Self {
            started,
            deadline: started + patience,
            entries: Mutex::default(),
            written: watch::channel(()).0,
            changes,
            cluster,
        }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wish(&self, due: Due, probe: Probe) -> Wish<'_> {
        let mut entries = self.entries();
        entries.push(Entry { probe: probe.clone(), latest: None });
        Wish { probe, due, slot: entries.len() - 1, board: self, changes: self.changes.subscribe() }
    }

    fn write(&self, slot: usize, status: ProbeStatus) {
        self.entries()[slot].latest = Some((status, self.started.elapsed()));
        self.written.send_replace(());
    }

    /// Every probe has said something.
    async fn complete(&self) {
        self.until(|entries| entries.iter().all(|entry| entry.latest.is_some())).await;
    }

    async fn until(&self, holds: impl Fn(&[Entry]) -> bool) {
        let mut written = self.written.subscribe();
        // The sender lives as long as this.
        while !holds(&self.entries()) && written.changed().await.is_ok() {}
    }

    fn results(&self) -> Vec<ProbeResult> {
        let unheard = || (ProbeStatus::failed("no answer yet"), self.started.elapsed());
        let result = |Entry { probe, latest }| {
            let (status, after) = latest.unwrap_or_else(unheard);
            ProbeResult { probe, status, after }
        };
        self.entries().drain(..).map(result).collect()
    }
}

/// One probe on its way.
struct Wish<'a> {
    probe: Probe,
    due: Due,
    slot: usize,
    board: &'a Board,
    changes: watch::Receiver<()>,
}

impl Wish<'_> {
    /// Attempts may overlap: on a host where interfaces come and go all the time, one that was given up at every change
    /// would never get to hear a slow server.
    async fn pursue(mut self) {
        let mut running = FuturesUnordered::new();
        let (mut due, mut last_start) = (Instant::now(), Instant::now());
        while Instant::now() < self.board.deadline || !running.is_empty() {
            if due <= Instant::now() && Instant::now() < self.board.deadline {
                last_start = Instant::now();
                due = last_start + OVERLAP;
                running.push(self.attempt());
            }
            tokio::select! {
                Some(status) = running.next() => {
                    if self.take(status) {
                        return;
                    }
                    if running.is_empty() {
                        due = last_start + PAUSE;
                    }
                }
                Ok(()) = self.changes.changed() => due = last_start + PAUSE,
                () = sleep_until(due.min(self.board.deadline)), if Instant::now() < self.board.deadline => {}
            }
        }
    }

    fn attempt(&self) -> impl Future<Output = ProbeStatus> + use<> {
        let deadline = self.board.deadline.min(Instant::now() + self.probe.timeout);
        let (probe, cluster) = (self.probe.clone(), self.board.cluster.clone());
        async move { attempt(&probe, &cluster, deadline).await }
    }

    /// Says whether this settles the probe.
    fn take(&self, status: ProbeStatus) -> bool {
        let last = self.due.is_settled_by(&status);
        self.board.write(self.slot, status);
        last
    }
}
