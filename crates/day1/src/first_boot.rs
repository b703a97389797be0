//! The document of a host, at its boots: what the host remembers of it, and what is done with it next.

mod decide;
mod needed;
mod overlay;
mod record;
mod rename;

pub use decide::{Action, Adopted, Cause, Occasion, OnChange, Situation, decide};
pub use needed::{missing, uncertain};
pub use overlay::under_policies;
pub use record::{Applied, DocumentState, Hash, Record, Selected};
pub use rename::{Renamed, known_as, mentions, renamed, with_names};
