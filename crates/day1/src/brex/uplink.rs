//! What can be an uplink: a NIC, a bond or a VLAN that is nobody's port.

use std::net::IpAddr;

use ipnet::IpNet;
use linesman_core::facts::Facts;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{addresses, base, condition, interfaces, kind, name, text};
use serde_json::Value;

use super::{BrexError, Bridge, stack};

pub(super) fn check(
    observed: &Value,
    facts: &Facts,
    bridge: Bridge,
    uplink: &Value,
) -> Result<(), BrexError> {
    let refused = |(reason, hint): (String, String)| BrexError::Unsuitable {
        interface: name(uplink).to_owned(),
        bridge,
        reason,
        hint,
    };
    let unfit = wrong_kind(facts, uplink).or_else(|| unmanaged(facts, uplink));
    if let Some(reason) = unfit.or_else(|| lacks_address(facts, uplink)) {
        return Err(refused(reason));
    }
    if let Some(controller) =
        text(uplink, "controller").filter(|name| !name.is_empty() && *name != bridge.name())
    {
        return Err(BrexError::InUse {
            interface: name(uplink).to_owned(),
            bridge,
            controller: controller.to_owned(),
            kind: kind_of(observed, controller),
        });
    }
    receiver_above(observed, uplink).map_or(Ok(()), |reason| Err(refused(reason)))
}

/// NMState calls what it does not know `unknown`, and a wireless NIC `ethernet`: the profile says more.
fn wrong_kind(facts: &Facts, uplink: &Value) -> Option<(String, String)> {
    let runs_as = |kind: &str| {
        facts
            .profiles
            .iter()
            .any(|profile| profile.kind == kind && profile.active_on.as_deref() == Some(name(uplink)))
    };
    let written = kind(uplink);
    let reason = |reason: &str, hint: &str| Some((reason.to_owned(), hint.to_owned()));
    if runs_as("team") || written == InterfaceKind::Other("team".into()) {
        return reason(
            "it is a team, which NMState cannot describe and current systems no longer have",
            "replace it by a bond first",
        );
    }
    if runs_as("802-11-wireless") {
        return reason(
            "an access point accepts frames only from the MAC address of the wireless NIC itself",
            "use a wired NIC",
        );
    }
    match written {
        InterfaceKind::Ethernet | InterfaceKind::Veth | InterfaceKind::Bond | InterfaceKind::Vlan => None,
        InterfaceKind::LinuxBridge => reason(
            "it is a Linux bridge, and a bridge on a bridge is not supported",
            "remove the Linux bridge and use its uplink",
        ),
        InterfaceKind::OvsInterface => reason(
            "it is itself an interface of Open vSwitch",
            "name a NIC, a bond or a VLAN with --interface",
        ),
        other => Some((
            format!("it is of type {other}"),
            "name a NIC, a bond or a VLAN with --interface".to_owned(),
        )),
    }
}

fn unmanaged(facts: &Facts, uplink: &Value) -> Option<(String, String)> {
    let is_unmanaged = facts.unmanaged.contains(name(uplink)) || condition(uplink) == "ignore";
    is_unmanaged.then(|| {
        let hint = format!(
            "run `nmcli device set {} managed yes`, or change NetworkManager's configuration",
            name(uplink)
        );
        ("NetworkManager does not manage it".to_owned(), hint)
    })
}

/// NetworkManager looks for duplicates of an address before it sets it. What the host has meanwhile is only a part.
fn lacks_address(facts: &Facts, uplink: &Value) -> Option<(String, String)> {
    let mut active =
        facts.profiles.iter().filter(|profile| profile.active_on.as_deref() == Some(name(uplink)));
    let has = |wanted: &str| {
        let wanted = wanted.split('/').next().and_then(|ip| ip.parse::<IpAddr>().ok());
        wanted.is_none_or(|wanted| addresses(uplink).any(|address| address.addr() == wanted))
    };
    let (profile, missing) =
        active.find_map(|profile| Some((profile, profile.addresses.iter().find(|wanted| !has(wanted))?)))?;
    Some((
        format!("it does not have the address {missing} of its profile"),
        format!("wait until it does, or run `nmcli connection up {}`", profile.id),
    ))
}

/// The kernel hands the frames of a device to one receiver: Open vSwitch, or one of these.
fn receiver_above(observed: &Value, uplink: &Value) -> Option<(String, String)> {
    let receives = |interface: &&Value| {
        matches!(
            kind(interface),
            InterfaceKind::MacVlan | InterfaceKind::MacVtap | InterfaceKind::Ipvlan | InterfaceKind::Macsec
        ) && base(interface).is_some_and(|(_, base)| base == name(uplink))
    };
    let above = interfaces(observed).iter().find(receives)?;
    let reason = format!("the {} {} receives its frames", kind(above), name(above));
    Some((reason, format!("remove {} first", name(above))))
}

/// Of what another program made, nothing is known but what the kernel shows: it would come back differently at boot.
pub(super) fn check_described(imported: &Value, bridge: Bridge, members: &[&Value]) -> Result<(), BrexError> {
    let is_lost = |member: &&&Value| {
        let has_ip = addresses(member).any(|address| !is_link_local(address));
        stack::device(imported, name(member)).is_none() && (kind(member).is_virtual() || has_ip)
    };
    let Some(lost) = members.iter().find(is_lost) else { return Ok(()) };
    let uplink = members.first().map_or(*lost, |uplink| *uplink);
    Err(BrexError::Unsuitable {
        interface: name(uplink).to_owned(),
        bridge,
        reason: format!("NetworkManager has no active profile of {}", name(lost)),
        hint: "configure it with NetworkManager first, for example with `linesman apply`".to_owned(),
    })
}

fn is_link_local(address: IpNet) -> bool {
    match address.addr() {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn kind_of(observed: &Value, controller: &str) -> InterfaceKind {
    let mut named = interfaces(observed).iter().filter(|interface| name(interface) == controller);
    named.find(|interface| kind(interface).has_ports()).map(kind).unwrap_or_default()
}
