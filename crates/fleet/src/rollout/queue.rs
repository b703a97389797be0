//! Released nodes that are still busy with another policy: their agents cannot say so themselves.

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
        let policy = self.busy.get(enactment.node.as_str())?;
        let message = format!("is released, and waits until the policy {policy} is applied on this node");
        let status = WaitingStatus::pending(EnactmentReason::Queued, message);
        status.differs_from(&enactment.status.conditions).then_some(status)
    }

    /// When it should say so.
    pub fn due(&self, enactment: &EnactmentFacts) -> Option<Time> {
        let released = matches!(NodeProgress::of(enactment), NodeProgress::Released { .. });
        let spec = enactment
            .spec
            .as_ref()
            .filter(|_| released && self.busy.contains_key(enactment.node.as_str()))?;
        self.situation.settings.released_at(spec).map(|at| at.plus(PATIENCE))
    }
}
