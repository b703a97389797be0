//! Released nodes that do not begin: they are busy with another policy, or nothing is heard of their agents.

use std::collections::BTreeMap;

use linesman_api::reasons::EnactmentReason;
use linesman_api::time::Time;

use super::facts::{EnactmentFacts, Situation};
use super::progress::NodeProgress;
use super::waiting::WaitingStatus;

/// Most queues are shorter, and need no write.
const PATIENCE: u64 = 5;

#[derive(Debug)]
pub struct Queue<'a> {
    situation: &'a Situation<'a>,
    /// Another policy that is being applied, by node.
    busy: BTreeMap<&'a str, &'a str>,
}

impl<'a> Queue<'a> {
    pub fn of(situation: &'a Situation<'a>) -> Self {
        let others = situation.enactments.iter().filter(|e| e.policy != situation.policy.name);
        let busy = others.filter(|e| NodeProgress::of(e).has_started());
        Self { situation, busy: busy.map(|e| (e.node.as_str(), e.policy.as_str())).collect() }
    }

    /// What the enactment should say, if that is due and not said yet.
    pub fn status(&self, enactment: &EnactmentFacts) -> Option<WaitingStatus> {
        self.due(enactment).filter(|due| *due <= self.situation.now)?;
        let status = match self.busy.get(enactment.node.as_str()) {
            Some(policy) => WaitingStatus::pending(
                EnactmentReason::Queued,
                format!("is released, and waits until the policy {policy} is applied on this node"),
            ),
            None => WaitingStatus::pending(
                EnactmentReason::Blocked,
                "is released, and the agent on the node has not begun yet",
            ),
        };
        status.unsaid(enactment)
    }

    /// When it should say so.
    pub fn due(&self, enactment: &EnactmentFacts) -> Option<Time> {
        let released = matches!(NodeProgress::of(enactment), NodeProgress::Released { .. });
        // An agent that is there says itself why it does not begin, as on a node that is frozen.
        let silent = enactment.status.conditions.is_empty();
        let busy = self.busy.contains_key(enactment.node.as_str());
        let spec = enactment.spec.as_ref().filter(|_| released && (busy || silent))?;
        self.situation.settings.released_at(spec).map(|at| at.plus(PATIENCE))
    }
}
