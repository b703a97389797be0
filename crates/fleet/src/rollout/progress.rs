//! How far one enactment is: the operator's spec and the agent's status, read together.

use linesman_api::condition::is_true;
use linesman_api::conditions::EnactmentCondition::{Available, Failing, Progressing};
use linesman_api::enactment::Stage;
use linesman_api::time::Time;

use super::facts::EnactmentFacts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeProgress {
    /// Waits for its turn.
    Bound,
    /// Has a slot; may not start yet.
    Claimed,
    /// May start; has not reported that it did.
    Released {
        until: Time,
    },
    Applying {
        until: Time,
    },
    /// Could not change anything, and begins again after a while; it asks for its release before that.
    Retrying {
        until: Time,
    },
    Available,
    Failing,
    /// Did not finish in time.
    Expired {
        started: bool,
        at: Time,
    },
}

impl NodeProgress {
    pub fn of(enactment: &EnactmentFacts) -> Self {
        let Some(spec) = &enactment.spec else { return Self::Bound };
        let until = spec.release_expires.unwrap_or_default();
        let answered = enactment.status.attempt == Some(spec.attempt);
        let reports = |kind| answered && is_true(&enactment.status.conditions, kind);
        match spec.stage {
            Stage::Bound => Self::Bound,
            Stage::Claimed => Self::Claimed,
            _ if reports(Available) => Self::Available,
            _ if reports(Failing) && !reports(Progressing) => Self::Failing,
            // A node that reports anything about this attempt has started.
            Stage::Expired => Self::Expired { started: answered, at: until },
            Stage::Released if reports(Failing) => Self::Retrying { until },
            Stage::Released if answered => Self::Applying { until },
            Stage::Released => Self::Released { until },
        }
    }

    /// Until when the operator waits for a report, once it was released.
    pub fn until(self) -> Option<Time> {
        match self {
            Self::Released { until } | Self::Applying { until } | Self::Retrying { until } => Some(until),
            _ => None,
        }
    }

    /// Whether it may be changing its host. Until it is, its release can be withdrawn.
    pub fn has_started(self) -> bool {
        matches!(self, Self::Applying { .. })
    }

    /// Whether it takes a slot within maxUnavailable.
    pub fn has_slot(self) -> bool {
        self == Self::Claimed || self.until().is_some()
    }
}
