//! Which nodes are released, which wait, which give their slot back.

use std::collections::BTreeSet;

use linesman_api::enactment::{EnactmentSpec, Stage};
use linesman_api::reasons::EnactmentReason;

use super::candidate::Candidate;
use super::conflicts::OtherPolicies;
use super::content::{Content, enactment_spec};
use super::facts::{EnactmentFacts, Situation};
use super::gate::Gate;
use super::phase::{BlockedBy, Failure, NodePhase};
use super::progress::NodeProgress;
use super::queue::Queue;
use super::quorum::Quorum;
use super::steps::{Action, Step};
use super::waiting::WaitingStatus;

#[derive(Debug)]
pub struct Slots<'a> {
    pub situation: &'a Situation<'a>,
    pub gate: &'a Gate<'a>,
    pub quorum: Quorum<'a>,
    pub others: OtherPolicies<'a>,
    pub queue: Queue<'a>,
    pub limit: usize,
    /// Slots that are taken, claims included.
    pub taken: usize,
}

impl<'a> Slots<'a> {
    /// At most one step per node; the most urgent ones come first.
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
        let mut waiting: Vec<&mut Candidate<'a>> =
            candidates.iter_mut().filter(|c| !c.progress().is_some_and(NodeProgress::has_slot)).collect();
        // None comes first.
        waiting.sort_by_key(|candidate| candidate.last_release(self.situation.policy));
        for candidate in waiting {
            if let Some(step) = self.waiting(candidate) {
                let action = Action::for_node(&candidate.node.name, candidate.enactment, step);
                // What does not start a node comes last.
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
        if progress.has_started() {
            return None;
        }
        let current = candidate.is_current(self.situation.policy);
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
            (Some(content), None) if !current => Some(self.supersede(candidate, &content, enactment)),
            (Some(content), None) if self.must_be_sealed(candidate, &content, enactment) => {
                Some(Step::Seal(Box::new(spec.clone())))
            }
            _ => self.queue.status(enactment).map(Step::SetStatus),
        }
    }

    /// Whether the agent cannot open the Secrets: it has lost its key since, or an older operator sealed nothing. Or it has failed with
    /// them, and tries again with those that are there now.
    fn must_be_sealed(
        &self,
        candidate: &Candidate<'a>,
        content: &Content,
        enactment: &EnactmentFacts,
    ) -> bool {
        let (Some(key), Some(spec)) = (&candidate.node.sealing_key, &enactment.spec) else { return false };
        let is_sealed = spec.sealed_secrets.as_ref().is_some_and(|sealed| sealed.key == *key);
        let retries = matches!(NodeProgress::of(enactment), NodeProgress::Retrying { .. });
        let failed_with_these = retries && enactment.status.observed_generation == Some(enactment.generation);
        (!is_sealed || failed_with_these)
            && content.needs_secrets()
            && self.situation.sets_aside(candidate.node, Some(content)).is_none()
    }

    /// The node keeps its slot for the new content.
    fn supersede(
        &self,
        candidate: &mut Candidate<'a>,
        content: &Content,
        enactment: &EnactmentFacts,
    ) -> Step {
        let not_ready = self.situation.policy.waits_for(candidate.node).map(BlockedBy::NodeNotReady);
        match not_ready.or_else(|| self.situation.sets_aside(candidate.node, Some(content))) {
            Some(blocked_by) => {
                candidate.phase = NodePhase::Blocked(blocked_by);
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
        if overdrawn || !self.quorum.tolerates(name) || obstacles.release.is_some() {
            return None;
        }
        let for_seconds = self.situation.settings.release_for + spec.options.patience.unwrap_or_default();
        let now = self.situation.now.plus(for_seconds);
        // An agent accepts a release only if it expires later than the last one: clocks of operators may differ.
        let until = spec.release_expires.map_or(now, |last| now.max(last.plus(1)));
        let mut spec = EnactmentSpec {
            stage: Stage::Released,
            release_expires: Some(until),
            not_ready_since: candidate.node.lost_since(),
            ..spec.clone()
        };
        // If it fails, it failed at this generation.
        spec.policy.generation = spec.policy.generation.max(self.situation.policy.generation);
        Some(Step::Release { spec: Box::new(spec), until })
    }

    fn waiting(&mut self, candidate: &mut Candidate<'a>) -> Option<Step> {
        if candidate.phase == NodePhase::Waiting {
            let content = candidate.content.clone()?;
            match self.blocked_by(candidate, &content) {
                Some(blocked_by) => candidate.phase = NodePhase::Blocked(blocked_by),
                None if self.taken >= self.limit => {}
                None if !self.quorum.disrupt(&candidate.node.name) => {
                    candidate.phase =
                        NodePhase::Blocked(BlockedBy::WaitsFor(self.quorum.reason(&candidate.node.name)));
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

    /// Says in the enactment what a waiting node waits for.
    fn bound(&self, candidate: &Candidate<'a>) -> Option<Step> {
        let progress = candidate.progress();
        let never_began = matches!(progress, Some(NodeProgress::Expired { started: false, .. }));
        let status = match &candidate.phase {
            NodePhase::Blocked(BlockedBy::Refused(_)) => return None,
            NodePhase::Waiting => WaitingStatus::pending(
                EnactmentReason::MaxUnavailableLimitReached,
                "waits for its turn: maxUnavailable nodes are being changed or have failed",
            ),
            NodePhase::Blocked(BlockedBy::Stopped(reason)) => WaitingStatus::aborted(reason.to_string()),
            NodePhase::Blocked(blocked_by) => {
                let reason = match blocked_by {
                    BlockedBy::Conflict(_) => EnactmentReason::PoliciesConflict,
                    BlockedBy::DocumentRefused(_) => EnactmentReason::DocumentRefused,
                    BlockedBy::SecretUnavailable(_) => EnactmentReason::SecretUnavailable,
                    _ => EnactmentReason::Blocked,
                };
                WaitingStatus::pending(reason, blocked_by.to_string())
            }
            NodePhase::Unaffected => WaitingStatus::aborted("the rollout was undone"),
            NodePhase::Failed(Failure::Expired) if never_began => WaitingStatus::failing(
                "the agent on the node did not begin in time after the release; edit the policy to try again",
            ),
            _ => return None,
        };
        let not_ready = matches!(candidate.phase, NodePhase::Blocked(BlockedBy::NodeNotReady(_)));
        match (candidate.enactment, &candidate.content) {
            (None, Some(content)) if !not_ready => {
                Some(Step::Bind(Box::new(self.spec(content, None, Stage::Bound))))
            }
            (Some(enactment), content) => {
                let policy = self.situation.policy;
                match content.as_ref().filter(|content| !content.is_current(policy, enactment)) {
                    // What became of the version before says nothing about this one.
                    Some(content) => {
                        Some(Step::Bind(Box::new(self.spec(content, Some(enactment), Stage::Bound))))
                    }
                    None if never_began || progress == Some(NodeProgress::Bound) => {
                        status.unsaid(enactment).map(Step::SetStatus)
                    }
                    None => None,
                }
            }
            _ => None,
        }
    }

    fn spec(&self, content: &Content, before: Option<&EnactmentFacts>, stage: Stage) -> EnactmentSpec {
        enactment_spec(self.situation.policy, content, before, stage)
    }
}
