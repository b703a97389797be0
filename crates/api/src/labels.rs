//! Labels that join objects, and labels of others that a rollout heeds.

/// On an enactment.
pub const POLICY: &str = "nmstate.io/policy";
/// On an enactment.
pub const NODE: &str = "nmstate.io/node";
/// On a NodeNetworkState: a new value makes the agent report again.
pub const FORCE_REFRESH: &str = "nmstate.io/force-nns-refresh";

/// On Pods; an agent is one with the value `AGENT`.
pub const COMPONENT: &str = "component";
pub const AGENT: &str = "kubernetes-nmstate-handler";

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// Either marks a node of the control plane; the second is the older one.
pub const CONTROL_PLANE: [&str; 2] =
    ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
