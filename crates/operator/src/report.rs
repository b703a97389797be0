//! Report: the status of a policy, written when it differs, and the event that the change gives.

use std::time::{Duration, Instant};

use linesman_api::condition::{dated, find};
use linesman_api::conditions::PolicyCondition::{Available, Progressing};
use linesman_api::policy::PolicyStatus;
use linesman_api::time::Time;
use linesman_fleet::rollout::{PolicyFacts, StatusUrgency, policy_event, urgency};
use serde_json::json;

use crate::cache::PolicyObject;
use crate::events::{self, Subject};
use crate::pending_writes::PendingWrite;
use crate::writer::{Result, Writer, Written};

/// Between writes in which only numbers differ.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub enum Reported {
    Nothing,
    /// Not before then.
    Later(Instant),
    Written(PendingWrite),
    Refused(PendingWrite),
}

pub async fn report(
    writer: &Writer,
    identity: &str,
    policy: &PolicyFacts,
    object: &PolicyObject,
    mut status: PolicyStatus,
    last: Option<Instant>,
    now: Time,
) -> Result<Reported> {
    let old = &object.status;
    status.conditions = dated(&old.conditions, status.conditions, now);
    let due = last.map(|last| last + PAUSE).filter(|due| *due > Instant::now());
    match (urgency(old, &status), due) {
        (StatusUrgency::Unchanged, _) => return Ok(Reported::Nothing),
        (StatusUrgency::Later, Some(due)) => return Ok(Reported::Later(due)),
        (StatusUrgency::Later, None) | (StatusUrgency::Now, _) => {}
    }
    let write = match writer.policy_status(&policy.name, &object.version, json!(status)).await? {
        Written::Refused(write) => return Ok(Reported::Refused(write)),
        Written::Done(write) => write,
    };
    if let Some(seconds) = duration(old, &status, now) {
        writer.metrics.finished(seconds);
    }
    if let (Some(event), PendingWrite::Policy(version)) = (policy_event(old, &status), &write) {
        events::publish(writer, identity, Subject::policy(policy), *version, &event).await;
    }
    Ok(Reported::Written(write))
}

/// Seconds that a rollout took which has just succeeded.
fn duration(old: &PolicyStatus, new: &PolicyStatus, now: Time) -> Option<u64> {
    let began = find(&old.conditions, Progressing).filter(|condition| condition.is_true())?;
    find(&new.conditions, Available).filter(|condition| condition.is_true())?;
    began.last_transition_time.map(|began| now.since(began))
}

#[cfg(test)]
mod tests {
    use linesman_api::condition::{Condition, Truth};
    use linesman_api::conditions::PolicyCondition::Degraded;

    use super::*;

    #[test]
    fn a_rollout_lasts_from_progressing_to_available() {
        let status = |kind| {
            let conditions = vec![Condition::new(kind, Truth::True, "", "")];
            PolicyStatus { conditions: dated(&[], conditions, Time(10)), ..PolicyStatus::default() }
        };
        assert_eq!(duration(&status(Progressing), &status(Available), Time(25)), Some(15));
        assert_eq!(duration(&status(Available), &status(Available), Time(25)), None);
        assert_eq!(duration(&status(Progressing), &status(Degraded), Time(25)), None);
    }
}
