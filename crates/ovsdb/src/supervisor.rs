//! Keeps a connection: round after round over the remotes, until nobody needs it any more.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::{Error, Result};
use crate::session::{Lasting, Session};
use crate::status::{State, Status};
use crate::wire::Wire;

/// Grows while nothing succeeds.
#[derive(Debug)]
struct Backoff {
    min: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    fn new(min: Duration, max: Duration) -> Self {
        Backoff { min, max: max.max(min), next: min }
    }

    fn take(&mut self) -> Duration {
        let now = self.next;
        self.next = (now * 2).min(self.max);
        now
    }

    fn reset(&mut self) {
        self.next = self.min;
    }
}

pub(crate) async fn run(mut lasting: Lasting) {
    let remotes = lasting.config.remotes.clone();
    let mut backoff = Backoff::new(lasting.config.backoff.0, lasting.config.backoff.1);
    // Each remote is tried once before the first pause.
    let mut left = remotes.len();
    for remote in remotes.iter().cycle() {
        if left == 0 {
            left = remotes.len();
            lasting.status.send_modify(|status| status.state = State::Waiting);
            if paused(&mut lasting, backoff.take()).await.is_none() {
                return;
            }
        }
        left -= 1;
        lasting.status.send_modify(|status| status.state = State::Connecting);
        let mut lived = Duration::ZERO;
        let error = match connection(&mut lasting, remote, &mut lived).await {
            Ok(()) => return,
            Err(error) => Arc::new(error),
        };
        // A server that always takes the connection and drops it again is a failing one.
        if lived >= backoff.next {
            backoff.reset();
            left = remotes.len();
        }
        lasting.status.send_modify(|status| {
            *status = Status { state: State::Connecting, failures: status.failures + 1, error: Some(error) };
        });
    }
}

/// Ok: nobody needs it any more.
async fn connection(lasting: &mut Lasting, remote: &crate::Remote, lived: &mut Duration) -> Result<()> {
    let config = &lasting.config;
    let wire = Wire::open(remote, config.tls.as_ref(), config.connect_timeout, config.max_message).await?;
    let mut session = Session::new(wire, lasting);
    session.establish().await?;
    let since = Instant::now();
    let served = session.serve().await;
    *lived = since.elapsed();
    served.map(drop)
}

/// Meanwhile, locks may be asked for and given back. None: nobody is left.
async fn paused(lasting: &mut Lasting, pause: Duration) -> Option<()> {
    let end = sleep(pause);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return Some(()),
            request = lasting.locks.next() => drop(lasting.locks.take(request?)),
        }
    }
}

impl Lasting {
    /// The last failure, for those who wait in vain.
    pub(crate) fn last_error(status: &Status) -> Option<Box<Error>> {
        status.error.as_deref().cloned().map(Box::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(8));
        let pauses: Vec<u64> = (0..6).map(|_| backoff.take().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 8, 8]);
        backoff.reset();
        assert_eq!(backoff.take(), Duration::from_secs(1));
    }
}
