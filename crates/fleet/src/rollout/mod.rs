//! How a policy is rolled out to its nodes. Pure: the same situation gives the same decision.
//!
//! load (IO) -> [`decide`] (pure) -> act (IO), again whenever something changed.
//!
//! No counter is stored: which nodes are being changed is read from the enactments. A node first claims a slot, and the claim becomes
//! a release only in a later decision that sees it together with all earlier ones. Enactments are written only for the version that
//! was seen, so two operators at once, or one with an old cache, cannot exceed the limit: of too many claims the last one sees
//! all others, and is not released.

mod candidate;
mod conflicts;
mod content;
mod decide;
mod deselected;
mod events;
mod facts;
mod gate;
mod limit;
mod mac_owners;
mod orphans;
mod overlay;
mod pace;
mod phase;
mod progress;
mod queue;
mod quorum;
mod remembered;
mod render;
mod slots;
mod soak;
mod status;
mod steps;
mod trouble;
mod waiting;

pub use decide::{Decision, decide};
pub use events::{PolicyEvent, StatusUrgency, policy_event, urgency};
pub use facts::{EnactmentFacts, NodeFacts, NotReady, PolicyFacts, Settings, Situation};
pub use limit::limit;
pub use linesman_core::mac_address::MacAddress;
pub use orphans::orphans;
pub use overlay::{OverlayError, merge, state_for};
pub use phase::{BlockedBy, Failure, NodePhase, StopReason};
pub use progress::NodeProgress;
pub use steps::{Action, Step};
pub use trouble::{unreadable, write_refused};
pub use waiting::WaitingStatus;
