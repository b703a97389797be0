//! Stories on virtual machines. Emulated, they are slow, and have the processor for themselves.

#![allow(clippy::unwrap_used, clippy::panic)]

mod full_kernel;
mod hardware;
mod idle_bonds;
mod kinds;
mod made_anew;
mod power_cuts;
mod stacks;
