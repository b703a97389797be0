//! Settings of a single interface: MAC address and MTU.

use super::view::{Interface, State, number, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::mac_address::MacAddress;

pub(super) fn mac_addresses(state: &State<'_>) -> Vec<Diagnostic> {
    state.up().filter_map(bad_mac).collect()
}

fn bad_mac(interface: &Interface<'_>) -> Option<Diagnostic> {
    let written = text(interface.get("mac-address")).filter(|mac| !mac.is_empty())?;
    let refuse = |message: String| {
        Some(Diagnostic::new(codes::BAD_MAC, message).at(interface.path.key("mac-address")))
    };
    let Some(address) = written.parse().ok().filter(|address| fits(address, &interface.kind)) else {
        let diagnostic = refuse(format!("'{written}' is not a MAC address"));
        return diagnostic.map(|diagnostic| diagnostic.hint("write six bytes, like 52:54:00:12:34:56"));
    };
    if address.is_zero() {
        return refuse("a MAC address cannot be all zeros".to_owned());
    }
    if address.is_group() {
        return refuse(format!(
            "'{written}' is a multicast MAC address; an interface needs a unicast address"
        ));
    }
    None
}

fn fits(address: &MacAddress, kind: &InterfaceKind) -> bool {
    address.is_ethernet()
        || (address.is_infiniband() && matches!(kind, InterfaceKind::Infiniband | InterfaceKind::Unknown))
}

/// The kernel's ETH_MIN_MTU, and the MTU of the loopback.
const MTU: std::ops::RangeInclusive<i128> = 68..=65536;
/// A VRF is a device without a link; the kernel gives it this by itself.
const VRF_MTU: i128 = 65575;
/// RFC 8200: every link that carries IPv6.
const IPV6_MTU: i128 = 1280;

pub(super) fn mtus(state: &State<'_>) -> Vec<Diagnostic> {
    // NMState ignores the MTU of an OVS bridge: it is no device.
    state.up().filter(|interface| !interface.kind.is_userspace()).filter_map(bad_mtu).collect()
}

fn bad_mtu(interface: &Interface<'_>) -> Option<Diagnostic> {
    let mtu = number(interface.get("mtu"))?;
    let path = interface.path.key("mtu");
    let is_vrf = interface.kind == InterfaceKind::Vrf && mtu == VRF_MTU;
    if !MTU.contains(&mtu) && !is_vrf {
        let message = format!("an MTU of {mtu} is out of range");
        let hint = format!("use {} to {}; 1500 is usual, 9000 for jumbo frames", MTU.start(), MTU.end());
        return Some(Diagnostic::new(codes::BAD_MTU, message).at(path).hint(hint));
    }
    if mtu < IPV6_MTU && interface.ip_enabled("ipv6") == Some(true) {
        let message =
            format!("an MTU of {mtu} is too small for IPv6, which is enabled on '{}'", interface.name);
        let hint = format!("use at least {IPV6_MTU}, or set ipv6 'enabled: false'");
        return Some(Diagnostic::new(codes::BAD_MTU, message).at(path).hint(hint));
    }
    None
}
