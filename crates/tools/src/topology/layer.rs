//! On which layer an interface is drawn.

use linesman_core::interface_kind::InterfaceKind;
use serde::Serialize;

use super::NodeKind;

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

/// How an interface is related to others, where its type alone does not decide its layer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LayerPosition {
    pub(super) port_of_bridge: bool,
    /// A port of a bond, or the base of something.
    pub(super) carries: bool,
    /// Its other end is here, too.
    pub(super) has_peer: bool,
    /// It has the MAC address by which the host speaks through its bridge.
    pub(super) uplink: bool,
}

pub(super) fn layer(kind: &NodeKind, position: LayerPosition) -> Layer {
    use InterfaceKind as Kind;
    let kind = match kind {
        NodeKind::OvsBond => return Layer::Bond,
        NodeKind::Interface(kind) => kind,
    };
    match kind {
        Kind::Ethernet | Kind::Infiniband | Kind::Unknown => Layer::Physical,
        Kind::Bond | Kind::Hsr => Layer::Bond,
        Kind::Vlan | Kind::Vxlan | Kind::IpTunnel | Kind::Macsec | Kind::Xfrm | Kind::Ipsec => Layer::Vlan,
        Kind::LinuxBridge | Kind::OvsBridge => Layer::Bridge,
        Kind::Vrf => Layer::Vrf,
        Kind::MacVlan | Kind::MacVtap | Kind::Ipvlan if position.port_of_bridge || position.carries => {
            Layer::Vlan
        }
        Kind::Dummy | Kind::Tun | Kind::Veth if position.carries => Layer::Physical,
        // In a container the NIC itself is a veth, whose other end is outside.
        Kind::Veth if !position.has_peer && (!position.port_of_bridge || position.uplink) => Layer::Physical,
        Kind::MacVlan | Kind::MacVtap | Kind::Ipvlan | Kind::Dummy | Kind::Tun | Kind::Veth => {
            Layer::Workload
        }
        Kind::OvsInterface | Kind::Loopback | Kind::Other(_) => Layer::Workload,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veth_is_a_nic_only_where_it_leads_out() {
        let pod = LayerPosition { port_of_bridge: true, ..LayerPosition::default() };
        assert_eq!(layer(&InterfaceKind::Veth.into(), pod), Layer::Workload);
        assert_eq!(
            layer(&InterfaceKind::Veth.into(), LayerPosition { uplink: true, ..pod }),
            Layer::Physical
        );
        assert_eq!(layer(&InterfaceKind::Veth.into(), LayerPosition::default()), Layer::Physical);
        assert_eq!(
            layer(&InterfaceKind::Veth.into(), LayerPosition { has_peer: true, ..LayerPosition::default() }),
            Layer::Workload
        );
    }

    #[test]
    fn a_mac_vlan_below_a_bridge_is_no_workload() {
        assert_eq!(layer(&InterfaceKind::MacVlan.into(), LayerPosition::default()), Layer::Workload);
        let port = LayerPosition { port_of_bridge: true, ..LayerPosition::default() };
        assert_eq!(layer(&InterfaceKind::MacVlan.into(), port), Layer::Vlan);
    }
}
