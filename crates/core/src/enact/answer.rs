//! What an enactment's status should say, and whether that is news.

use linesman_api::condition::{Condition, dated, find};
use linesman_api::conditions::enactment::DRIFTED;
use linesman_api::enactment::{EnactmentStatus, Stage};
use linesman_api::time::Time;

use super::{Bound, Order, Orders};
use crate::compare::Difference;
use crate::keep::Entry;
use crate::policy::Drift;
use crate::report::{self, Category, Ending, Verdict};
use crate::secrets::mask_value;

/// Said before anything is touched.
pub fn begun(bound: &Bound, now: Time) -> EnactmentStatus {
    EnactmentStatus {
        policy_generation: Some(bound.spec.policy.generation),
        attempt: Some(bound.spec.attempt),
        observed_generation: Some(bound.generation),
        conditions: dated(&bound.status.conditions, report::applying(), now),
        ..EnactmentStatus::default()
    }
}

/// The answer to an order, if there is one and the cluster does not know it.
pub fn owed(
    order: &Order,
    bound: &Bound,
    entry: Option<&Entry>,
    drift: &[Difference],
    now: Time,
) -> Option<EnactmentStatus> {
    // An instruction that was made anew, or is being made, waits for no answer to the one before.
    let asked = bound.uid == order.enactment
        && bound.spec.release_expires == Some(order.release)
        && matches!(bound.spec.stage, Stage::Released | Stage::Expired);
    if !asked || order.answer.is_empty() {
        return None;
    }
    let drifted = order.ended.then(|| drifted(order, entry, drift)).flatten();
    // A cluster that was restored from a backup has forgotten what it was told.
    let forgotten = bound.status.attempt != Some(order.attempt);
    let drift_is_news = !says(&bound.status.conditions, drifted.as_ref());
    if order.told && !forgotten && !drift_is_news {
        return None;
    }
    let conditions = order.answer.iter().cloned().chain(drifted).collect();
    Some(EnactmentStatus {
        desired_state: kept(order, entry).map(|entry| {
            let mut state = entry.state.clone();
            mask_value(&mut state);
            state
        }),
        policy_generation: Some(order.generation),
        attempt: Some(order.attempt),
        observed_generation: Some(bound.generation),
        conditions: dated(&bound.status.conditions, conditions, now),
        features: order.features.clone(),
        ..EnactmentStatus::default()
    })
}

/// An instruction from before what this node took last: a cluster that was restored from a backup. Nothing is done
/// for it, and whoever waits is told.
pub fn old_news(bound: &Bound, orders: &Orders, now: Time) -> Option<EnactmentStatus> {
    let order = orders.0.get(&bound.policy)?;
    let unanswered = bound.status.attempt != Some(bound.spec.attempt)
        || linesman_api::condition::is_true(&bound.status.conditions, "Progressing");
    let old = bound.spec.release_expires < Some(order.release);
    if bound.spec.stage != Stage::Released || !old || !unanswered {
        return None;
    }
    let reason = "this instruction is older than what the node took last, as after a restored backup; \
                  edit the policy to roll it out again";
    let ending = Ending {
        category: Some(Category::Transient),
        reason: Some(reason.into()),
        ..Ending::new(Verdict::Abandoned)
    };
    let conditions = dated(&bound.status.conditions, report::ended(&ending), now);
    Some(EnactmentStatus { conditions, ..begun(bound, now) })
}

fn kept<'a>(order: &Order, entry: Option<&'a Entry>) -> Option<&'a Entry> {
    entry.filter(|entry| entry.is_kept() && order.policy.as_ref() == Some(&entry.policy))
}

fn drifted(order: &Order, entry: Option<&Entry>, drift: &[Difference]) -> Option<Condition> {
    let entry = kept(order, entry)?;
    (entry.policy.options.drift != Drift::Ignore).then(|| report::drift(drift))
}

fn says(known: &[Condition], drifted: Option<&Condition>) -> bool {
    let known = find(known, DRIFTED).map(|c| (c.status, &c.reason, &c.message));
    known == drifted.map(|c| (c.status, &c.reason, &c.message))
}
