//! Types of conditions, per kind.

/// Of a policy.
pub mod policy {
    pub const AVAILABLE: &str = "Available";
    pub const DEGRADED: &str = "Degraded";
    pub const PROGRESSING: &str = "Progressing";
    pub const IGNORED: &str = "Ignored";
    pub const ALL: [&str; 4] = [AVAILABLE, DEGRADED, PROGRESSING, IGNORED];
}

/// Of an enactment.
pub mod enactment {
    pub const AVAILABLE: &str = "Available";
    pub const FAILING: &str = "Failing";
    pub const PROGRESSING: &str = "Progressing";
    pub const PENDING: &str = "Pending";
    pub const ABORTED: &str = "Aborted";
    pub const ALL: [&str; 5] = [AVAILABLE, FAILING, PROGRESSING, PENDING, ABORTED];
    /// What the host is like now that the policy was applied; an addition of Linesman's.
    pub const DRIFTED: &str = "Drifted";
}

/// Of a NodeNetworkState.
pub mod node_state {
    pub const AVAILABLE: &str = "Available";
    pub const FAILING: &str = "Failing";
}

/// Of an NMState.
pub mod nmstate {
    pub const AVAILABLE: &str = "Available";
    pub const DEGRADED: &str = "Degraded";
    pub const PROGRESSING: &str = "Progressing";
}
