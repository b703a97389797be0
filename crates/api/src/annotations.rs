//! Annotations that mean something to Linesman.

/// On a policy. kubernetes-nmstate's webhook wrote it at every change; left alone where it is found.
pub const MUTATED: &str = "nmstate.io/webhook-mutating-timestamp";
/// On a Pod template: a new value restarts the Pods.
pub const TLS_PROFILE: &str = "nmstate.io/tls-profile-hash";
