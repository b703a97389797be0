//! The writes of a decision.

use linesman_api::enactment::EnactmentSpec;
use linesman_api::time::Time;

use super::facts::EnactmentFacts;
use super::waiting::WaitingStatus;

/// One write, only for the version that was seen. When it is refused, decide again before anything else is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// On the policy: keep it until its nodes have reverted, or let it go.
    Finalizer { keep: bool },
    Enactment {
        node: String,
        /// The version that was seen; none: create it.
        version: Option<String>,
        step: Step,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Create or update the enactment; the node waits for its turn.
    Bind(Box<EnactmentSpec>),
    /// Take a slot within maxUnavailable.
    Claim(Box<EnactmentSpec>),
    /// Give back a slot that was not used.
    Unclaim(Box<EnactmentSpec>),
    Release {
        spec: Box<EnactmentSpec>,
        until: Time,
    },
    /// The release stays as it is, with Secrets as they are now, sealed to the key that the node has now.
    Seal(Box<EnactmentSpec>),
    /// Withdraw a release under which the agent changes nothing at this moment.
    Withdraw(Box<EnactmentSpec>),
    /// The agent did not finish in time.
    Expire(Box<EnactmentSpec>),
    /// The node was configured, and became not ready soon after.
    FailSoak(Box<EnactmentSpec>),
    /// Write to the status why it waits, or that it was aborted.
    SetStatus(WaitingStatus),
    Delete,
}

impl Action {
    pub fn on(enactment: &EnactmentFacts, step: Step) -> Self {
        Self::Enactment { node: enactment.node.clone(), version: Some(enactment.version.clone()), step }
    }

    pub fn for_node(node: &str, enactment: Option<&EnactmentFacts>, step: Step) -> Self {
        let version = enactment.map(|enactment| enactment.version.clone());
        Self::Enactment { node: node.into(), version, step }
    }
}

impl Step {
    /// The new spec of the enactment; none if that stays as it is.
    pub fn spec(&self) -> Option<&EnactmentSpec> {
        match self {
            Self::Bind(spec)
            | Self::Claim(spec)
            | Self::Unclaim(spec)
            | Self::Withdraw(spec)
            | Self::Seal(spec)
            | Self::FailSoak(spec)
            | Self::Expire(spec) => Some(spec),
            Self::Release { spec, .. } => Some(spec),
            Self::SetStatus(_) | Self::Delete => None,
        }
    }
}
