//! A host that is kept: an agent with a directory of policies.

mod broken_files;
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
