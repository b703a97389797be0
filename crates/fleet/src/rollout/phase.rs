//! Where a policy stands on one node, seen from what the node should be told.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodePhase {
    /// Holds what is wanted.
    Done,
    /// Was released, and has not ended; perhaps of an older version, which is let end first.
    InProgress,
    /// Has a slot, and is released in the next look.
    Claimed,
    /// At this generation: waits for another one.
    Failed {
        expired: bool,
    },
    /// Goes as soon as there is a slot.
    Waiting,
    Blocked(BlockedBy),
    /// The rollout is undone, and this node never took the new version.
    Unaffected,
}

/// Why a node does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockedBy {
    NodeNotReady(&'static str),
    /// The policy itself or another one is wrong for this node.
    Conflict(String),
    Paused,
    /// Somebody aborted it, or too many failed.
    Stopped(String),
    /// For the canaries, which go first.
    Canary,
    /// For another policy, the control plane, the node's own report.
    WaitsFor(String),
    /// Undo without an earlier version.
    NoPreviousVersion,
}

impl fmt::Display for BlockedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeNotReady(why) => f.write_str(why),
            Self::Conflict(why) | Self::Stopped(why) | Self::WaitsFor(why) => f.write_str(why),
            Self::Canary => f.write_str("waits until every canary holds"),
            Self::Paused => f.write_str("the rollout is paused"),
            Self::NoPreviousVersion => f.write_str("no earlier version of the policy held on this node"),
        }
    }
}
