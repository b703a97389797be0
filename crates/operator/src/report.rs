//! Report: the status of a policy, written when it differs, and what people are told about the change.

use std::time::{Duration, Instant};

use linesman_api::condition::{dated, find};
use linesman_api::conditions::policy::{AVAILABLE, PROGRESSING};
use linesman_api::policy::PolicyStatus;
use linesman_api::time::Time;
use linesman_fleet::rollout::{PolicyFacts, StatusUrgency, policy_event, urgency};
use serde_json::json;

use crate::act::{Hand, Result, Written};
use crate::echo::Echo;
use crate::events;
use crate::world::Papers;

/// Between writes that only tell other numbers.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub enum Reported {
    Nothing,
    /// Not before then.
    Later(Instant),
    Written(Echo),
    Refused(Echo),
}

pub async fn report(
    hand: &Hand,
    identity: &str,
    policy: &PolicyFacts,
    papers: &Papers,
    mut status: PolicyStatus,
    last: Option<Instant>,
    now: Time,
) -> Result<Reported> {
    let old = &papers.status;
    status.conditions = dated(&old.conditions, status.conditions, now);
    let due = last.map(|last| last + PAUSE).filter(|due| *due > Instant::now());
    match (urgency(old, &status), due) {
        (StatusUrgency::Unchanged, _) => return Ok(Reported::Nothing),
        (StatusUrgency::Later, Some(due)) => return Ok(Reported::Later(due)),
        (StatusUrgency::Later, None) | (StatusUrgency::Now, _) => {}
    }
    let echo = match hand.status(&policy.name, &papers.version, json!(status)).await? {
        Written::Refused(echo) => return Ok(Reported::Refused(echo)),
        Written::Done(echo) => echo,
    };
    if let Some(seconds) = lasted(old, &status, now) {
        hand.metrics.finished(seconds);
    }
    if let (Some(event), Echo::Policy(version)) = (policy_event(old, &status), &echo) {
        events::publish(hand, identity, policy, *version, &event).await;
    }
    Ok(Reported::Written(echo))
}

/// How long a rollout took that has just ended well.
fn lasted(old: &PolicyStatus, new: &PolicyStatus, now: Time) -> Option<u64> {
    let began = find(&old.conditions, PROGRESSING).filter(|condition| condition.is_true())?;
    find(&new.conditions, AVAILABLE).filter(|condition| condition.is_true())?;
    began.last_transition_time.map(|began| now.since(began))
}

#[cfg(test)]
mod tests {
    use linesman_api::condition::{Condition, Truth};

    use super::*;

    #[test]
    fn a_rollout_lasts_from_its_first_word_to_its_last() {
        let status = |kind| {
            let conditions = vec![Condition::new(kind, Truth::True, "", "")];
            PolicyStatus { conditions: dated(&[], conditions, Time(10)), ..PolicyStatus::default() }
        };
        assert_eq!(lasted(&status(PROGRESSING), &status(AVAILABLE), Time(25)), Some(15));
        assert_eq!(lasted(&status(AVAILABLE), &status(AVAILABLE), Time(25)), None);
        assert_eq!(lasted(&status(PROGRESSING), &status("Degraded"), Time(25)), None);
    }
}
