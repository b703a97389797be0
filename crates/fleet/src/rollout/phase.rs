//! How far a policy is on one node.

use std::fmt;

use super::facts::NotReady;
use super::pace::INTERVAL;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodePhase {
    /// Is configured as wanted.
    Done,
    /// Was released and has not finished; perhaps an older version, which finishes first.
    InProgress,
    /// Has a slot, and is released by the next decision.
    Claimed,
    /// At this generation: the next generation tries again.
    Failed(Failure),
    /// Waits for a slot.
    Waiting,
    Blocked(BlockedBy),
    /// The rollout is undone, and this node never had the new version.
    Unaffected,
}

/// Why a node counts as failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Its agent says so.
    Reported,
    /// Its release expired.
    Expired,
    /// It was configured, and became not ready soon after.
    NotReady,
    /// Only the status of the policy knows: its enactment was deleted since.
    Remembered,
}

/// Why a node is not released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockedBy {
    NodeNotReady(NotReady),
    /// The policy conflicts with another one on this node.
    Conflict(String),
    /// Two entries of `hosts` match the node.
    HostsOverlap(String),
    /// The document cannot be given to any agent.
    DocumentRefused(String),
    /// A Secret that the document refers to does not exist or cannot be read.
    SecretUnavailable(String),
    Paused,
    Stopped(StopReason),
    /// The canaries are not all configured.
    Canary,
    /// Another policy, the control plane or the node's own report; the text says which.
    WaitsFor(String),
    /// It had this version released a moment ago.
    TooSoon,
    /// The rollout is undone, and there is no version to return to.
    NoPreviousVersion,
    /// The API server refuses the enactment, for this reason.
    Refused(String),
}

/// Why no further node of a rollout starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    Aborted,
    CanaryFailed {
        canary: String,
    },
    /// Without the number of failed nodes: the message would be written to every waiting node again with each.
    TooManyFailures {
        limit: usize,
    },
}

impl fmt::Display for BlockedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeNotReady(reason) => reason.fmt(f),
            Self::Conflict(reason)
            | Self::HostsOverlap(reason)
            | Self::DocumentRefused(reason)
            | Self::SecretUnavailable(reason)
            | Self::WaitsFor(reason) => f.write_str(reason),
            Self::Stopped(reason) => reason.fmt(f),
            Self::Canary => f.write_str("waits until all canaries are configured"),
            Self::Paused => f.write_str("the rollout is paused"),
            Self::Refused(reason) => write!(f, "the API server refuses its enactment: {reason}"),
            Self::TooSoon => write!(
                f,
                "had this version released to it less than {INTERVAL} s ago, and asks for another release"
            ),
            Self::NoPreviousVersion => {
                f.write_str("no previous version of the policy was applied to this node")
            }
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aborted => f.write_str("the rollout was aborted"),
            Self::CanaryFailed { canary } => {
                write!(f, "the rollout stopped because the canary {canary} failed")
            }
            Self::TooManyFailures { limit: 1 } => f.write_str("the rollout stopped because a node failed"),
            Self::TooManyFailures { limit } => {
                write!(f, "the rollout stopped because {limit} or more nodes failed")
            }
        }
    }
}
