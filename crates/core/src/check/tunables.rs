//! Settings of a single interface: MAC address and MTU.

use super::view::{Interface, State, number, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;

const ETHERNET_BYTES: usize = 6;
const INFINIBAND_BYTES: usize = 20;

pub(super) fn mac_addresses(state: &State<'_>) -> Vec<Diagnostic> {
    state.up().filter_map(bad_mac).collect()
}

fn bad_mac(interface: &Interface<'_>) -> Option<Diagnostic> {
    let written = text(interface.get("mac-address")).filter(|mac| !mac.is_empty())?;
    let refuse = |message: String| {
        Some(Diagnostic::new(codes::BAD_MAC, message).at(interface.path.key("mac-address")))
    };
    let Some(bytes) = octets(written).filter(|bytes| is_length(bytes.len(), &interface.kind)) else {
        let diagnostic = refuse(format!("'{written}' is not a MAC address"));
        return diagnostic.map(|diagnostic| diagnostic.hint("write six bytes, like 52:54:00:12:34:56"));
    };
    if bytes.iter().all(|byte| *byte == 0) {
        return refuse("a MAC address cannot be all zeros".to_owned());
    }
    // The lowest bit of the first byte marks a group; the kernel refuses that for an interface.
    if bytes.len() == ETHERNET_BYTES && bytes[0] & 1 == 1 {
        return refuse(format!("'{written}' is the MAC address of a group, not of an interface"));
    }
    None
}

fn is_length(bytes: usize, kind: &InterfaceKind) -> bool {
    bytes == ETHERNET_BYTES
        || (bytes == INFINIBAND_BYTES && matches!(kind, InterfaceKind::Infiniband | InterfaceKind::Unknown))
}

fn octets(mac: &str) -> Option<Vec<u8>> {
    mac.split(':').map(octet).collect()
}

fn octet(text: &str) -> Option<u8> {
    let is_pair = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_pair.then(|| u8::from_str_radix(text, 16).ok())?
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_mac_addresses() {
        assert_eq!(octets("52:54:00:aB:CD:ef").map(|bytes| bytes.len()), Some(6));
        for bad in [
            "",
            "52:54",
            "5254:00:ab:cd:ef:01",
            "52-54-00-ab-cd-ef",
            "+1:54:00:ab:cd:ef",
            "gg:54:00:ab:cd:ef",
        ] {
            assert!(octets(bad).is_none_or(|bytes| bytes.len() != 6), "{bad}");
        }
    }
}
