//! Who begins, who waits, who gives back.

use std::collections::BTreeSet;

use linesman_api::enactment::{EnactmentSpec, Stage};
use linesman_api::reasons::enactment::{ABORTED, HELD, LIMIT};

use super::content::{Content, instruction};
use super::facts::{EnactmentFacts, Situation};
use super::gate::Gate;
use super::marks;
use super::phase::{Candidate, Hold, Phase};
use super::quorum::Quorum;
use super::rivals::Rivals;
use super::standing::Standing;
use super::steps::{Action, Mark, Step};

#[derive(Debug)]
pub struct Slots<'a> {
    pub situation: &'a Situation<'a>,
    pub gate: &'a Gate<'a>,
    pub quorum: Quorum<'a>,
    pub rivals: Rivals<'a>,
    pub limit: usize,
    /// Slots that are taken, claims included.
    pub taken: usize,
}

impl<'a> Slots<'a> {
    /// One step per node at most; those that matter most come first.
    pub fn share(&mut self, candidates: &mut [Candidate<'a>]) -> Vec<Action> {
        let spare = self.excess(candidates);
        let overdrawn = self.taken > self.limit;
        let mut actions = Vec::new();
        let mut later = Vec::new();
        for candidate in candidates.iter_mut() {
            let step = match candidate.standing() {
                Some(standing) if standing.until().is_some() => self.released(candidate, standing),
                Some(Standing::Claimed) => self.claimed(candidate, overdrawn, &spare),
                _ => None,
            };
            let name = &candidate.node.name;
            actions.extend(step.map(|step| Action::for_node(name, candidate.enactment, step)));
        }
        for candidate in candidates.iter_mut().filter(|c| !c.standing().is_some_and(Standing::has_slot)) {
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
            .filter(|c| c.standing() == Some(Standing::Claimed))
            .map(|c| c.node.name.as_str())
            .collect();
        let fitting = self.limit.saturating_sub(self.taken - claims.len().min(self.taken));
        claims.into_iter().skip(fitting).collect()
    }

    fn released(&self, candidate: &mut Candidate<'a>, standing: Standing) -> Option<Step> {
        let enactment = candidate.enactment?;
        let spec = enactment.spec.as_ref()?;
        if standing.until().is_some_and(|until| until <= self.situation.now) {
            return Some(Step::Expire(Box::new(EnactmentSpec { stage: Stage::Expired, ..spec.clone() })));
        }
        if standing.has_begun() {
            return None;
        }
        let told = candidate.is_told(self.situation.policy);
        let hold = self.gate.hold(&candidate.node.name);
        let content = candidate.content.clone();
        match (content, hold) {
            (None, _) => {
                Some(Step::Withdraw(Box::new(EnactmentSpec { stage: Stage::Bound, ..spec.clone() })))
            }
            (Some(content), Some(hold)) => {
                candidate.phase = Phase::Held(hold);
                Some(Step::Withdraw(Box::new(self.told(&content, enactment, Stage::Bound))))
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
                candidate.phase = Phase::Held(Hold::Away(why));
                Step::Withdraw(Box::new(self.told(content, enactment, Stage::Bound)))
            }
            None => {
                candidate.phase = Phase::Claimed;
                Step::Claim(Box::new(self.told(content, enactment, Stage::Claimed)))
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
        let meeting = self.rivals.meet(candidate.node, &content);
        let hold = match &candidate.phase {
            Phase::Held(hold) => Some(hold.clone()),
            _ => self
                .gate
                .hold(name)
                .or(meeting.conflict.map(Hold::Conflict))
                .or(meeting.claim.map(Hold::Awaits)),
        };
        let too_many = excess.contains(name) || self.quorum.is_excess(name);
        if hold.is_some() || too_many {
            candidate.phase = hold.map_or(Phase::Waiting, Phase::Held);
            return Some(Step::Unclaim(Box::new(self.told(&content, enactment, Stage::Bound))));
        }
        if !content.is_told(self.situation.policy, enactment) {
            return Some(Step::Claim(Box::new(self.told(&content, enactment, Stage::Claimed))));
        }
        if overdrawn || !self.quorum.bears(name) || meeting.release.is_some() {
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
        if candidate.phase == Phase::Waiting {
            let content = candidate.content.clone()?;
            match self.hold(candidate, &content) {
                Some(hold) => candidate.phase = Phase::Held(hold),
                None if self.taken >= self.limit => {}
                None if !self.quorum.touch(&candidate.node.name) => {
                    candidate.phase = Phase::Held(Hold::Awaits(self.quorum.reason()));
                }
                None => {
                    self.taken += 1;
                    candidate.phase = Phase::Claimed;
                    let spec = self.instructed(&content, candidate.enactment, Stage::Claimed);
                    return Some(Step::Claim(Box::new(spec)));
                }
            }
        }
        self.bound(candidate)
    }

    fn hold(&mut self, candidate: &Candidate<'a>, content: &Content) -> Option<Hold> {
        let meeting = self.rivals.meet(candidate.node, content);
        let conflict = meeting.conflict.map(Hold::Conflict);
        conflict.or_else(|| self.gate.hold(&candidate.node.name)).or(meeting.claim.map(Hold::Awaits))
    }

    /// Somebody who waits is told for what.
    fn bound(&self, candidate: &Candidate<'a>) -> Option<Step> {
        let mark = match &candidate.phase {
            Phase::Waiting => Mark {
                aborted: false,
                reason: LIMIT,
                message: "waits its turn: maxUnavailable says how many nodes change at a time".into(),
            },
            Phase::Held(Hold::Stopped(why)) => Mark { aborted: true, reason: ABORTED, message: why.clone() },
            Phase::Held(hold) => Mark { aborted: false, reason: HELD, message: hold.to_string() },
            Phase::Left => Mark { aborted: true, reason: ABORTED, message: "the rollout was undone".into() },
            _ => return None,
        };
        let away = matches!(candidate.phase, Phase::Held(Hold::Away(_)));
        match (candidate.enactment, &candidate.content) {
            (None, Some(content)) if !away => {
                Some(Step::Bind(Box::new(self.instructed(content, None, Stage::Bound))))
            }
            (Some(enactment), content) if Standing::of(enactment) == Standing::Bound => {
                let news =
                    content.as_ref().filter(|content| !content.is_told(self.situation.policy, enactment));
                match news {
                    Some(content) => Some(Step::Bind(Box::new(self.told(content, enactment, Stage::Bound)))),
                    None => marks::is_news(&mark, &enactment.status.conditions).then_some(Step::Mark(mark)),
                }
            }
            _ => None,
        }
    }

    fn told(&self, content: &Content, enactment: &EnactmentFacts, stage: Stage) -> EnactmentSpec {
        self.instructed(content, Some(enactment), stage)
    }

    fn instructed(&self, content: &Content, before: Option<&EnactmentFacts>, stage: Stage) -> EnactmentSpec {
        instruction(self.situation.policy, content, before, stage)
    }
}
