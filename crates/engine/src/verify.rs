//! Verification: our own comparison, repeated on every event until it holds or time is up.

mod activation;
mod reasons;
mod stuck;
pub(crate) mod unmoved;

use std::time::{Duration, Instant};

use linesman_core::compare::Difference;
use serde_json::Value;
use unmoved::Effort;

use crate::bond_options::BondOptions;
use crate::nm::Nm;
use crate::watch::Watch;
use crate::{Result, observe, primary_port, promiscuous};

/// Whether the host is in the wanted state.
#[derive(Debug)]
pub enum Verification {
    Holds,
    Differs(Vec<Difference>),
    /// The host could not be observed.
    Unobservable(String),
}

/// How much of the host is observed.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// Everything.
    Whole,
    /// Only what this state declares, where that can be observed quickly.
    Declared(&'a Value),
}

/// Observes until `differences` finds none, or `deadline` is over; the last observation, of everything, counts.
pub async fn settle(
    nm: &Nm,
    watch: &Watch,
    deadline: Duration,
    scope: Scope<'_>,
    differences: impl Fn(&Value) -> Vec<Difference>,
) -> Verification {
    let mut patience = Patience::new(Instant::now(), deadline);
    let mut efforts = vec![
        (Instant::now() + deadline * 2 / 3, Effort::MakeAnew),
        (Instant::now() + deadline / 3, Effort::ActivateAgain),
    ];
    let mut bonds = BondOptions::default();
    loop {
        let last = Instant::now() >= patience.end;
        let state = match scope {
            Scope::Declared(state) if !last && observe::quick::suffices(state) => {
                observe::quick::retrieve(nm, state).await
            }
            _ => observe::retrieve(nm).await,
        };
        let verification = match state {
            Err(e) => Verification::Unobservable(e.to_string()),
            Ok(state) => match Box::pin(differing(nm, scope, &state, &differences)).await {
                Err(e) => Verification::Unobservable(e.to_string()),
                Ok(none) if none.is_empty() => return Verification::Holds,
                Ok(some) => {
                    patience.seen(Instant::now(), some.len());
                    Verification::Differs(some)
                }
            },
        };
        if let Verification::Differs(differences) = &verification {
            primary_port::clear(&primary_port::unwanted(differences));
            if !last {
                Box::pin(bonds.set(nm, watch, differences)).await;
            }
        }
        if let (Verification::Differs(differences), Scope::Declared(desired)) = (&verification, scope)
            && let Some((_, effort)) = efforts.pop_if(|(at, _)| *at <= Instant::now())
        {
            if effort == Effort::ActivateAgain {
                Box::pin(stuck::activate_again(nm, desired, differences)).await;
            }
            Box::pin(promiscuous::set(differences)).await;
            Box::pin(unmoved::set_again(nm, desired, differences, effort)).await;
        }
        if last {
            return Box::pin(explained(nm, watch, scope, verification)).await;
        }
        let left = patience.end.saturating_duration_since(Instant::now());
        tokio::time::timeout(left, watch.next()).await.ok();
    }
}

/// What does not hold; of what looks as declared, what is not up yet.
async fn differing(
    nm: &Nm,
    scope: Scope<'_>,
    state: &Value,
    differences: &impl Fn(&Value) -> Vec<Difference>,
) -> Result<Vec<Difference>> {
    match (differences(state), scope) {
        (none, Scope::Declared(desired)) if none.is_empty() => activation::pending(nm, desired, state).await,
        (found, _) => Ok(found),
    }
}

/// A failed change is told with its cause; what a rollback has not restored yet is looked at again anyway.
async fn explained(nm: &Nm, watch: &Watch, scope: Scope<'_>, verification: Verification) -> Verification {
    match (verification, scope) {
        (Verification::Differs(mut differences), Scope::Declared(_)) => {
            reasons::explain(nm, watch, &mut differences).await;
            Verification::Differs(differences)
        }
        (other, _) => other,
    }
}

/// Until when it is looked. A busy host that gets nearer with every look is given more time than one that stands still:
/// a hundred bridges on a loaded machine take NetworkManager a while.
#[derive(Debug)]
struct Patience {
    end: Instant,
    step: Duration,
    latest: Instant,
    fewest: usize,
}

impl Patience {
    fn new(now: Instant, deadline: Duration) -> Self {
        Self { end: now + deadline, step: deadline / 2, latest: now + deadline * 5, fewest: usize::MAX }
    }

    fn seen(&mut self, now: Instant, differences: usize) {
        if differences < self.fewest {
            let first = self.fewest == usize::MAX;
            self.fewest = differences;
            if !first {
                self.end = self.end.max(now + self.step).min(self.latest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_waits_while_differences_decrease() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut patience = Patience::new(start, Duration::from_secs(12));
        for second in 0..12 {
            patience.seen(at(second), 100);
        }
        assert_eq!(patience.end, at(12));
        patience.seen(at(11), 40);
        assert_eq!(patience.end, at(17));
        patience.seen(at(16), 41);
        assert_eq!(patience.end, at(17), "back and forth is no progress");
        for second in 17..200 {
            patience.seen(at(second), 40 - usize::try_from(second / 10).unwrap_or_default());
        }
        assert_eq!(patience.end, at(60), "not for ever");
    }
}
