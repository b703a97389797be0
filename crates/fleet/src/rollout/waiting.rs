//! The status of an enactment whose node is not released: written by the operator, since its agent does nothing yet.

use linesman_api::condition::{Condition, Truth, find};
use linesman_api::conditions::EnactmentCondition;
use linesman_api::reasons::EnactmentReason;

use super::facts::EnactmentFacts;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingStatus {
    /// The condition that is true: Pending, Aborted or Failing.
    pub condition: EnactmentCondition,
    pub reason: EnactmentReason,
    pub message: String,
}

impl WaitingStatus {
    pub fn aborted(message: impl Into<String>) -> Self {
        Self {
            condition: EnactmentCondition::Aborted,
            reason: EnactmentReason::ConfigurationAborted,
            message: message.into(),
        }
    }

    /// Nobody else says so: the agent did nothing, and may never return.
    pub fn failing(message: impl Into<String>) -> Self {
        Self {
            condition: EnactmentCondition::Failing,
            reason: EnactmentReason::FailedToConfigure,
            message: message.into(),
        }
    }

    pub fn pending(reason: EnactmentReason, message: impl Into<String>) -> Self {
        Self { condition: EnactmentCondition::Pending, reason, message: message.into() }
    }

    /// All five: the conditions of an earlier version are over.
    pub fn conditions(&self) -> Vec<Condition> {
        let truth = |kind| if kind == self.condition { Truth::True } else { Truth::False };
        EnactmentCondition::OF_APPLICATION
            .iter()
            .map(|kind| Condition::new(kind, truth(*kind), self.reason, &self.message))
            .collect()
    }

    /// None: the enactment says so already, or its status cannot be read, and one that is written could not be read either.
    pub fn unsaid(self, enactment: &EnactmentFacts) -> Option<Self> {
        let differs = self.differs_from(&enactment.status.conditions);
        (enactment.unreadable.is_none() && differs).then_some(self)
    }

    fn differs_from(&self, known: &[Condition]) -> bool {
        self.conditions().iter().any(|new| {
            find(known, &new.kind).is_none_or(|old| {
                (old.status, &old.reason, &old.message) != (new.status, &new.reason, &new.message)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_not_written_again_and_again() {
        let (mut enactment, status) = (EnactmentFacts::default(), WaitingStatus::aborted("why"));
        assert_eq!(status.clone().unsaid(&enactment), Some(status.clone()));
        enactment.unreadable = Some("status.attempt: wrong".into());
        assert_eq!(status.clone().unsaid(&enactment), None);
        enactment = EnactmentFacts::default();
        enactment.status.conditions = status.conditions();
        assert_eq!(status.unsaid(&enactment), None);
    }
}
