//! Labels that join objects, and labels of others that a rollout heeds.

use std::borrow::Cow;

use crate::limits::LABEL;

/// On an enactment.
pub const POLICY: &str = "nmstate.io/policy";
/// On an enactment: the name of the node as [`node_value`] writes it.
pub const NODE: &str = "nmstate.io/node";
/// On a NodeNetworkState: a new value makes the agent report again.
pub const FORCE_REFRESH: &str = "nmstate.io/force-nns-refresh";

/// On a ConfigMap: it holds settings of Open vSwitch.
pub const OVS_SETTINGS: &str = "linesman.dev/open-vswitch-settings";

/// On Pods; an agent is one with the value `AGENT`.
pub const COMPONENT: &str = "component";
pub const AGENT: &str = "kubernetes-nmstate-handler";

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// Either marks a node of the control plane; the second is the older one.
pub const CONTROL_PLANE: [&str; 2] =
    ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/// A node's name as the value of a label. A name that is too long for one is cut, and ends with its hash (FNV-1a, 64 bits):
/// operator and agent compute the same.
pub fn node_value(node: &str) -> Cow<'_, str> {
    if node.len() <= LABEL {
        return node.into();
    }
    let hash = node.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let kept: String = node.chars().take(LABEL - 17).collect();
    format!("{kept}-{hash:016x}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_of_a_node_fits_into_a_label() {
        assert_eq!(node_value("w1.example.com"), "w1.example.com");
        assert_eq!(node_value(&"w".repeat(63)), "w".repeat(63));
        let long = node_value(&"w".repeat(64)).into_owned();
        assert_eq!(long, format!("{}-022400078207c4e5", "w".repeat(46)));
        assert_ne!(long, node_value(&"w".repeat(65)), "names of the same beginning differ");
    }
}
