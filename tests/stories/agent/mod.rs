//! A host that is kept: an agent with a directory of policies.

mod competing_program;
mod contradiction;
mod converge;
mod drift;
mod freeze;
mod life;
mod networkmanager;
mod revert;
mod systemd;
mod transcripts;
mod upgrade;
