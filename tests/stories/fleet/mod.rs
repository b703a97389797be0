//! A real API server, operators, and nodes with agents.

mod bridge_everywhere;
