//! A real API server, operators, and nodes with agents.

mod agent_killed;
mod api_server_outage;
mod backup;
mod bad_policy;
mod booted;
mod bridge_everywhere;
mod captures;
mod clocks;
mod control_plane;
mod cut_off;
mod deleted;
mod edited;
mod examples;
mod hosts;
mod many_policies;
mod metrics;
mod node_state;
mod order;
mod own_address;
mod paused;
mod relabelled;
mod secrets;
mod settled;
mod unreadable;
