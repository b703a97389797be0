//! When the next full look is due. The time is given, so that it can be tested without waiting.

use std::time::{Duration, Instant};

/// NetworkManager speaks in sentences; the full look waits for their end.
const SILENCE: Duration = Duration::from_millis(700);
/// A NetworkManager that never falls silent does not put the full look off for longer than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// Full looks are dear: so many times as long as the last one took.
const REST: u32 = 40;
/// What nobody announces (settings of Open vSwitch, sysctls) is found this late.
const REGULAR: Duration = Duration::from_secs(600);
/// After a look that failed.
const AGAIN: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Kernel,
    NetworkManager,
}

#[derive(Debug)]
pub struct Schedule {
    due: Option<Instant>,
    /// The first event since the last full look began.
    first_event: Option<Instant>,
    /// The full look that is due must not be put off.
    urgent: bool,
    /// When the last full look ended, and how long it took.
    last: (Instant, Duration),
}

impl Schedule {
    pub fn new(now: Instant) -> Self {
        Self { due: None, first_event: None, urgent: false, last: (now, Duration::ZERO) }
    }

    pub fn due(&self) -> Instant {
        self.due.unwrap_or(self.last.0 + REGULAR)
    }

    pub fn event(&mut self, event: Event, now: Instant) {
        let first = *self.first_event.get_or_insert(now);
        let rested = self.last.0 + self.last.1 * REST;
        let quiet = (now + SILENCE).min(first + PATIENCE);
        self.due = Some(match (event, self.due) {
            // A busy kernel must not put off what is due.
            (Event::Kernel, Some(due)) => due,
            (_, Some(due)) if self.urgent => due,
            _ => quiet.max(rested),
        });
    }

    /// A full look now, whatever it costs, as after a change of our own.
    pub fn look_soon(&mut self, now: Instant) {
        self.due = Some(now);
        self.urgent = true;
    }

    pub fn begun(&mut self) {
        (self.due, self.first_event, self.urgent) = (None, None, false);
    }

    pub fn ended(&mut self, start: Instant, now: Instant) {
        self.last = (now, now.saturating_duration_since(start));
    }

    pub fn failed(&mut self, now: Instant) {
        self.due = Some(now + AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn milliseconds(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// A full look each time it is due; returns how many there were while NetworkManager spoke every `pause`.
    fn looks(pause: Duration, took: Duration, during: Duration) -> usize {
        let start = Instant::now();
        let (mut schedule, mut now, mut looks) = (Schedule::new(start), start, 0);
        while now < start + during {
            schedule.event(Event::NetworkManager, now);
            if schedule.due() <= now {
                schedule.begun();
                schedule.ended(now, now + took);
                looks += 1;
            }
            now += pause;
        }
        looks
    }

    #[test]
    fn noise_does_not_put_the_full_look_off_for_ever() {
        let minute = Duration::from_secs(60);
        assert!((10..=13).contains(&looks(milliseconds(500), milliseconds(20), minute)));
        assert!((10..=13).contains(&looks(milliseconds(10), milliseconds(20), minute)));
        // A look that takes a second is rested from for 40.
        assert_eq!(looks(milliseconds(500), milliseconds(1000), minute), 2);
    }

    #[test]
    fn the_full_look_waits_for_the_end_of_a_burst() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start);
        schedule.event(Event::NetworkManager, start);
        schedule.event(Event::NetworkManager, start + milliseconds(400));
        assert_eq!(schedule.due(), start + milliseconds(1100));
        schedule.event(Event::Kernel, start + milliseconds(900));
        assert_eq!(schedule.due(), start + milliseconds(1100), "a busy kernel does not put it off");
        schedule.look_soon(start);
        schedule.event(Event::NetworkManager, start + milliseconds(900));
        assert_eq!(schedule.due(), start, "what is urgent is not put off");
        schedule.begun();
        assert!(schedule.due() > start + milliseconds(10_000));
    }
}
