//! `copy-mac-from`: on what can have a MAC address of its own, from a NIC that has one before the change.

use linesman_core::codes::day1::COPY_MAC;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::path::Path;
use linesman_core::plan::codes::UNKNOWN_MAC_SOURCE;
use linesman_core::state::{interfaces, is_up, kind, name, text};
use serde_json::Value;

use crate::configuration::Configuration;

pub fn sources(configuration: &Configuration) -> Vec<Diagnostic> {
    let state = configuration.state();
    let path = Path::root().key("interfaces");
    let up = interfaces(state).iter().enumerate().filter(|(_, interface)| is_up(interface));
    up.filter_map(|(index, interface)| {
        let source = text(interface, "copy-mac-from")?;
        let at = path.index(index).key("copy-mac-from");
        wrong_object(interface).or_else(|| made_here(state, interface, source)).map(|fault| fault.at(at))
    })
    .collect()
}

fn wrong_object(interface: &Value) -> Option<Diagnostic> {
    let hint = match kind(interface) {
        InterfaceKind::Bond | InterfaceKind::LinuxBridge | InterfaceKind::OvsInterface => return None,
        // It is no device of the kernel and has no MAC address; nmstate ignores the key there.
        InterfaceKind::OvsBridge => "move it to the ovs-interface of the same name",
        _ => "use 'mac-address', or remove it",
    };
    let message = format!("'copy-mac-from' has no effect on an interface of type '{}'", kind(interface));
    Some(Diagnostic::new(COPY_MAC, message).hint(hint))
}

fn made_here(state: &Value, interface: &Value, source: &str) -> Option<Diagnostic> {
    let is_source = |other: &&Value| name(other) == source && !kind(other).is_userspace();
    let made = interfaces(state).iter().filter(|other| is_up(other)).find(is_source)?;
    let has_mac = text(made, "mac-address").is_some_and(|mac| !mac.is_empty());
    // One end of a veth pair may be called ethernet.
    let is_made = kind(made).is_virtual() || made.get("veth").is_some();
    if !is_made || has_mac {
        return None;
    }
    let message = format!(
        "{} copies its MAC address from {source}, which this document makes: its address is not known before",
        name(interface)
    );
    Some(Diagnostic::new(UNKNOWN_MAC_SOURCE, message).hint("name a NIC, such as the first port of a bond"))
}
