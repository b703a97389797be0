//! Reasons of conditions, per kind. Those of kubernetes-nmstate keep their meaning; the rest is said to be ours.

/// Of a policy.
pub mod policy {
    pub const CONFIGURED: &str = "SuccessfullyConfigured";
    pub const FAILED: &str = "FailedToConfigure";
    pub const PROGRESSING: &str = "ConfigurationProgressing";
    pub const NO_NODE: &str = "NoMatchingNode";

    /// Ours: somebody said `rollout.paused`.
    pub const PAUSED: &str = "RolloutPaused";
    /// Ours: another policy wants something else, or `hosts` names a node twice; no node was touched.
    pub const CONFLICT: &str = "PoliciesConflict";
}

/// Of an enactment.
pub mod enactment {
    pub const CONFIGURED: &str = "SuccessfullyConfigured";
    pub const FAILED: &str = "FailedToConfigure";
    pub const PROGRESSING: &str = "ConfigurationProgressing";
    pub const ABORTED: &str = "ConfigurationAborted";
    pub const RETRYING: &str = "Retrying";
    pub const LIMIT: &str = "MaxUnavailableLimitReached";

    /// Ours: waits for a node, a policy or a person; the message says for what.
    pub const HELD: &str = "Held";
    /// Ours: the host differs from what was applied.
    pub const DRIFTED: &str = "HostDiffers";
    /// Ours: the host is as it was applied.
    pub const IN_STEP: &str = "InStep";
    /// Ours: what the policy changed is as it was before.
    pub const REVERTED: &str = "Reverted";
}

/// Of a NodeNetworkState.
pub mod node_state {
    pub const REPORTED: &str = "SuccessfullyConfigured";
    pub const FAILED: &str = "FailedToConfigure";
}

/// Of an NMState.
pub mod nmstate {
    pub const DEPLOYED: &str = "SuccessfullyDeployed";
    pub const DEPLOYING: &str = "Deploying";
    pub const INTERNAL_ERROR: &str = "InternalError";
    pub const TLS_PROFILE: &str = "TLSProfileNotFullyHonored";
}

/// Of events on a policy.
pub mod event {
    /// As kubernetes-nmstate has it: nodes failed, or the rest was aborted.
    pub const FAILED: &str = "ReconcileFailed";

    /// The others are ours.
    pub const CONFLICT: &str = "PoliciesConflict";
    pub const STARTED: &str = "RolloutStarted";
    pub const PAUSED: &str = "RolloutPaused";
    pub const FINISHED: &str = "RolloutFinished";
    pub const IGNORED: &str = "NoMatchingNode";
}
