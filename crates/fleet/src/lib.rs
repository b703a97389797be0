//! Decisions that only a cluster needs: who is released when, what a node accepts, what is reported. Pure.

pub mod enactment;
pub mod report;
pub mod rollout;
pub mod sealed_secrets;
