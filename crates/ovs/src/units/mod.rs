//! The units of Open vSwitch: observed, decided upon, and kept running.

pub mod act;
pub mod decide;
pub mod events;
pub mod finding;
pub mod history;
pub mod observe;
pub mod observed;
pub mod processes;
mod systemd;

pub use act::Action;
pub use finding::Finding;
