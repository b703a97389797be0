//! The labels that the text and the picture share.

use linesman_core::interface_kind::InterfaceKind;

use super::{Address, DefaultRoute, Interface, NodeKind};

pub(super) fn label(interface: &Interface) -> String {
    let mut label = match &interface.kind {
        NodeKind::Interface(InterfaceKind::Unknown) if interface.is_only_referenced() => {
            return "not described".into();
        }
        NodeKind::Interface(InterfaceKind::OvsInterface) if interface.detail.is_some() => "ovs".into(),
        kind => kind.to_string(),
    };
    if let Some(detail) = &interface.detail {
        label = format!("{label} {detail}");
    }
    match interface.state.as_str() {
        "up" => label,
        "unknown" => format!("{label}, not described"),
        state => format!("{label}, {state}"),
    }
}

/// Addresses as people want to see them: link-local ones add nothing.
pub(super) fn addresses(interface: &Interface) -> Vec<String> {
    interface.addresses.iter().filter(|address| !address.address.starts_with("fe80:")).map(address).collect()
}

fn address(Address { address, dynamic }: &Address) -> String {
    match (address.is_empty(), dynamic) {
        (true, _) => "dynamic".into(),
        (false, true) => format!("{address} dynamic"),
        (false, false) => address.clone(),
    }
}

pub(super) fn default_route(noun: &str, route: &DefaultRoute) -> String {
    let of = match (&route.vrf, route.preferred) {
        (Some(vrf), _) => format!("{noun} of {vrf}"),
        (None, true) => noun.to_owned(),
        (None, false) => format!("spare {noun}"),
    };
    route.via.as_ref().map_or(of.clone(), |via| format!("{of} via {via}"))
}
