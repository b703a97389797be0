//! Names of objects.

/// The one NMState object.
pub const NMSTATE: &str = "nmstate";
/// The namespace of agent and operator unless somebody says otherwise.
pub const NAMESPACE: &str = "nmstate";
/// Service account of the agents, and of the operator.
pub const AGENT: &str = "nmstate-handler";
pub const OPERATOR: &str = "nmstate-operator";
/// Service account of the keepers of Open vSwitch.
pub const KEEPER: &str = "linesman-ovs-keeper";
/// Field managers, in `metadata.managedFields`.
pub const AGENT_MANAGER: &str = "linesman-agent";
pub const OPERATOR_MANAGER: &str = "linesman-operator";
pub const KEEPER_MANAGER: &str = "linesman-ovs-keeper";
/// The Lease of the one node whose ovs-vswitchd is restarted for its settings.
pub const OVS_RESTART_LEASE: &str = "linesman-ovs-restart";
/// On a Node until Open vSwitch is ready for the first time after a start, where that is asked for.
pub const OVS_START_UP_TAINT: &str = "linesman.dev/open-vswitch-not-ready";

/// A policy's name is also a label's value.
pub const POLICY_NAME_LENGTH: usize = 63;

/// `NODE.POLICY`
pub fn enactment(node: &str, policy: &str) -> String {
    format!("{node}.{policy}")
}

/// The policy of the enactment `name` on `node`. Only together with the node: both names may hold dots.
pub fn policy_of<'a>(name: &'a str, node: &str) -> Option<&'a str> {
    name.strip_prefix(node)?.strip_prefix('.').filter(|policy| !policy.is_empty())
}

/// The node of the enactment `name` of `policy`.
pub fn node_of<'a>(name: &'a str, policy: &str) -> Option<&'a str> {
    name.strip_suffix(policy)?.strip_suffix('.').filter(|node| !node.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_dots_are_distinguished_by_the_node() {
        assert_eq!(policy_of(&enactment("n1.example.com", "br.1"), "n1.example.com"), Some("br.1"));
        assert_eq!(policy_of("n1.example.com.br", "n1"), Some("example.com.br"));
        assert_eq!(policy_of("n10.br", "n1"), None);
        assert_eq!(policy_of("n1.", "n1"), None);
        assert_eq!(node_of(&enactment("n1.example.com", "br.1"), "br.1"), Some("n1.example.com"));
        assert_eq!((node_of(".br", "br"), node_of("n1-br", "br")), (None, None));
    }
}
