//! Addresses, where they come from, name servers.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use super::Work;
use super::routes::NextHopDevice;
use crate::import::draft::{Section, address, address_entry, put};
use crate::import::fields::{At, Content, Fields};
use crate::import::report::Log;

impl Work<'_> {
    pub(super) fn addresses(
        &mut self,
        fields: &mut Fields,
        name: &str,
        table: Option<u32>,
        interface: &mut Section,
    ) {
        let (v4, v6): (Vec<_>, Vec<_>) =
            self.listed(fields).into_iter().partition(|address| address.addr().is_ipv4());
        self.ipv4(fields, v4, interface);
        self.ipv6(fields, v6, interface);
        self.nameservers(fields);
        if interface.get("type").is_none_or(|kind| kind != "vrf") {
            self.routes(fields, &NextHopDevice::Interface(name), table);
        }
    }

    /// A port of a bond or bridge.
    pub(super) fn without_addresses(&mut self, fields: &mut Fields) {
        for key in ["dhcp4", "dhcp6", "accept-ra"] {
            if fields.clone().flag(key, &mut self.log) == Some(false) {
                fields.take(key);
            }
        }
        fields.take("link-local");
        const ADDRESSES: &[&str] =
            &["dhcp4", "dhcp6", "accept-ra", "addresses", "gateway4", "gateway6", "routes", "nameservers"];
        for field in fields.take_all(|key| ADDRESSES.contains(&key)) {
            self.log.note(
                field.place,
                fields.named(&field.key),
                "a port of a bond or bridge has no addresses",
            );
        }
    }

    /// `addresses`: plain, or with settings of their own.
    fn listed(&mut self, fields: &mut Fields) -> Vec<IpNet> {
        let mut found = Vec::new();
        let named = fields.named("addresses");
        for item in fields.items("addresses", &mut self.log) {
            let text = match item.content {
                Content::Text(text) => text,
                Content::Map(Fields { entries, .. }) if entries.len() == 1 => {
                    let why = "label and lifetime of an address are not imported";
                    self.log.note(item.place, named.clone(), why);
                    entries[0].key.clone()
                }
                _ => String::new(),
            };
            match address(&text).filter(|_| text.contains('/')) {
                Some(address) => found.push(address),
                None => self.log.fault(
                    item.place,
                    format!("'{text}' is not an address with a prefix length"),
                    "write ADDRESS/PREFIX, as in 192.0.2.1/24",
                ),
            }
        }
        found
    }

    fn ipv4(&mut self, fields: &mut Fields, addresses: Vec<IpNet>, interface: &mut Section) {
        let dhcp = fields.flag("dhcp4", &mut self.log).unwrap_or(false);
        let mut ip = Section::new();
        let enabled = dhcp || !addresses.is_empty();
        ip.insert("enabled".into(), enabled.into());
        if enabled {
            ip.insert("dhcp".into(), dhcp.into());
        }
        list(&mut ip, addresses);
        if dhcp {
            self.overrides(fields, "dhcp4-overrides", &mut ip);
            if let Some(id) = fields.text("dhcp-identifier", &mut self.log) {
                let id = if id.value == "mac" { "ll" } else { "iaid+duid" };
                ip.insert("dhcp-client-id".into(), id.into());
            }
        }
        interface.insert("ipv4".into(), Value::Object(ip));
    }

    fn ipv6(&mut self, fields: &mut Fields, addresses: Vec<IpNet>, interface: &mut Section) {
        let log = &mut self.log;
        let dhcp = fields.flag("dhcp6", log).unwrap_or(false);
        let advertised = fields.text("accept-ra", log);
        let accept = advertised.as_ref().and_then(|at| crate::import::fields::flag(&at.value));
        let local = fields.has("link-local").then(|| fields.texts("link-local", log));
        let no_local = local.as_ref().is_some_and(|kinds| !kinds.iter().any(|kind| kind.value == "ipv6"));
        for kind in local.iter().flatten().filter(|kind| kind.value == "ipv4") {
            log.note(
                kind.place,
                fields.named("link-local"),
                "IPv4 link-local addresses are not supported by NMState",
            );
        }
        let mut ip = Section::new();
        if !dhcp && accept.is_none() && addresses.is_empty() {
            if no_local {
                interface.insert(
                    "ipv6".into(),
                    Value::Object(Section::from_iter([("enabled".to_owned(), false.into())])),
                );
            }
            return;
        }
        let auto = dhcp || accept == Some(true);
        if let (Some(at), false, true) = (&advertised, dhcp, accept == Some(true)) {
            log.note(
                at.place,
                fields.named("accept-ra"),
                "router advertisements cannot be enabled without DHCPv6: both are enabled",
            );
        }
        if let (Some(at), true, false) = (&advertised, dhcp, accept.unwrap_or(true)) {
            log.note(
                at.place,
                fields.named("accept-ra"),
                "only DHCPv6: addresses from router advertisements are disabled",
            );
        }
        ip.insert("enabled".into(), true.into());
        ip.insert("dhcp".into(), auto.into());
        ip.insert("autoconf".into(), (auto && accept != Some(false)).into());
        list(&mut ip, addresses);
        if auto {
            self.overrides(fields, "dhcp6-overrides", &mut ip);
            let log = &mut self.log;
            put(&mut ip, "addr-gen-mode", fields.value("ipv6-address-generation", log));
            put(&mut ip, "token", fields.value("ipv6-address-token", log));
        }
        interface.insert("ipv6".into(), Value::Object(ip));
    }

    fn overrides(&mut self, fields: &mut Fields, key: &str, ip: &mut Section) {
        let log = &mut self.log;
        let Some(mut overrides) = fields.map(key, log) else { return };
        put(ip, "auto-dns", overrides.flag("use-dns", log));
        if let Some(routes) = overrides.flag("use-routes", log) {
            ip.insert("auto-routes".into(), routes.into());
            ip.insert("auto-gateway".into(), routes.into());
        }
        put(ip, "auto-route-metric", overrides.number::<i64>("route-metric", log));
        put(ip, "dhcp-send-hostname", overrides.flag("send-hostname", log));
        put(ip, "dhcp-custom-hostname", overrides.value("hostname", log));
        overrides.leave("not supported by NMState", log);
    }

    fn nameservers(&mut self, fields: &mut Fields) {
        let log = &mut self.log;
        let Some(mut servers) = fields.map("nameservers", log) else { return };
        let valid = |at: At<String>, log: &mut Log<'_>| {
            let is_address = at.value.split('#').next().is_some_and(|ip| ip.parse::<IpAddr>().is_ok());
            if !is_address {
                log.fault(
                    at.place,
                    format!("'{}' is not the address of a name server", at.value),
                    "write an IP address",
                );
            }
            is_address.then_some(at.value)
        };
        let addresses = servers.texts("addresses", log);
        self.draft.servers.extend(addresses.into_iter().filter_map(|at| valid(at, log)));
        self.draft.search.extend(servers.texts("search", log).into_iter().map(|at| at.value));
        servers.leave("not supported by NMState", log);
    }
}

fn list(ip: &mut Section, addresses: Vec<IpNet>) {
    if !addresses.is_empty() {
        let addresses: Vec<Value> = addresses.into_iter().map(address_entry).collect();
        ip.insert("address".into(), addresses.into());
    }
}
