//! Tunnels: VXLAN and the plain IP ones.

use linesman_core::interface_kind::InterfaceKind;

use super::Work;
use crate::import::draft::{Section, put, put_section};
use crate::import::fields::Fields;
use crate::import::report::Log;

/// NMState's type for a tunnel; the mode stays where it is for [`Work::ip_tunnel`].
pub(super) fn kind(fields: &mut Fields, log: &mut Log<'_>) -> Option<InterfaceKind> {
    let mode = fields.clone().text("mode", log)?;
    match mode.value.as_str() {
        "vxlan" => {
            fields.take("mode");
            Some(InterfaceKind::Vxlan)
        }
        "sit" | "ipip" | "ip6ip6" | "ipip6" => Some(InterfaceKind::IpTunnel),
        other => {
            let why = format!("tunnels of mode '{other}' are not imported, nor are their keys");
            log.note(mode.place, fields.path.clone(), why);
            None
        }
    }
}

impl Work<'_> {
    pub(super) fn vxlan(&mut self, fields: &mut Fields, interface: &mut Section) {
        let mut vxlan = Section::new();
        let link = fields.text("link", &mut self.log);
        put(&mut vxlan, "base-iface", link.map(|at| self.named(&at.value)));
        let log = &mut self.log;
        put(&mut vxlan, "id", fields.number::<u32>("id", log));
        for key in ["local", "remote"] {
            put(&mut vxlan, key, fields.value(key, log));
        }
        put(&mut vxlan, "learning", fields.flag("mac-learning", log));
        put(&mut vxlan, "destination-port", fields.number::<u16>("port", log));
        put_section(interface, "vxlan", vxlan);
    }

    pub(super) fn ip_tunnel(&mut self, fields: &mut Fields, interface: &mut Section) {
        let mut tunnel = Section::new();
        let log = &mut self.log;
        for key in ["mode", "local", "remote"] {
            put(&mut tunnel, key, fields.value(key, log));
        }
        put(&mut tunnel, "ttl", fields.number::<u8>("ttl", log));
        put_section(interface, "ip-tunnel", tunnel);
    }
}
