//! A real API server, operators, and nodes with agents.

mod bridge_everywhere;
mod examples;
mod metrics;
mod node_state;
mod secrets;
