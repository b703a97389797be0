//! How a policy goes through its nodes. Pure: the same situation gives the same decision.
//!
//! load (IO) -> [`decide`] (pure) -> act (IO), again whenever something changed.
//!
//! Nothing is counted anywhere: who is being changed is read off the enactments. A node first claims a slot, and the claim becomes a
//! release only in a later look that shows it beside all earlier ones. Enactments are written with the version that was
//! seen, so two operators at once, or one that looks at old news, cannot overdraw a limit: of those who are
//! too many the one that claimed last sees all others, and is not released.

mod content;
mod decide;
mod facts;
mod gate;
mod limit;
mod marks;
mod orphans;
mod overlay;
mod phase;
mod quorum;
mod render;
mod rivals;
mod slots;
mod standing;
mod status;
mod steps;
mod sweep;
mod telling;

pub use decide::{Decision, decide};
pub use facts::{EnactmentFacts, NodeFacts, PolicyFacts, Settings, Situation};
pub use limit::limit;
pub use orphans::orphans;
pub use overlay::{OverlayError, merge, state_for};
pub use phase::{Hold, Phase};
pub use standing::Standing;
pub use steps::{Action, Mark, Step};
pub use telling::{Pace, Tidings, pace, tidings};
