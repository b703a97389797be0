//! Names that belong to someone else on a host.

use super::view::{Presence, State};
use crate::codes;
use crate::diagnostic::Diagnostic;

enum Pattern {
    Is(&'static str),
    Starts(&'static str),
    /// A prefix and this many lower-case hexadecimal digits.
    Hex(&'static str, usize),
}

use Pattern::{Hex, Is, Starts};

const RESERVED: &[(Pattern, &str)] = &[
    (Is("ovs-system"), "the Open vSwitch kernel datapath"),
    (Is("ovs-netdev"), "the Open vSwitch userspace datapath"),
    (Is("br-int"), "OVN, as its integration bridge"),
    (Starts("genev_sys_"), "Open vSwitch, for its tunnels"),
    (Starts("vxlan_sys_"), "Open vSwitch, for its tunnels"),
    (Starts("ovn-k8s-mp"), "OVN-Kubernetes, as its management port"),
    (Starts("ovn-k8s-gw"), "OVN-Kubernetes, as its gateway"),
    (Starts("k8s-"), "OVN-Kubernetes, as a logical port"),
    (Starts("patch-br-"), "OVN, between its bridges"),
    (Starts("cilium_"), "Cilium"),
    (Starts("flannel."), "Flannel"),
    (Is("cni0"), "the bridge plugin of the Pod network"),
    (Is("kube-ipvs0"), "kube-proxy"),
    (Hex("cali", 11), "Calico, for a Pod"),
    (Hex("lxc", 12), "Cilium, for a Pod"),
    (Hex("veth", 8), "the Pod network, for a Pod"),
    (Hex("", 15), "OVN-Kubernetes, for a Pod"),
    (Is("all"), "the kernel, for settings of all interfaces (/proc/sys/net)"),
    (Is("default"), "the kernel, for settings of new interfaces (/proc/sys/net)"),
    (Is("bonding_masters"), "the kernel, for its list of bonds (/sys/class/net)"),
];

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        match self {
            Is(word) => name == *word,
            Starts(prefix) => name.starts_with(prefix),
            Hex(prefix, digits) => name.strip_prefix(prefix).is_some_and(|rest| is_lower_hex(rest, *digits)),
        }
    }
}

fn is_lower_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn owner(name: &str) -> Option<&'static str> {
    RESERVED.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, owner)| *owner)
}

/// Ignoring such an interface is the one thing a document may do with it.
pub(super) fn interfaces(state: &State<'_>) -> Vec<Diagnostic> {
    let ours = state.interfaces.iter().filter(|i| i.presence != Presence::Ignore && !i.is_matched());
    ours.filter_map(|interface| {
        if interface.name == "lo" && interface.presence != Presence::Up {
            let diagnostic =
                Diagnostic::new(codes::RESERVED, "the loopback interface cannot be removed or set down");
            return Some(
                diagnostic
                    .at(interface.path.key("state"))
                    .hint("remove 'lo' from the document, or set 'state: up'"),
            );
        }
        let owner = owner(interface.name)?;
        let hint = "choose another name, or set 'state: ignore'";
        Some(taken(interface.name, owner).at(interface.path.key("name")).hint(hint))
    })
    .collect()
}

pub(super) fn ports(state: &State<'_>) -> Vec<Diagnostic> {
    let ports = state.ports.iter().filter(|port| state.kernel(port.name).is_none());
    ports
        .filter_map(|port| {
            let owner = owner(port.name)?;
            Some(taken(port.name, owner).at(port.path.clone()).hint("remove it from the ports"))
        })
        .collect()
}

fn taken(name: &str, owner: &str) -> Diagnostic {
    Diagnostic::new(codes::RESERVED, format!("'{name}' is reserved; it belongs to {owner}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_whose_a_name_is() {
        let taken =
            ["br-int", "genev_sys_6081", "ovn-k8s-mp0", "veth0a1b2c3d", "4f2a9c01b7d3e56", "cali0a1b2c3d4e5"];
        let free =
            ["br-ex", "br0", "eth0", "veth0", "veth1a", "lxcbr0", "int", "k8sbr", "bond0", "lo", "deadbeef"];
        assert!(taken.iter().all(|name| owner(name).is_some()));
        assert_eq!(free.iter().find(|name| owner(name).is_some()), None);
    }
}
