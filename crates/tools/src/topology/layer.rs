//! On which layer an interface is drawn.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    Physical,
    Bond,
    /// VLANs and tunnels.
    Vlan,
    Bridge,
    /// Where traffic begins and ends: internal ports, Pods, virtual machines.
    Workload,
    Vrf,
}

impl Layer {
    pub fn label(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::Bond => "bond",
            Self::Vlan => "vlan, tunnel",
            Self::Bridge => "bridge",
            Self::Workload => "workload",
            Self::Vrf => "vrf",
        }
    }
}

/// How an interface stands to others, where its type alone does not tell its layer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    pub(super) port_of_bridge: bool,
    /// A port of a bond, or the base of something.
    pub(super) carries: bool,
    /// Its other end is here, too.
    pub(super) has_peer: bool,
    /// It has the MAC address by which the host speaks through its bridge.
    pub(super) uplink: bool,
}

pub(super) fn layer(kind: &str, standing: Standing) -> Layer {
    match kind {
        "ethernet" | "infiniband" | "unknown" => Layer::Physical,
        "bond" | "ovs-bond" | "hsr" => Layer::Bond,
        "vlan" | "vxlan" | "ip-tunnel" | "macsec" | "xfrm" | "ipsec" => Layer::Vlan,
        "linux-bridge" | "ovs-bridge" => Layer::Bridge,
        "vrf" => Layer::Vrf,
        "mac-vlan" | "mac-vtap" | "ipvlan" if standing.port_of_bridge || standing.carries => Layer::Vlan,
        "dummy" | "tun" | "veth" if standing.carries => Layer::Physical,
        // In a container the NIC itself is a veth, whose other end is outside.
        "veth" if !standing.has_peer && (!standing.port_of_bridge || standing.uplink) => Layer::Physical,
        _ => Layer::Workload,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veth_is_a_nic_only_where_it_leads_out() {
        let pod = Standing { port_of_bridge: true, ..Standing::default() };
        assert_eq!(layer("veth", pod), Layer::Workload);
        assert_eq!(layer("veth", Standing { uplink: true, ..pod }), Layer::Physical);
        assert_eq!(layer("veth", Standing::default()), Layer::Physical);
        assert_eq!(layer("veth", Standing { has_peer: true, ..Standing::default() }), Layer::Workload);
    }

    #[test]
    fn a_mac_vlan_below_a_bridge_is_no_workload() {
        assert_eq!(layer("mac-vlan", Standing::default()), Layer::Workload);
        let port = Standing { port_of_bridge: true, ..Standing::default() };
        assert_eq!(layer("mac-vlan", port), Layer::Vlan);
    }
}
