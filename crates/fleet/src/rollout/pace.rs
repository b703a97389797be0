//! How soon a node may have the same version again. A node asks for corrections itself: whatever it asks for, the others have their
//! turn, and the operator is not kept busy.

use linesman_api::time::Time;

use super::candidate::Candidate;
use super::facts::Situation;
use super::phase::{BlockedBy, NodePhase};

/// Seconds between two releases of the same version to a node.
pub const INTERVAL: u64 = 10;

/// Lets a node wait that had the same version a moment ago.
pub fn delay(candidate: &mut Candidate<'_>, situation: &Situation<'_>) {
    if candidate.phase == NodePhase::Waiting && due(candidate, situation).is_some() {
        candidate.phase = NodePhase::Blocked(BlockedBy::TooSoon);
    }
}

/// When a node that waits for that may have its turn.
pub fn wake(candidate: &Candidate<'_>, situation: &Situation<'_>) -> Option<Time> {
    due(candidate, situation).filter(|_| candidate.phase == NodePhase::Blocked(BlockedBy::TooSoon))
}

/// A release in the future was written by an operator with another clock: nobody waits for that.
fn due(candidate: &Candidate<'_>, situation: &Situation<'_>) -> Option<Time> {
    let spec = candidate.enactment?.spec.as_ref().filter(|_| candidate.is_repeated(situation.policy))?;
    let released = situation.settings.released_at(spec).filter(|at| *at <= situation.now)?;
    Some(released.plus(INTERVAL)).filter(|due| *due > situation.now)
}
