//! Where one enactment stands: the operator's instruction and the agent's answer, read together.

use linesman_api::condition::is_true;
use linesman_api::conditions::enactment::{AVAILABLE, FAILING, PROGRESSING};
use linesman_api::enactment::Stage;
use linesman_api::time::Time;

use super::facts::EnactmentFacts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeProgress {
    /// Nobody told the node to begin.
    Bound,
    /// Has a slot; may not begin yet.
    Claimed,
    /// May begin; has not said that it did.
    Released {
        until: Time,
    },
    Applying {
        until: Time,
    },
    /// Could not begin, and tries again by itself.
    Retrying {
        until: Time,
    },
    Available,
    Failing,
    /// Did not end in time.
    Expired {
        begun: bool,
        at: Time,
    },
}

impl NodeProgress {
    pub fn of(enactment: &EnactmentFacts) -> Self {
        let Some(spec) = &enactment.spec else { return Self::Bound };
        let until = spec.release_expires.unwrap_or_default();
        let answered = enactment.status.attempt == Some(spec.attempt);
        let says = |kind| answered && is_true(&enactment.status.conditions, kind);
        match spec.stage {
            Stage::Bound => Self::Bound,
            Stage::Claimed => Self::Claimed,
            _ if says(AVAILABLE) => Self::Available,
            _ if says(FAILING) && !says(PROGRESSING) => Self::Failing,
            // A node that says anything at all about this attempt has begun.
            Stage::Expired => Self::Expired { begun: answered, at: until },
            Stage::Released if says(FAILING) => Self::Retrying { until },
            Stage::Released if answered => Self::Applying { until },
            Stage::Released => Self::Released { until },
        }
    }

    /// Until when it is waited for, once it was released.
    pub fn until(self) -> Option<Time> {
        match self {
            Self::Released { until } | Self::Applying { until } | Self::Retrying { until } => Some(until),
            _ => None,
        }
    }

    pub fn has_begun(self) -> bool {
        matches!(self, Self::Applying { .. } | Self::Retrying { .. })
    }

    /// Whether it takes one of the places that the limit gives.
    pub fn has_slot(self) -> bool {
        self == Self::Claimed || self.until().is_some()
    }
}
