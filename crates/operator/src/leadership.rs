//! Until when this operator surely leads. Every write asks here first.

use std::time::{Duration, Instant};

use tokio::sync::watch;

#[derive(Debug, Clone)]
pub struct Leadership(watch::Receiver<Option<Instant>>);

impl Leadership {
    pub fn new() -> (watch::Sender<Option<Instant>>, Self) {
        let (until, receiver) = watch::channel(None);
        (until, Self(receiver))
    }

    /// How long this operator surely leads from now on.
    pub fn left(&self) -> Option<Duration> {
        let until = (*self.0.borrow())?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Returns when it is renewed, won or lost.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// One that leads for an hour.
    #[cfg(test)]
    pub fn leading() -> Self {
        Self(watch::channel(Some(Instant::now() + Duration::from_secs(3600))).1)
    }

    #[cfg(test)]
    pub fn lost() -> Self {
        Self(watch::channel(None).1)
    }
}
