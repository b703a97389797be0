//! What must be true of any rollout, whatever dies, lags or is edited on the way.

#![allow(clippy::unwrap_used, clippy::panic)]

mod fleet;

use std::collections::HashMap;

use fleet::{Edit, Event, Fleet, NODES, POLICIES, event};
use linesman_fleet::rollout::{BlockedBy, NodePhase};
use proptest::prelude::*;

fn run(events: &[Event]) -> Fleet {
    let mut fleet = Fleet::new();
    for event in events {
        fleet.happen(event);
        fleet.check();
    }
    fleet
}

/// Every node of a healthy fleet is where it should be, or the rollout says why not.
fn explain(fleet: &Fleet) {
    for index in 0..POLICIES.len() {
        let decision = fleet.decide_now(index);
        let policy = &fleet.policies[index];
        let rollout = policy.spec.rollout.clone().unwrap_or_default();
        assert_eq!(decision.actions, [], "at rest");
        let failed = decision.nodes.iter().filter(|(_, phase)| matches!(phase, NodePhase::Failed(_))).count();
        let is_blocked =
            |name: &str| decision.status.blocked_nodes.iter().any(|blocked| blocked.node == name);
        // A canary that is not there holds the others, and is named.
        let is_missing = |name: &&String| !decision.nodes.iter().any(|(node, _)| node == *name);
        let held = rollout.canary.iter().find(is_missing).is_some_and(|name| is_blocked(name));
        for (node, phase) in &decision.nodes {
            let excused = match phase {
                NodePhase::Done => true,
                NodePhase::Failed(_) => is_blocked(node),
                NodePhase::Blocked(BlockedBy::Canary) => held,
                NodePhase::Blocked(BlockedBy::Paused) => rollout.paused,
                NodePhase::Blocked(BlockedBy::Stopped(_)) => rollout.abort || failed > 0,
                NodePhase::Unaffected | NodePhase::Blocked(BlockedBy::NoPreviousVersion) => rollout.undo,
                _ => false,
            };
            assert!(excused, "{}: {node} is {phase:?}\n{}", policy.name, decision.render());
            let applied = fleet.applied.get(&(policy.name.clone(), node.clone()));
            let undone = rollout.undo && matches!(phase, NodePhase::Done | NodePhase::Unaffected);
            assert!(
                !undone || applied.is_none() || applied != policy.spec.desired_state.as_ref(),
                "{}: {node} has what was undone\n{}",
                policy.name,
                decision.render()
            );
        }
        assert_eq!(decision.status.conditions.iter().filter(|c| c.is_true()).count(), 1, "one summary");
        if !rollout.paused && !rollout.abort && !rollout.undo && !held && failed == 0 {
            for node in fleet.nodes.values().filter(|node| policy.spec.selects(&node.labels)) {
                let enactment = &fleet.enactments[&(policy.name.clone(), node.name.clone())];
                let spec = enactment.spec.as_ref().unwrap();
                assert_eq!(spec.desired_state, policy.spec.desired_state, "{} has the newest", node.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn limits_hold_and_everything_settles(events in prop::collection::vec(event(), 0..160)) {
        let mut fleet = run(&events);
        fleet.settle();
        explain(&fleet);
    }
}

/// A soak tries a hundred times as many.
fn cases() -> u32 {
    if std::env::var_os("LINESMAN_SOAK").is_some() { 40_000 } else { 400 }
}

#[test]
fn a_fleet_without_failures_is_changed_in_waves() {
    let mut fleet = Fleet::new();
    fleet.settle();
    explain(&fleet);
    assert_eq!(fleet.enactments.len(), POLICIES.len() * fleet.nodes.len());
}

/// A policy that was edited and is for two nodes. Each operator believes that the other's favourite is cordoned, so they
/// disagree about who is next.
fn others(policy: usize, nodes: [usize; 2], limit: u8) -> Fleet {
    let mut fleet = Fleet::new();
    fleet.happen(&Event::Edit { policy, edit: Edit::AtATime(limit) });
    for node in nodes {
        fleet.happen(&Event::Relabel { node, fast: true });
    }
    fleet.happen(&Event::Edit { policy, edit: Edit::OnlyFast(true) });
    fleet.settle();
    fleet.happen(&Event::Edit { policy, edit: Edit::Content(1) });
    fleet.cordon_for(0, NODES[nodes[0]]);
    fleet.cordon_for(1, NODES[nodes[1]]);
    fleet
}

/// Every order in which two operators can hear and act, and the nodes begin and end. Returns the most that were in flight.
fn explore(
    fleet: &Fleet,
    events: &[Event],
    depth: usize,
    seen: &mut HashMap<String, usize>,
    policy: &str,
) -> usize {
    let mut most = fleet.in_flight(policy);
    for event in events.iter().filter(|_| depth > 0) {
        let mut next = fleet.clone();
        next.happen(event);
        next.check();
        let known = seen.entry(next.picture()).or_default();
        if *known < depth {
            *known = depth;
            most = most.max(explore(&next, events, depth - 1, seen, policy));
        }
    }
    most
}

fn every_order(policy: usize, nodes: [usize; 2], limit: u8) {
    let fleet = others(policy, nodes, limit);
    let mut events = Vec::new();
    for operator in 0..2 {
        events.push(Event::HearOne { operator });
        events.push(Event::Act { operator, policy, writes: 1 });
    }
    for node in nodes {
        events.push(Event::Begin { node, policy });
        events.push(Event::End { node, well: true });
    }
    let mut seen = HashMap::new();
    assert_eq!(explore(&fleet, &events, 10, &mut seen, POLICIES[policy]), 1);
    assert!(seen.len() > 100, "{} situations", seen.len());
}

#[test]
fn two_operators_cannot_overdraw_the_limit_in_any_order() {
    every_order(0, [3, 4], 1);
}

#[test]
fn two_operators_cannot_overdraw_the_control_plane_in_any_order() {
    every_order(1, [0, 1], 2);
}

/// With its token, a node asks for a correction whenever one has ended; another one needs one.
#[test]
fn a_node_that_asks_again_and_again_starves_nobody() {
    let mut fleet = Fleet::new();
    fleet.happen(&Event::Edit { policy: 0, edit: Edit::AtATime(1) });
    fleet.settle();
    let (greedy, other) = (3, 5);
    fleet.happen(&Event::Drift { node: other, policy: 0 });
    let (mut corrected, mut releases) = (false, 0);
    for _ in 0..120 {
        fleet.happen(&Event::Drift { node: greedy, policy: 0 });
        fleet.happen(&Event::Hear { operator: 0, enactments: 0, nodes: 0, policies: 0 });
        fleet.happen(&Event::Act { operator: 0, policy: 0, writes: 99 });
        for node in [greedy, other] {
            let before = fleet.in_flight(POLICIES[0]);
            fleet.happen(&Event::Begin { node, policy: 0 });
            fleet.happen(&Event::End { node, well: true });
            let ended = fleet.in_flight(POLICIES[0]) < before;
            corrected |= ended && node == other;
            releases += usize::from(ended && node == greedy);
        }
        fleet.happen(&Event::Pass { seconds: 1 });
    }
    assert!(corrected, "the other one never had its turn");
    assert!(releases <= 12, "{releases} releases in two minutes");
}
