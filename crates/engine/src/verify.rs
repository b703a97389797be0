//! Verification: our own comparison, looked at again on every event, until it holds or time is up.

use std::time::{Duration, Instant};

use linesman_core::compare::Difference;
use serde_json::Value;

use crate::nm::Nm;
use crate::observe;
use crate::watch::Watch;

/// How a look at the host went.
#[derive(Debug)]
pub enum Verdict {
    Holds,
    Differs(Vec<Difference>),
    /// The host could not be looked at.
    Blind(String),
}

/// Looks until `judge` finds nothing wrong, or `deadline` is over; the last look counts.
pub async fn settle(
    nm: &Nm,
    watch: &Watch,
    deadline: Duration,
    judge: impl Fn(&Value) -> Vec<Difference>,
) -> Verdict {
    let end = Instant::now() + deadline;
    loop {
        let verdict = match observe::retrieve(nm).await {
            Err(e) => Verdict::Blind(e.to_string()),
            Ok(state) => match judge(&state) {
                none if none.is_empty() => return Verdict::Holds,
                some => Verdict::Differs(some),
            },
        };
        let Some(left) = end.checked_duration_since(Instant::now()) else { return verdict };
        tokio::time::timeout(left, watch.next()).await.ok();
    }
}
