//! The types of interfaces: everything that a decision needs to know about one, in one place.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! kinds {
    ($($kind:ident = $spelling:literal, $sections:expr, $description:literal;)*) => {
        /// The type of an interface, as a document spells it in `type`.
        #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum InterfaceKind {
            $(#[doc = $description] $kind,)*
            /// No type is given: whatever the host has under that name.
            #[default]
            Unknown,
            /// A type that NMState reports and Linesman has no rules for.
            Other(String),
        }

        impl InterfaceKind {
            /// Every type that a document may declare.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$kind => $spelling,)*
                    Self::Unknown => "unknown",
                    Self::Other(written) => written,
                }
            }

            /// The keys that this type has besides those of every interface.
            pub fn sections(&self) -> &'static [&'static str] {
                match self {
                    $(Self::$kind => &$sections,)*
                    Self::Unknown | Self::Other(_) => &[],
                }
            }

            /// What it is, for people who look it up.
            pub fn description(&self) -> &'static str {
                match self {
                    $(Self::$kind => $description,)*
                    Self::Unknown | Self::Other(_) => "an interface of a type that Linesman does not know",
                }
            }
        }

        impl From<&str> for InterfaceKind {
            fn from(written: &str) -> Self {
                match written {
                    $($spelling => Self::$kind,)*
                    "" | "unknown" => Self::Unknown,
                    other => Self::Other(other.to_owned()),
                }
            }
        }
    };
}

kinds! {
    Ethernet = "ethernet", ["ethernet", "veth"], "a NIC";
    LinuxBridge = "linux-bridge", ["bridge"], "a bridge of the kernel";
    OvsBridge = "ovs-bridge", ["bridge"], "a bridge of Open vSwitch";
    OvsInterface = "ovs-interface", ["patch", "dpdk"], "an internal, patch or DPDK port of an Open vSwitch bridge";
    Bond = "bond", ["link-aggregation", "bond"], "several NICs as one";
    Vlan = "vlan", ["vlan"], "one VLAN of another interface";
    Vxlan = "vxlan", ["vxlan"], "a tunnel that carries Ethernet in UDP";
    Veth = "veth", ["veth", "ethernet"], "a virtual cable; its other end is `veth.peer`";
    MacVlan = "mac-vlan", ["mac-vlan"], "a second interface with its own MAC address on another one";
    MacVtap = "mac-vtap", ["mac-vtap"], "the same, for a virtual machine";
    Ipvlan = "ipvlan", ["ipvlan"], "a second interface with the same MAC address on another one";
    Vrf = "vrf", ["vrf"], "a routing table with interfaces of its own";
    Dummy = "dummy", [], "an interface without a link that keeps addresses";
    Tun = "tun", ["tun"], "an interface whose other end is a program";
    Loopback = "loopback", [], "`lo`";
    Infiniband = "infiniband", ["infiniband"], "an InfiniBand port or partition";
    IpTunnel = "ip-tunnel", ["ip-tunnel"], "a tunnel that carries IP in IP";
    Macsec = "macsec", ["macsec"], "encryption on the link";
    Hsr = "hsr", ["hsr"], "two NICs that send everything twice (HSR, PRP)";
    Ipsec = "ipsec", ["libreswan"], "a tunnel of Libreswan";
    Xfrm = "xfrm", ["xfrm"], "the kernel's interface of an IPsec tunnel";
}

/// What must be there before an interface can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// A driver of the kernel, by the name that rtnetlink knows it under.
    KernelDriver(&'static str),
    OpenVswitch,
    Libreswan,
    /// Hardware, or a driver that the kernel has under several names.
    None,
}

impl InterfaceKind {
    pub fn requirement(&self) -> Requirement {
        match self {
            Self::LinuxBridge => Requirement::KernelDriver("bridge"),
            Self::Bond => Requirement::KernelDriver("bond"),
            Self::Vlan => Requirement::KernelDriver("vlan"),
            Self::Vxlan => Requirement::KernelDriver("vxlan"),
            Self::Veth => Requirement::KernelDriver("veth"),
            Self::MacVlan => Requirement::KernelDriver("macvlan"),
            Self::MacVtap => Requirement::KernelDriver("macvtap"),
            Self::Ipvlan => Requirement::KernelDriver("ipvlan"),
            Self::Vrf => Requirement::KernelDriver("vrf"),
            Self::Dummy => Requirement::KernelDriver("dummy"),
            Self::Macsec => Requirement::KernelDriver("macsec"),
            Self::Hsr => Requirement::KernelDriver("hsr"),
            Self::Xfrm => Requirement::KernelDriver("xfrm"),
            Self::OvsBridge | Self::OvsInterface => Requirement::OpenVswitch,
            Self::Ipsec => Requirement::Libreswan,
            Self::Ethernet | Self::Tun | Self::Loopback | Self::Infiniband | Self::IpTunnel => {
                Requirement::None
            }
            Self::Unknown | Self::Other(_) => Requirement::None,
        }
    }

    /// The type of a link by the kernel's name for its driver.
    pub fn from_kernel(driver: &str) -> Self {
        let made_by =
            |kind: &&Self| matches!(kind.requirement(), Requirement::KernelDriver(name) if name == driver);
        match driver {
            "openvswitch" => Self::OvsInterface,
            "tun" => Self::Tun,
            _ => Self::ALL.iter().find(made_by).cloned().unwrap_or_default(),
        }
    }

    /// Lives only in the database of a daemon: a kernel interface may have the same name.
    pub fn is_userspace(&self) -> bool {
        matches!(self, Self::OvsBridge | Self::Ipsec)
    }

    /// Whether the kernel (or Open vSwitch) forgets the interface when its profile is deleted.
    pub fn is_virtual(&self) -> bool {
        !matches!(self, Self::Ethernet | Self::Veth | Self::Unknown | Self::Infiniband | Self::Loopback)
    }

    /// NMState calls one end of a veth pair `ethernet` or `veth` as it likes: both mean the same device.
    pub fn is_nic(&self) -> bool {
        matches!(self, Self::Ethernet | Self::Veth)
    }

    pub fn is_same_device(&self, other: &Self) -> bool {
        self == other || (self.is_nic() && other.is_nic())
    }

    /// Whether other interfaces can be its ports.
    pub fn has_ports(&self) -> bool {
        matches!(self, Self::LinuxBridge | Self::OvsBridge | Self::Bond | Self::Vrf | Self::Hsr)
    }

    /// The section whose `base-iface` names the interface that this one is built on.
    pub fn base_section(&self) -> Option<&'static str> {
        match self {
            Self::Vlan => Some("vlan"),
            Self::Vxlan => Some("vxlan"),
            Self::MacVlan => Some("mac-vlan"),
            Self::MacVtap => Some("mac-vtap"),
            Self::Ipvlan => Some("ipvlan"),
            Self::Macsec => Some("macsec"),
            Self::Infiniband => Some("infiniband"),
            Self::IpTunnel => Some("ip-tunnel"),
            Self::Ethernet | Self::Veth | Self::Dummy | Self::Tun | Self::Loopback => None,
            Self::LinuxBridge | Self::OvsBridge | Self::OvsInterface | Self::Bond => None,
            Self::Vrf | Self::Hsr | Self::Ipsec | Self::Xfrm | Self::Unknown | Self::Other(_) => None,
        }
    }

    /// Whether it cannot exist without a base.
    pub fn needs_base(&self) -> bool {
        matches!(self, Self::Vlan | Self::MacVlan | Self::MacVtap | Self::Macsec)
    }
}

impl FromStr for InterfaceKind {
    type Err = Infallible;

    fn from_str(written: &str) -> Result<Self, Infallible> {
        Ok(written.into())
    }
}

impl fmt::Display for InterfaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for InterfaceKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for InterfaceKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|written| written.as_str().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_as_it_is_written() {
        for kind in InterfaceKind::ALL {
            assert_eq!(InterfaceKind::from(kind.as_str()), *kind);
            assert!(!matches!(kind, InterfaceKind::Unknown | InterfaceKind::Other(_)));
        }
        assert_eq!(InterfaceKind::from(""), InterfaceKind::Unknown);
    }

    #[test]
    fn a_type_that_nobody_knows_keeps_its_name() {
        let kind: InterfaceKind = serde_json::from_str("\"wireguard\"").unwrap();
        assert_eq!(kind, InterfaceKind::Other("wireguard".into()));
        assert_eq!(serde_json::to_string(&kind).unwrap(), "\"wireguard\"");
        assert!(kind.is_virtual() && !kind.is_userspace() && !kind.has_ports());
    }

    #[test]
    fn the_kernel_has_names_of_its_own() {
        let kinds = [
            ("bridge", InterfaceKind::LinuxBridge),
            ("macvlan", InterfaceKind::MacVlan),
            ("openvswitch", InterfaceKind::OvsInterface),
            ("vrf", InterfaceKind::Vrf),
            ("wireguard", InterfaceKind::Unknown),
        ];
        for (driver, kind) in kinds {
            assert_eq!(InterfaceKind::from_kernel(driver), kind, "{driver}");
        }
    }

    #[test]
    fn what_needs_a_base_says_where_it_is_named() {
        for kind in InterfaceKind::ALL.iter().filter(|kind| kind.needs_base()) {
            assert_eq!(kind.base_section(), Some(kind.as_str()));
        }
    }
}
