//! Finalizers that Linesman sets.

/// On a policy with `onDelete: Revert`: it goes when every node has gone back.
pub const REVERT: &str = "nmstate.io/revert";
