//! A host that is kept: an agent with a directory of policies.

mod contradiction;
mod converge;
mod drift;
mod freeze;
mod life;
mod networkmanager;
mod revert;
mod rival;
mod systemd;
mod transcripts;
mod upgrade;
