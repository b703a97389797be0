//! What the operator writes.

use linesman_api::enactment::EnactmentSpec;
use linesman_api::time::Time;

use super::facts::EnactmentFacts;

/// One write. It holds only for the version that was seen; when it is refused, look again before anything else is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// On the policy: keep it until its nodes have gone back, or let it go.
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
    /// Tell the node what is to come; it waits.
    Bind(Box<EnactmentSpec>),
    /// Take a slot.
    Claim(Box<EnactmentSpec>),
    /// Give a slot back that was not used.
    Unclaim(Box<EnactmentSpec>),
    Release {
        spec: Box<EnactmentSpec>,
        until: Time,
    },
    /// Take back a release that was not begun.
    Withdraw(Box<EnactmentSpec>),
    /// It did not end in time.
    Expire(Box<EnactmentSpec>),
    /// In the status: why it waits, or that it was aborted.
    SetStatus(WaitingStatus),
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingStatus {
    pub aborted: bool,
    pub reason: &'static str,
    pub message: String,
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
    /// What the enactment's spec becomes; none if it is not touched.
    pub fn spec(&self) -> Option<&EnactmentSpec> {
        match self {
            Self::Bind(spec)
            | Self::Claim(spec)
            | Self::Unclaim(spec)
            | Self::Withdraw(spec)
            | Self::Expire(spec) => Some(spec),
            Self::Release { spec, .. } => Some(spec),
            Self::SetStatus(_) | Self::Delete => None,
        }
    }
}
