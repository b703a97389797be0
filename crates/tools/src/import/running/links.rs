//! One interface of the running host.

use serde_json::{Value, json};

use super::{RunningHost, kinds};
use crate::import::draft::{Section, put};
use linesman_core::interface_kind::{InterfaceKind, Requirement};
use linesman_core::secrets::is_secret;
use linesman_core::state::{at, flag, interfaces, kind, list, name, ports, text};

impl RunningHost<'_> {
    pub(super) fn interface(&mut self, observed: &Value) -> Section {
        let mut interface = Section::new();
        interface.insert("name".into(), name(observed).into());
        put(&mut interface, "description", text(observed, "description"));
        interface.insert("type".into(), written_kind(observed).as_str().into());
        interface.insert("state".into(), "up".into());
        self.identity(observed, &mut interface);
        if let Some(mtu) = self.mtu(observed) {
            interface.insert("mtu".into(), mtu);
        }
        put(&mut interface, "wait-ip", text(observed, "wait-ip").filter(|wait| *wait != "any"));
        self.addresses(observed, &mut interface);
        if at(observed, &["lldp", "enabled"]) == Some(&Value::Bool(true)) {
            interface.insert("lldp".into(), json!({ "enabled": true }));
        }
        let alone =
            observed.get("controller").is_none() && kind(observed).requirement() != Requirement::OpenVswitch;
        if alone && flag(observed, "accept-all-mac-addresses") == Some(true) {
            interface.insert("accept-all-mac-addresses".into(), true.into());
        }
        self.controller(observed, &mut interface);
        for (key, section) in kinds::own(observed) {
            interface.insert(key, section);
        }
        self.secrets(observed, &mut interface);
        interface
    }

    fn identity(&self, observed: &Value, interface: &mut Section) {
        let identifier = text(observed, "identifier").filter(|identifier| *identifier != "name");
        put(interface, "identifier", identifier);
        put(
            interface,
            "pci-address",
            text(observed, "pci-address").filter(|_| identifier == Some("pci-address")),
        );
        // Every interface has an address; it was chosen by somebody if the profile says so.
        let chosen = self.profile(name(observed)).is_some_and(|profile| profile.mac.is_some());
        let by_mac = identifier == Some("mac-address");
        put(interface, "mac-address", text(observed, "mac-address").filter(|_| chosen || by_mac));
    }

    /// An MTU that would not come about by itself.
    fn mtu(&self, observed: &Value) -> Option<Value> {
        let mtu = observed.get("mtu")?.as_u64()?;
        let of = |name: &str| {
            interfaces(self.state)
                .iter()
                .filter(|other| super::name(other) == name)
                .find_map(|other| other.get("mtu")?.as_u64())
        };
        let below = linesman_core::state::base(observed).and_then(|(_, base)| of(base));
        let from_ports = ports(observed).unwrap_or_default().into_iter().filter_map(of).min();
        let natural = match kind(observed) {
            InterfaceKind::Vrf | InterfaceKind::Loopback | InterfaceKind::OvsBridge => return None,
            InterfaceKind::Vxlan => below.map_or(1450, |base| base.saturating_sub(50)),
            InterfaceKind::Vlan | InterfaceKind::MacVlan | InterfaceKind::MacVtap | InterfaceKind::Ipvlan => {
                below.unwrap_or(1500)
            }
            InterfaceKind::LinuxBridge => from_ports.unwrap_or(1500),
            _ => 1500,
        };
        (mtu != natural).then(|| mtu.into())
    }

    /// A port is listed by its controller; only where that is not in the document the port says it itself.
    fn controller(&self, observed: &Value, interface: &mut Section) {
        let Some(controller) = text(observed, "controller").filter(|name| !name.is_empty()) else { return };
        let listed = |other: &&Value| ports(other).is_some_and(|ports| ports.contains(&name(observed)));
        let owner = interfaces(self.state).iter().filter(|other| name(other) == controller).find(listed);
        if owner.is_none() && !self.left_out.iter().any(|name| name == controller) {
            interface.insert("controller".into(), controller.into());
        }
    }

    fn secrets(&mut self, observed: &Value, interface: &mut Section) {
        let place = name(observed).to_owned();
        if observed.get("802.1x").is_some() {
            self.note(
                &place,
                "802.1x",
                "credentials are never imported; the profile keeps them as long \
                as the document does not speak of them",
            );
        }
        for (section, value) in interface.iter_mut() {
            let Some(fields) = value.as_object_mut() else { continue };
            let found: Vec<String> = fields.keys().filter(|key| is_secret(key)).cloned().collect();
            for key in found {
                fields.remove(&key);
                self.notes.push(super::Note {
                    place: place.clone(),
                    setting: format!("{section}.{key}"),
                    why: "a secret, never imported".into(),
                });
            }
        }
    }
}

/// One end of a veth pair whose other end is elsewhere is as good as a NIC.
fn written_kind(observed: &Value) -> InterfaceKind {
    let kind = kind(observed);
    let pair = at(observed, &["veth", "peer"]).and_then(Value::as_str).is_some_and(|peer| !peer.is_empty());
    if kind.is_nic() && !pair { InterfaceKind::Ethernet } else { kind }
}

/// Whether the interface cannot have addresses, being part of something.
pub(super) fn is_port(state: &Value, observed: &Value) -> bool {
    let Some(controller) = text(observed, "controller").filter(|name| !name.is_empty()) else { return false };
    let mut controllers = interfaces(state).iter().filter(|other| name(other) == controller);
    kind(observed) != InterfaceKind::OvsInterface
        && !controllers.any(|controller| kind(controller) == InterfaceKind::Vrf)
        && list(observed, &["ipv4", "address"]).is_empty()
        && list(observed, &["ipv6", "address"]).is_empty()
}
