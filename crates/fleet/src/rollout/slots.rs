//! Who begins, who waits, who gives back.

use std::collections::BTreeSet;

use linesman_api::enactment::{EnactmentSpec, Stage};
use linesman_api::reasons::enactment::{ABORTED, HELD, LIMIT};

use super::candidate::Candidate;
use super::conflicts::OtherPolicies;
use super::content::{Content, enactment_spec};
use super::facts::{EnactmentFacts, Situation};
use super::gate::Gate;
use super::phase::{BlockedBy, NodePhase};
use super::progress::NodeProgress;
use super::quorum::Quorum;
use super::steps::{Action, Step, WaitingStatus};
use super::waiting;

#[derive(Debug)]
pub struct Slots<'a> {
    pub situation: &'a Situation<'a>,
    pub gate: &'a Gate<'a>,
    pub quorum: Quorum<'a>,
    pub others: OtherPolicies<'a>,
    pub limit: usize,
    /// Slots that are taken, claims included.
    pub taken: usize,
}

impl<'a> Slots<'a> {
    /// One step per node at most; those that matter most come first.
    pub fn assign(&mut self, candidates: &mut [Candidate<'a>]) -> Vec<Action> {
        let spare = self.excess(candidates);
        let overdrawn = self.taken > self.limit;
        let mut actions = Vec::new();
        let mut later = Vec::new();
        for candidate in candidates.iter_mut() {
            let step = match candidate.progress() {
                Some(progress) if progress.until().is_some() => self.released(candidate, progress),
                Some(NodeProgress::Claimed) => self.claimed(candidate, overdrawn, &spare),
                _ => None,
            };
            let name = &candidate.node.name;
            actions.extend(step.map(|step| Action::for_node(name, candidate.enactment, step)));
        }
        for candidate in candidates.iter_mut().filter(|c| !c.progress().is_some_and(NodeProgress::has_slot)) {
            if let Some(step) = self.waiting(candidate) {
                let action = Action::for_node(&candidate.node.name, candidate.enactment, step);
                // What nobody waits for comes last.
                let urgent = matches!(&action, Action::Enactment { step: Step::Claim(_), .. });
                if urgent { actions.push(action) } else { later.push(action) }
            }
        }
        actions.extend(later);
        actions
    }

    /// Claims beyond the limit: the last ones in the order of the rollout.
    fn excess(&self, candidates: &[Candidate<'a>]) -> BTreeSet<&'a str> {
        let claims: Vec<&str> = candidates
            .iter()
            .filter(|c| c.progress() == Some(NodeProgress::Claimed))
            .map(|c| c.node.name.as_str())
            .collect();
        let fitting = self.limit.saturating_sub(self.taken - claims.len().min(self.taken));
        claims.into_iter().skip(fitting).collect()
    }

    fn released(&self, candidate: &mut Candidate<'a>, progress: NodeProgress) -> Option<Step> {
        let enactment = candidate.enactment?;
        let spec = enactment.spec.as_ref()?;
        if progress.until().is_some_and(|until| until <= self.situation.now) {
            return Some(Step::Expire(Box::new(EnactmentSpec { stage: Stage::Expired, ..spec.clone() })));
        }
        if progress.has_begun() {
            return None;
        }
        let told = candidate.is_current(self.situation.policy);
        let blocked_by = self.gate.blocks(&candidate.node.name);
        let content = candidate.content.clone();
        match (content, blocked_by) {
            (None, _) => {
                Some(Step::Withdraw(Box::new(EnactmentSpec { stage: Stage::Bound, ..spec.clone() })))
            }
            (Some(content), Some(blocked_by)) => {
                candidate.phase = NodePhase::Blocked(blocked_by);
                Some(Step::Withdraw(Box::new(self.spec(&content, Some(enactment), Stage::Bound))))
            }
            (Some(content), None) if !told => Some(self.supersede(candidate, &content, enactment)),
            _ => None,
        }
    }

    /// The slot stays; what is done with it is new.
    fn supersede(
        &self,
        candidate: &mut Candidate<'a>,
        content: &Content,
        enactment: &EnactmentFacts,
    ) -> Step {
        match candidate.node.away() {
            Some(why) => {
                candidate.phase = NodePhase::Blocked(BlockedBy::NodeNotReady(why));
                Step::Withdraw(Box::new(self.spec(content, Some(enactment), Stage::Bound)))
            }
            None => {
                candidate.phase = NodePhase::Claimed;
                Step::Claim(Box::new(self.spec(content, Some(enactment), Stage::Claimed)))
            }
        }
    }

    fn claimed(
        &mut self,
        candidate: &mut Candidate<'a>,
        overdrawn: bool,
        excess: &BTreeSet<&'a str>,
    ) -> Option<Step> {
        let enactment = candidate.enactment?;
        let spec = enactment.spec.as_ref()?;
        let name = candidate.node.name.as_str();
        let Some(content) = candidate.content.clone() else {
            return Some(Step::Unclaim(Box::new(EnactmentSpec { stage: Stage::Bound, ..spec.clone() })));
        };
        let obstacles = self.others.obstacles(candidate.node, &content);
        let blocked_by = match &candidate.phase {
            NodePhase::Blocked(blocked_by) => Some(blocked_by.clone()),
            _ => self
                .gate
                .blocks(name)
                .or(obstacles.conflict.map(BlockedBy::Conflict))
                .or(obstacles.claim.map(BlockedBy::WaitsFor)),
        };
        let too_many = excess.contains(name) || self.quorum.is_excess(name);
        if blocked_by.is_some() || too_many {
            candidate.phase = blocked_by.map_or(NodePhase::Waiting, NodePhase::Blocked);
            return Some(Step::Unclaim(Box::new(self.spec(&content, Some(enactment), Stage::Bound))));
        }
        if !content.is_current(self.situation.policy, enactment) {
            return Some(Step::Claim(Box::new(self.spec(&content, Some(enactment), Stage::Claimed))));
        }
        if overdrawn || !self.quorum.bears(name) || obstacles.release.is_some() {
            return None;
        }
        let for_seconds = self.situation.settings.release_for + spec.options.patience.unwrap_or_default();
        let now = self.situation.now.plus(for_seconds);
        // An agent heeds a release only if it is later than the last one: clocks of operators may differ.
        let until = spec.release_expires.map_or(now, |last| now.max(last.plus(1)));
        let spec = EnactmentSpec { stage: Stage::Released, release_expires: Some(until), ..spec.clone() };
        Some(Step::Release { spec: Box::new(spec), until })
    }

    fn waiting(&mut self, candidate: &mut Candidate<'a>) -> Option<Step> {
        if candidate.phase == NodePhase::Waiting {
            let content = candidate.content.clone()?;
            match self.blocked_by(candidate, &content) {
                Some(blocked_by) => candidate.phase = NodePhase::Blocked(blocked_by),
                None if self.taken >= self.limit => {}
                None if !self.quorum.touch(&candidate.node.name) => {
                    candidate.phase = NodePhase::Blocked(BlockedBy::WaitsFor(self.quorum.reason()));
                }
                None => {
                    self.taken += 1;
                    candidate.phase = NodePhase::Claimed;
                    let spec = self.spec(&content, candidate.enactment, Stage::Claimed);
                    return Some(Step::Claim(Box::new(spec)));
                }
            }
        }
        self.bound(candidate)
    }

    fn blocked_by(&mut self, candidate: &Candidate<'a>, content: &Content) -> Option<BlockedBy> {
        let obstacles = self.others.obstacles(candidate.node, content);
        let conflict = obstacles.conflict.map(BlockedBy::Conflict);
        conflict
            .or_else(|| self.gate.blocks(&candidate.node.name))
            .or(obstacles.claim.map(BlockedBy::WaitsFor))
    }

    /// Somebody who waits is told for what.
    fn bound(&self, candidate: &Candidate<'a>) -> Option<Step> {
        let mark = match &candidate.phase {
            NodePhase::Waiting => WaitingStatus {
                aborted: false,
                reason: LIMIT,
                message: "waits its turn: maxUnavailable says how many nodes change at a time".into(),
            },
            NodePhase::Blocked(BlockedBy::Stopped(why)) => {
                WaitingStatus { aborted: true, reason: ABORTED, message: why.clone() }
            }
            NodePhase::Blocked(blocked_by) => {
                WaitingStatus { aborted: false, reason: HELD, message: blocked_by.to_string() }
            }
            NodePhase::Unaffected => {
                WaitingStatus { aborted: true, reason: ABORTED, message: "the rollout was undone".into() }
            }
            _ => return None,
        };
        let away = matches!(candidate.phase, NodePhase::Blocked(BlockedBy::NodeNotReady(_)));
        match (candidate.enactment, &candidate.content) {
            (None, Some(content)) if !away => {
                Some(Step::Bind(Box::new(self.spec(content, None, Stage::Bound))))
            }
            (Some(enactment), content) if NodeProgress::of(enactment) == NodeProgress::Bound => {
                let news =
                    content.as_ref().filter(|content| !content.is_current(self.situation.policy, enactment));
                match news {
                    Some(content) => {
                        Some(Step::Bind(Box::new(self.spec(content, Some(enactment), Stage::Bound))))
                    }
                    None => {
                        waiting::is_news(&mark, &enactment.status.conditions).then_some(Step::SetStatus(mark))
                    }
                }
            }
            _ => None,
        }
    }

    fn spec(&self, content: &Content, before: Option<&EnactmentFacts>, stage: Stage) -> EnactmentSpec {
        enactment_spec(self.situation.policy, content, before, stage)
    }
}
