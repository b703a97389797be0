//! The status of Open vSwitch on this node: pure functions build it, the publisher writes it when it has changed.

mod build;
mod events;
mod facts;
mod observation;
mod publish;

pub use build::{build, is_ready};
pub use events::{Event, events};
pub use facts::{BridgeFacts, DatabaseFacts};
pub use observation::{Observation, Problem, Severity};
pub use publish::{Publisher, Settings as PublisherSettings, published};
