//! A host with an agent and a directory of policies.

mod broken_files;
mod captures;
mod competing_program;
mod conflict;
mod connections;
mod converge;
mod drift;
mod freeze;
mod interrupted;
mod lifecycle;
mod networkmanager;
mod revert;
mod systemd;
mod transcripts;
mod unprivileged;
mod upgrade;
mod watch;
