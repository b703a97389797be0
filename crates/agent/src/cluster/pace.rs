//! How often the state of a node is written: a port that flaps must not flood the API server.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;

/// Between two writes at least, and at most so much more: what flaps on all nodes at once is spread.
const INTERVAL: Duration = Duration::from_secs(1);
const JITTER: Duration = Duration::from_millis(500);

/// The first change is written at once, the next ones from time to time, and the last one always.
#[derive(Debug, Default)]
pub struct Pace {
    /// When the next write may be made.
    next: Option<Instant>,
    /// Until when a state is held back.
    pub held: Option<Instant>,
}

impl Pace {
    /// Whether a state that differs may be written now; if not, it is held back. What somebody asked for may.
    pub fn may_write(&mut self, now: Instant, asked: bool) -> bool {
        self.held = self.next.filter(|next| now < *next && !asked);
        if self.held.is_none() {
            self.next = Some(now + INTERVAL + jitter());
        }
        self.held.is_none()
    }
}

fn jitter() -> Duration {
    let random = RandomState::new().hash_one(0);
    let millis = random % u64::try_from(JITTER.as_millis()).unwrap_or(1);
    Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_change_goes_at_once_and_the_last_one_always() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let mut writes = Vec::new();
        // An address that comes and goes every tenth of a second, for ten seconds.
        for tenth in 0..100 {
            let now = start + Duration::from_millis(100 * tenth);
            if pace.may_write(now, false) {
                writes.push(tenth);
            }
        }
        assert_eq!(writes[0], 0);
        assert!((6..=10).contains(&writes.len()), "{writes:?}");
        // Right after a write, whenever the last one was.
        let end = start + Duration::from_secs(10);
        assert!(!pace.may_write(end, false) || !pace.may_write(end, false));
        let held = pace.held.expect("the last state waits");
        assert!(held > end);
        assert!(pace.may_write(held, false) && pace.held.is_none());
    }

    #[test]
    fn a_request_is_answered_at_once() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert!(pace.may_write(now, false) && !pace.may_write(now, false));
        assert!(pace.may_write(now, true) && pace.held.is_none());
    }
}
