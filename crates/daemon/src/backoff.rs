//! Pauses between attempts that fail.

use std::time::Duration;

/// Doubles from the first pause to the longest.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    attempts: u32,
}

impl Backoff {
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, attempts: 0 }
    }

    /// The pause after so many failed attempts.
    pub fn after(&self, attempts: u32) -> Duration {
        let doubled = attempts.saturating_sub(1).min(16);
        self.first.saturating_mul(1 << doubled).min(self.longest)
    }

    /// Counts a failed attempt; returns the pause until the next one.
    pub fn failed(&mut self) -> Duration {
        self.attempts = self.attempts.saturating_add(1);
        self.after(self.attempts)
    }

    pub fn reset(&mut self) {
        self.attempts = 0;
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(self.failed())
    }
}

impl kube::runtime::utils::Backoff for Backoff {
    fn reset(&mut self) {
        self.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_again_after_a_reset() {
        let seconds = Duration::from_secs;
        let mut backoff = Backoff::new(seconds(5), seconds(30));
        let pauses: Vec<Duration> = backoff.by_ref().take(5).collect();
        assert_eq!(pauses, [5, 10, 20, 30, 30].map(seconds));
        backoff.reset();
        assert_eq!(backoff.failed(), seconds(5));
        assert_eq!(backoff.after(u32::MAX), seconds(30));
    }
}
