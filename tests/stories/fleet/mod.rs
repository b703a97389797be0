//! A real API server, operators, and nodes with agents.

mod agent_killed;
mod bad_policy;
mod bridge_everywhere;
