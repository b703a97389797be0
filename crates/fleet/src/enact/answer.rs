//! What an enactment's status should say, and whether that is news.

use linesman_api::condition::{Condition, dated, find};
use linesman_api::conditions::enactment::DRIFTED;
use linesman_api::enactment::{EnactmentStatus, Stage};
use linesman_api::reasons::enactment::HELD;
use linesman_api::time::Time;

use super::{Bound, Order, Orders, fresh};
use crate::report::{self, Category, Outcome};
use crate::rollout::Mark;
use linesman_core::codes::endings::OLD_INSTRUCTION;
use linesman_core::compare::Difference;
use linesman_core::keep::Entry;
use linesman_core::policy::Drift;
use linesman_core::secrets::mask_value;

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
    let forgotten = bound.status.attempt != Some(order.attempt) || !knows(bound, &order.answer);
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
/// for it, and whoever waits is told; whatever it once came to holds no longer.
pub fn old_news(bound: &Bound, orders: &Orders, now: Time) -> Option<EnactmentStatus> {
    let order = orders.0.get(&bound.policy)?;
    let old = match order.enactment == bound.uid {
        true => bound.spec.release_expires < Some(order.release),
        false => bound.created < order.created,
    };
    if !matches!(bound.spec.stage, Stage::Released | Stage::Expired) || !old {
        return None;
    }
    let reason = "this instruction is older than what the node took last, as after a restored backup; \
                  edit the policy to roll it out again";
    let outcome =
        Outcome { code: Some(OLD_INSTRUCTION.into()), ..Outcome::abandoned(Category::Transient, reason) };
    let conditions = report::ended(&outcome, false);
    if bound.status.attempt == Some(bound.spec.attempt) && knows(bound, &conditions) {
        return None;
    }
    let conditions = dated(&bound.status.conditions, conditions, now);
    Some(EnactmentStatus { conditions, ..begun(bound, now) })
}

/// What was released to a node on which somebody said `linesman hold`: not an answer, the release still waits for that.
pub fn held(bound: &Bound, orders: &Orders, why: &str, now: Time) -> Option<EnactmentStatus> {
    // As the operator says of nodes that it holds back itself.
    let message = format!("{why}; `linesman release` on the node lets it go on");
    let conditions = Mark { aborted: false, reason: HELD, message }.conditions();
    if !fresh(bound, orders) || knows(bound, &conditions) {
        return None;
    }
    Some(EnactmentStatus {
        conditions: dated(&bound.status.conditions, conditions, now),
        ..bound.status.clone()
    })
}

/// Whether the enactment says this already.
fn knows(bound: &Bound, conditions: &[Condition]) -> bool {
    conditions.iter().all(|told| {
        let known = find(&bound.status.conditions, &told.kind);
        known.is_some_and(|known| {
            (known.status, &known.reason, &known.message) == (told.status, &told.reason, &told.message)
        })
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_api::enactment::EnactmentSpec;
    use linesman_core::keep::{Fight, Standing};
    use linesman_core::path::Path;
    use linesman_core::policy::{Options, Policy};
    use serde_json::{Value, json};

    fn bound(stage: Stage, until: u64, attempt: i64) -> Bound {
        let spec =
            EnactmentSpec { stage, attempt, release_expires: Some(Time(until)), ..EnactmentSpec::default() };
        let status = EnactmentStatus::default();
        Bound { policy: "a".into(), uid: "u".into(), created: Time(5), generation: 1, spec, status }
    }

    fn policy() -> Policy {
        let state = json!({ "interfaces": [{ "name": "br1", "psk": "hidden" }] });
        Policy { name: "a".into(), state, capture: None, options: Options::default() }
    }

    fn answered() -> Order {
        let mut order = Order::of(&bound(Stage::Released, 10, 1), Some(policy()));
        order.answer(report::ended(&Outcome::committed(), false), true);
        order
    }

    fn entry() -> Entry {
        let state = policy().state;
        Entry {
            policy: policy(),
            standing: Standing::Kept,
            since: 0,
            state,
            back: Value::Null,
            corrections: Fight::default(),
        }
    }

    fn owes(order: &Order, bound: &Bound, drift: &[Difference]) -> Option<EnactmentStatus> {
        owed(order, bound, Some(&entry()), drift, Time(100))
    }

    #[test]
    fn an_answer_is_told_once_and_again_to_a_cluster_that_forgot() {
        let mut order = answered();
        let mut bound = bound(Stage::Released, 10, 1);
        let status = owes(&order, &bound, &[]).expect("an answer");
        assert_eq!(status.desired_state.as_ref().unwrap()["interfaces"][0]["psk"], "<masked>");
        bound.status = status;
        order.told = true;
        assert_eq!(owes(&order, &bound, &[]), None);
        bound.status = EnactmentStatus::default();
        assert!(owes(&order, &bound, &[]).is_some(), "restored from a backup");
        bound.status = begun(&bound, Time(1));
        let again = owes(&order, &bound, &[]).expect("restored from when it was under way");
        assert!(linesman_api::condition::is_true(&again.conditions, "Available"));
    }

    #[test]
    fn nobody_is_answered_who_asks_for_something_else_by_now() {
        let order = answered();
        for stage in [Stage::Bound, Stage::Claimed] {
            assert_eq!(owes(&order, &bound(stage, 10, 2), &[]), None, "{stage:?}");
        }
        assert_eq!(owes(&order, &bound(Stage::Released, 11, 2), &[]), None, "a later release");
        let other = Bound { uid: "v".into(), ..bound(Stage::Released, 10, 1) };
        assert_eq!(owes(&order, &other, &[]), None, "another of the same name");
        assert!(owes(&order, &bound(Stage::Expired, 10, 1), &[]).is_some(), "late is better than never");
    }

    #[test]
    fn drift_is_news_when_it_comes_and_when_it_goes() {
        let mut order = answered();
        let mut bound = bound(Stage::Released, 10, 1);
        bound.status = owes(&order, &bound, &[]).unwrap();
        order.told = true;
        let drift = [Difference { path: Path::root(), want: 1.into(), got: 2.into() }];
        let drifted = owes(&order, &bound, &drift).expect("drift is news");
        assert!(linesman_api::condition::is_true(&drifted.conditions, DRIFTED));
        assert!(
            linesman_api::condition::is_true(&drifted.conditions, "Available"),
            "it was applied all the same"
        );
        bound.status = drifted;
        assert_eq!(owes(&order, &bound, &drift), None);
        assert!(owes(&order, &bound, &[]).is_some());
    }

    #[test]
    fn old_instructions_are_refused_aloud() {
        let orders = Orders([("a".to_string(), answered())].into());
        let old = bound(Stage::Released, 9, 1);
        let status = old_news(&old, &orders, Time(1)).expect("somebody waits");
        assert!(linesman_api::condition::is_true(&status.conditions, "Failing"));
        let told = Bound { status, ..old };
        assert_eq!(old_news(&told, &orders, Time(1)), None);
        assert_eq!(old_news(&bound(Stage::Released, 11, 2), &orders, Time(1)), None);
        assert_eq!(old_news(&bound(Stage::Claimed, 9, 2), &orders, Time(1)), None);
    }

    #[test]
    fn a_node_that_is_held_says_so_once_and_answers_nothing() {
        let orders = Orders([("a".to_string(), answered())].into());
        let mut waits = bound(Stage::Released, 11, 2);
        waits.status.attempt = Some(1);
        let status = held(&waits, &orders, "held by ann", Time(1)).unwrap();
        let pending = find(&status.conditions, "Pending").unwrap();
        assert_eq!(pending.message, "held by ann; `linesman release` on the node lets it go on");
        assert_eq!(status.attempt, Some(1), "the release still waits for its answer");
        waits.status = status;
        assert_eq!(held(&waits, &orders, "held by ann", Time(2)), None);
        let taken = bound(Stage::Released, 10, 1);
        assert_eq!(held(&taken, &orders, "held by ann", Time(2)), None);
    }

    #[test]
    fn what_an_old_instruction_came_to_holds_no_longer() {
        let orders = Orders([("a".to_string(), answered())].into());
        let mut old = bound(Stage::Released, 9, 1);
        let available = report::ended(&Outcome::committed(), false);
        old.status =
            EnactmentStatus { attempt: Some(1), conditions: available, ..EnactmentStatus::default() };
        let status = old_news(&old, &orders, Time(1)).expect("the node took something else since");
        assert!(linesman_api::condition::is_true(&status.conditions, "Failing"));
    }
}
