//! MTUs: numbers, and none above that of what carries the frames.

use linesman_core::codes::WRONG_TYPE;
use linesman_core::codes::day1::MTU_ABOVE_PORT;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::path::Path;
use linesman_core::plan::codes::MTU_ABOVE_BASE;
use linesman_core::state::{self, interfaces, is_up, kind, name};
use serde_json::Value;

use crate::configuration::Configuration;

/// NMState takes numbers in quotes, the installer does not.
pub fn types(configuration: &Configuration) -> Vec<Diagnostic> {
    let path = Path::root().key("interfaces");
    let texts = interfaces(configuration.state()).iter().enumerate().filter_map(|(index, interface)| {
        // A leading zero has a message of its own.
        let is_ours = |text: &&str| !text.contains("{{") && !text.starts_with("0");
        let written = interface.get("mtu")?.as_str().filter(is_ours)?;
        let message = format!("the MTU '{written}' is text, not a number");
        let hint = "write it without quotes, for example 'mtu: 9000'";
        Some(Diagnostic::new(WRONG_TYPE, message).at(path.index(index).key("mtu")).hint(hint))
    });
    texts.collect()
}

pub fn order(configuration: &Configuration) -> Vec<Diagnostic> {
    let state = configuration.state();
    let path = Path::root().key("interfaces");
    let up = interfaces(state).iter().enumerate().filter(|(_, interface)| is_up(interface));
    up.filter_map(|(index, interface)| {
        let mtu = mtu(interface)?;
        let at = path.index(index).key("mtu");
        above_base(state, interface, mtu)
            .or_else(|| above_port(state, interface, mtu))
            .map(|fault| fault.at(at))
    })
    .collect()
}

fn mtu(interface: &Value) -> Option<u64> {
    interface.get("mtu")?.as_u64().filter(|_| kind(interface) != InterfaceKind::OvsBridge)
}

fn above_base(state: &Value, interface: &Value, mtu: u64) -> Option<Diagnostic> {
    let (_, base) = state::base(interface)
        .filter(|(section, _)| matches!(*section, "vlan" | "mac-vlan" | "mac-vtap" | "ipvlan"))?;
    let below = declared(state, base)?;
    (mtu > below).then(|| {
        let message =
            format!("{} has an MTU of {mtu}, its base interface {base} only {below}", name(interface));
        Diagnostic::new(MTU_ABOVE_BASE, message).hint(format!("declare mtu: {mtu} for {base} as well"))
    })
}

/// A frame leaves through a port: of a bond, or of the Open vSwitch bridge of an internal interface.
fn above_port(state: &Value, interface: &Value, mtu: u64) -> Option<Diagnostic> {
    let ports = match kind(interface) {
        InterfaceKind::Bond => state::ports(interface)?,
        InterfaceKind::OvsInterface => ports_beside(state, name(interface)),
        _ => return None,
    };
    let (port, below) = ports.into_iter().find_map(|port| {
        let below = declared(state, port).filter(|below| mtu > *below)?;
        Some((port, below))
    })?;
    let message = format!("{} has an MTU of {mtu}, its port {port} only {below}", name(interface));
    Some(Diagnostic::new(MTU_ABOVE_PORT, message).hint(format!("declare mtu: {mtu} for {port} as well")))
}

/// The other ports of the bridge that an internal interface is a port of.
fn ports_beside<'a>(state: &'a Value, internal: &str) -> Vec<&'a str> {
    let bridges = interfaces(state).iter().filter(|it| kind(it) == InterfaceKind::OvsBridge && is_up(it));
    let ports = bridges.filter_map(state::ports).find(|ports| ports.contains(&internal));
    ports.unwrap_or_default().into_iter().filter(|port| *port != internal).collect()
}

fn declared(state: &Value, name: &str) -> Option<u64> {
    interfaces(state).iter().filter(|it| is_up(it) && self::name(it) == name).find_map(mtu)
}
