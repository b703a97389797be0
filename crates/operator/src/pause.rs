//! A pause before something that failed is tried again, longer each time.

use std::time::Instant;

use linesman_daemon::backoff::Backoff;

#[derive(Debug)]
pub struct Pause {
    /// None: it may be tried again. Whether it is depends on other things, so nobody is woken for it.
    until: Option<Instant>,
    backoff: Backoff,
}

impl Pause {
    pub fn new(backoff: Backoff) -> Self {
        Self { until: None, backoff }
    }

    /// It has failed, perhaps again.
    pub fn begin(&mut self, now: Instant) {
        self.until = Some(now + self.backoff.failed());
    }

    pub fn lasts(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until > now)
    }

    /// Whether it is time to try again.
    pub fn is_due(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// That the time has come was heeded.
    pub fn heed(&mut self, now: Instant) {
        self.until.take_if(|until| *until <= now);
    }
}
