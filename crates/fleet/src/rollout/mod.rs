//! How a policy goes through its nodes. Pure: the same situation gives the same decision.
//!
//! load (IO) -> [`decide`] (pure) -> act (IO), again whenever something changed.
//!
//! Nothing is counted anywhere: who is being changed is read off the enactments. A node first claims a slot, and the claim becomes a
//! release only in a later look that shows it beside all earlier ones. Enactments are written with the version that was
//! seen, so two operators at once, or one that looks at old news, cannot overdraw a limit: of those who are
//! too many the one that claimed last sees all others, and is not released.

mod candidate;
mod conflicts;
mod content;
mod decide;
mod deselected;
mod events;
mod facts;
mod gate;
mod limit;
mod orphans;
mod overlay;
mod phase;
mod progress;
mod quorum;
mod render;
mod slots;
mod status;
mod steps;
mod waiting;

pub use decide::{Decision, decide};
pub use events::{PolicyEvent, StatusUrgency, policy_event, urgency};
pub use facts::{EnactmentFacts, NodeFacts, PolicyFacts, Settings, Situation};
pub use limit::limit;
pub use orphans::orphans;
pub use overlay::{OverlayError, merge, state_for};
pub use phase::{BlockedBy, NodePhase};
pub use progress::NodeProgress;
pub use steps::{Action, Step, WaitingStatus};
