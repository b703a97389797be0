//! A real API server, operators, and nodes with agents.

mod bridge_everywhere;
mod clocks;
mod control_plane;
mod deleted;
mod edited;
mod hosts;
mod order;
mod paused;
mod relabelled;
