//! Addresses of the running host, without those that came by themselves.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::{RunningHost, links};
use crate::import::draft::Section;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{flag, kind, list, name, text};

/// What is so unless somebody says otherwise.
fn defaults() -> Vec<(&'static str, Value)> {
    vec![
        ("auto-dns", json!(true)),
        ("auto-gateway", json!(true)),
        ("auto-routes", json!(true)),
        ("auto-route-table-id", json!(0)),
        ("auto-route-metric", json!(-1)),
        ("dhcp-send-hostname", json!(true)),
        ("dhcp-custom-hostname", json!("")),
        ("dhcp-client-id", json!("")),
        ("dhcp-duid", json!("")),
        ("token", json!("")),
        ("token", json!("::")),
    ]
}

/// Keys that only mean something while an address comes by itself.
const AUTOMATIC: &[&str] = &[
    "auto-dns",
    "auto-gateway",
    "auto-routes",
    "auto-route-table-id",
    "auto-route-metric",
    "dhcp-send-hostname",
    "dhcp-custom-hostname",
    "dhcp-client-id",
    "dhcp-duid",
    "token",
    "addr-gen-mode",
];

impl RunningHost<'_> {
    pub(super) fn addresses(&mut self, observed: &Value, interface: &mut Section) {
        if kind(observed) == InterfaceKind::OvsBridge || links::is_port(self.state, observed) {
            return;
        }
        for family in ["ipv4", "ipv6"] {
            if let Some(ip) = observed.get(family) {
                let written = self.family(observed, ip, family);
                interface.insert(family.to_owned(), Value::Object(written));
            }
        }
    }

    fn family(&mut self, observed: &Value, ip: &Value, family: &str) -> Section {
        let mut written = Section::new();
        let enabled = flag(ip, "enabled").unwrap_or(false);
        written.insert("enabled".into(), enabled.into());
        if !enabled {
            return written;
        }
        let dhcp = flag(ip, "dhcp").unwrap_or(false);
        let autoconf = flag(ip, "autoconf").unwrap_or(false);
        written.insert("dhcp".into(), dhcp.into());
        if family == "ipv6" {
            written.insert("autoconf".into(), autoconf.into());
        }
        let addresses: Vec<Value> = list(ip, &["address"])
            .iter()
            .filter(|address| self.is_static(observed, address, dhcp || autoconf))
            .map(plain)
            .collect();
        if !addresses.is_empty() {
            written.insert("address".into(), addresses.into());
        }
        if dhcp || autoconf {
            let chosen = super::without(ip, &defaults());
            let fields = chosen.as_object().cloned().unwrap_or_default();
            written.extend(fields.into_iter().filter(|(key, _)| AUTOMATIC.contains(&key.as_str())));
        }
        if flag(ip, "forwarding") == Some(true) {
            written.insert("forwarding".into(), true.into());
        }
        written
    }

    /// Not link-local, not leased, and asked for by the profile if that is known.
    fn is_static(&mut self, observed: &Value, address: &Value, automatic: bool) -> bool {
        let Some(ip) = text(address, "ip").and_then(|ip| ip.parse::<IpAddr>().ok()) else { return false };
        let local = matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
        let leased = text(address, "valid-life-time").is_some_and(|time| time != "forever");
        let of_profile = self.profile(name(observed)).map(|profile| {
            let whole = format!("{ip}/{}", address.get("prefix-length").unwrap_or(&Value::Null));
            profile.addresses.contains(&whole)
        });
        if local || leased {
            return of_profile == Some(true);
        }
        match of_profile {
            Some(false) => {
                // A lease without end looks like a static address; what no profile asks for is not ours either way.
                let why = if automatic {
                    "set by DHCP or another program"
                } else {
                    "not in a profile: a virtual IP, or set by hand"
                };
                self.note(name(observed), &ip.to_string(), format!("{why}: omitted"));
                false
            }
            _ => true,
        }
    }
}

fn plain(address: &Value) -> Value {
    json!({ "ip": address.get("ip"), "prefix-length": address.get("prefix-length") })
}
