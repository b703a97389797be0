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

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub enum Look<'a> {
    /// At everything.
    Whole,
    /// Quickly, at what this state declares, where that can be seen quickly.
    Declared(&'a Value),
}

/// Looks until `judge` finds nothing wrong, or `deadline` is over; the last look, at everything, counts.
pub async fn settle(
    nm: &Nm,
    watch: &Watch,
    deadline: Duration,
    look: Look<'_>,
    judge: impl Fn(&Value) -> Vec<Difference>,
) -> Verdict {
    let end = Instant::now() + deadline;
    loop {
        let last = Instant::now() >= end;
        let state = match look {
            Look::Declared(state) if !last && observe::quick::suffices(state) => {
                observe::quick::retrieve(nm, state).await
            }
            _ => observe::retrieve(nm).await,
        };
        let verdict = match state {
            Err(e) => Verdict::Blind(e.to_string()),
            Ok(state) => match judge(&state) {
                none if none.is_empty() => return Verdict::Holds,
                some => Verdict::Differs(some),
            },
        };
        if last {
            return verdict;
        }
        let left = end.saturating_duration_since(Instant::now());
        tokio::time::timeout(left, watch.next()).await.ok();
    }
}
