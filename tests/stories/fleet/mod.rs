//! A real API server, operators, and nodes with agents.

mod agent_killed;
mod api_away;
mod backup;
mod bad_policy;
mod booted;
mod bridge_everywhere;
mod cut_off;
mod settled;
