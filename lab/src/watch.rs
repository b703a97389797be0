//! Reachability, seen from outside while something happens on a node.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::namespaces::Namespaces;
use crate::ping::Pinger;

const EVERY: Duration = Duration::from_millis(100);
/// An echo that took longer counts as lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// One echo request: when it was sent, and whether it was answered within a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    pub at: Instant,
    pub answered: bool,
}

/// Sends an echo request ten times a second until it is stopped or dropped.
#[derive(Debug)]
pub struct Watch {
    ending: Arc<AtomicBool>,
    samples: Arc<Mutex<Vec<Sample>>>,
    sampler: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn start(hub: &Namespaces, target: IpAddr) -> Result<Self> {
        let pinger = Pinger::open(hub, target)?;
        let ending = Arc::new(AtomicBool::new(false));
        let samples = Arc::new(Mutex::new(Vec::new()));
        let (until, into) = (Arc::clone(&ending), Arc::clone(&samples));
        let sampler = std::thread::spawn(move || sample(&pinger, &until, &into));
        Ok(Self { ending, samples, sampler: Some(sampler) })
    }

    /// So far; a sample is decided up to a second after it was sent, and listed only then.
    pub fn samples(&self) -> Vec<Sample> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn longest_outage(&self) -> Duration {
        longest_outage(&self.samples())
    }

    /// By the latest request that is decided; false before the first.
    pub fn reachable_now(&self) -> bool {
        self.samples().last().is_some_and(|sample| sample.answered)
    }

    /// Waits for the last answers, a second at most.
    pub fn stop(mut self) -> Record {
        self.end();
        Record { samples: self.samples() }
    }

    fn end(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        if let Some(sampler) = self.sampler.take() {
            let _ = sampler.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a watch has seen.
#[derive(Debug, Clone)]
pub struct Record {
    pub samples: Vec<Sample>,
}

impl Record {
    pub fn longest_outage(&self) -> Duration {
        longest_outage(&self.samples)
    }

    pub fn lost(&self) -> usize {
        self.samples.iter().filter(|sample| !sample.answered).count()
    }

    pub fn reachable_at_end(&self) -> bool {
        self.samples.last().is_some_and(|sample| sample.answered)
    }
}

/// From the first lost request to the next answered one, or to the last request of all.
fn longest_outage(samples: &[Sample]) -> Duration {
    let mut lost_since = None;
    let mut longest = Duration::ZERO;
    for sample in samples {
        let since = *lost_since.get_or_insert(sample.at);
        longest = longest.max(sample.at - since);
        if sample.answered {
            lost_since = None;
        }
    }
    longest
}

/// The last request is sent when the end is asked for, so that the record says how things stood then.
fn sample(pinger: &Pinger, ending: &AtomicBool, samples: &Mutex<Vec<Sample>>) {
    let mut pending = Pending::default();
    let mut sequence: u16 = 0;
    loop {
        let (now, last) = (Instant::now(), ending.load(Ordering::Relaxed));
        pinger.send(sequence);
        pending.sent(sequence, now);
        sequence = sequence.wrapping_add(1);
        let until = now + if last { PATIENCE } else { EVERY };
        while !(last && pending.is_empty()) && listen(pinger, &mut pending, until) {
            record(&mut pending, samples);
        }
        record(&mut pending, samples);
        if last {
            return;
        }
    }
}

fn listen(pinger: &Pinger, pending: &mut Pending, until: Instant) -> bool {
    let answered = pinger.receive(until);
    answered.into_iter().for_each(|sequence| pending.answered(sequence));
    answered.is_some()
}

fn record(pending: &mut Pending, samples: &Mutex<Vec<Sample>>) {
    samples.lock().unwrap_or_else(PoisonError::into_inner).extend(pending.decided(Instant::now()));
}

/// Requests on their way, oldest first.
#[derive(Default)]
struct Pending {
    order: std::collections::VecDeque<u16>,
    requests: HashMap<u16, Sample>,
}

impl Pending {
    fn sent(&mut self, sequence: u16, at: Instant) {
        self.order.push_back(sequence);
        self.requests.insert(sequence, Sample { at, answered: false });
    }

    fn answered(&mut self, sequence: u16) {
        if let Some(request) = self.requests.get_mut(&sequence) {
            request.answered = true;
        }
    }

    /// Takes out what is decided, in the order it was sent.
    fn decided(&mut self, now: Instant) -> Vec<Sample> {
        let mut decided = Vec::new();
        while let Some(sequence) = self.order.front() {
            match self.requests.get(sequence) {
                Some(request) if !request.answered && now < request.at + PATIENCE => break,
                _ => decided.extend(self.requests.remove(sequence)),
            }
            self.order.pop_front();
        }
        decided
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(answers: &[bool]) -> Vec<Sample> {
        let start = Instant::now();
        let at = |step: usize| start + EVERY * u32::try_from(step).unwrap();
        answers.iter().enumerate().map(|(step, &answered)| Sample { at: at(step), answered }).collect()
    }

    #[test]
    fn an_outage_lasts_from_the_first_lost_to_the_next_answered() {
        assert_eq!(longest_outage(&samples(&[true, true])), Duration::ZERO);
        assert_eq!(longest_outage(&samples(&[true, false, false, true, false, true])), EVERY * 2);
        assert_eq!(longest_outage(&samples(&[true, false, false, false])), EVERY * 2);
    }

    #[test]
    fn samples_are_listed_in_order_once_decided() {
        let start = Instant::now();
        let mut pending = Pending::default();
        pending.sent(0, start);
        pending.sent(1, start + EVERY);
        pending.answered(1);
        assert!(pending.decided(start + EVERY).is_empty());
        let decided = pending.decided(start + PATIENCE);
        assert_eq!(decided.iter().map(|sample| sample.answered).collect::<Vec<_>>(), [false, true]);
    }
}
