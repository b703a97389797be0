//! `--wait`: until nobody else is changing this host.

use std::time::{Duration, Instant};

use linesman_core::outcome::Outcome;
use linesman_engine::Error;
use linesman_engine::transaction::Refusal;
use tokio::sync::watch;

use crate::exit::Exit;
use crate::output;

const PAUSE: Duration = Duration::from_millis(250);

/// `limit`: none does not wait at all. A busy host refuses before anything is changed, so
/// that the attempt can be made again as if it were the first.
pub async fn attempt(
    limit: Option<Duration>,
    mut stop: watch::Receiver<bool>,
    mut work: impl AsyncFnMut() -> Result<Outcome, Refusal>,
) -> Result<Outcome, Refusal> {
    let start = Instant::now();
    let mut told = false;
    loop {
        let refusal = match work().await {
            Err(Refusal::Host(error)) if Exit::from(&error) == Exit::Busy => error,
            ended => return ended,
        };
        let patient = limit.is_some_and(|limit| start.elapsed() < limit);
        if !patient {
            return Err(refusal.into());
        }
        if !std::mem::replace(&mut told, true) {
            output::error(format!("waiting: {refusal}"));
        }
        if tokio::time::timeout(PAUSE, stop.wait_for(|stop| *stop)).await.is_ok() {
            return Err(Error::Interrupted.into());
        }
    }
}
