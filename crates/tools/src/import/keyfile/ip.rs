//! `[ipv4]` and `[ipv6]`: addresses, where they come from, DNS.

use ipnet::IpNet;
use serde_json::Value;

use super::Work;
use super::profile::Profile;
use super::routes::{self, Defaults};
use crate::import::draft::{Section, address, address_entry, put};
use crate::import::fields::{At, Content, Fields};
use crate::import::report::Log;

/// Name servers of one profile and family.
#[derive(Debug, Default)]
pub(super) struct Dns {
    pub priority: i32,
    pub servers: Vec<String>,
    pub search: Vec<String>,
    pub options: Vec<String>,
}

impl Work<'_> {
    pub(super) fn addresses(&mut self, profile: &mut Profile, name: &str, interface: &mut Section) {
        // NetworkManager puts the routes of a VRF's port into the VRF's table by itself.
        let table = profile
            .controller
            .as_ref()
            .and_then(|controller| self.names.controller(&controller.value)?.table);
        let mut waits = Vec::new();
        for family in ["ipv4", "ipv6"] {
            let mut section = profile.section(family).clone();
            let waited = section.flag("may-fail", &mut self.log) == Some(false);
            let said = self.family(&mut section, name, family, table);
            if waited && said.as_ref().is_some_and(|said| said.get("enabled") == Some(&Value::Bool(true))) {
                waits.push(family);
            }
            put(interface, family, said.map(Value::Object));
            *profile.section(family) = section;
        }
        if !waits.is_empty() {
            interface.insert("wait-ip".into(), waits.join("+").into());
        }
    }

    fn family(
        &mut self,
        section: &mut Fields,
        name: &str,
        family: &str,
        table: Option<u32>,
    ) -> Option<Section> {
        let log = &mut self.log;
        let addresses = addresses(section, family == "ipv6", log);
        let said = section.text("method", log);
        let method = match said.as_ref().map(|at| at.value.as_str()) {
            Some(method) => method.to_owned(),
            None if addresses.list.is_empty() => "auto".to_owned(),
            None => "manual".to_owned(),
        };
        let mut ip = method_of(&method, family, said.as_ref(), section, log)?;
        let auto = matches!(method.as_str(), "auto" | "dhcp");
        if !addresses.list.is_empty() {
            let list: Vec<Value> = addresses.list.into_iter().map(address_entry).collect();
            ip.insert("address".into(), list.into());
        }
        let defaults = Defaults {
            interface: name.to_owned(),
            ipv6: family == "ipv6",
            metric: section.number::<i64>("route-metric", log).filter(|metric| *metric >= 0),
            table: section.number::<u32>("route-table", log).filter(|table| *table != 0).or(table),
        };
        if auto {
            automatic(section, &mut ip, &defaults, log);
        }
        let gateway = section.text("gateway", log).or(addresses.gateway);
        if let Some(gateway) = gateway {
            self.draft.routes.extend(routes::gateway(&gateway, &defaults, log));
        }
        self.draft.routes.extend(routes::routes(section, &defaults, log));
        self.draft.rules.extend(routes::rules(section, &defaults, log));
        self.dns.push(dns(section, log));
        Some(ip)
    }
}

fn method_of(
    method: &str,
    family: &str,
    said: Option<&At<String>>,
    section: &Fields,
    log: &mut Log<'_>,
) -> Option<Section> {
    let ip = |enabled: bool, dhcp: bool, autoconf: bool| {
        let mut ip = Section::new();
        ip.insert("enabled".into(), enabled.into());
        if enabled {
            ip.insert("dhcp".into(), dhcp.into());
        }
        if enabled && family == "ipv6" {
            ip.insert("autoconf".into(), autoconf.into());
        }
        ip
    };
    let mut note = |why: &str| {
        if let Some(at) = said {
            log.note(at.place, section.named("method"), why);
        }
    };
    match (family, method) {
        (_, "disabled") => Some(ip(false, false, false)),
        (_, "auto") => Some(ip(true, true, true)),
        (_, "manual") => Some(ip(true, false, false)),
        ("ipv6", "dhcp") => Some(ip(true, true, false)),
        ("ipv6", "link-local") => Some(ip(true, false, false)),
        ("ipv6", "ignore") => {
            note("'ignore' leaves IPv6 to the kernel; not in the document");
            None
        }
        ("ipv4", "link-local") => {
            note("IPv4 link-local addresses are not supported by NMState; IPv4 is disabled");
            Some(ip(false, false, false))
        }
        (_, "shared") => {
            note("sharing (DHCP server and NAT) is not imported; the addresses are");
            Some(ip(true, false, false))
        }
        (_, other) => {
            if let Some(at) = said {
                log.fault(
                    at.place,
                    format!("'{other}' is not a method of {family}"),
                    "known are auto, manual, disabled, link-local, shared; dhcp and ignore for ipv6",
                );
            }
            None
        }
    }
}

/// What DHCP and router advertisements may bring along.
fn automatic(section: &mut Fields, ip: &mut Section, defaults: &Defaults, log: &mut Log<'_>) {
    for (theirs, ours) in [
        ("ignore-auto-dns", "auto-dns"),
        ("never-default", "auto-gateway"),
        ("ignore-auto-routes", "auto-routes"),
    ] {
        put(ip, ours, section.flag(theirs, log).filter(|on| *on).map(|_| false));
    }
    put(ip, "auto-route-metric", defaults.metric);
    put(ip, "auto-route-table-id", defaults.table);
    put(ip, "dhcp-send-hostname", section.flag("dhcp-send-hostname", log).filter(|on| !on));
    put(ip, "dhcp-custom-hostname", section.value("dhcp-hostname", log));
    if defaults.ipv6 {
        put(ip, "dhcp-duid", section.value("dhcp-duid", log));
        put(ip, "token", section.value("token", log));
        let mode = section.peek("addr-gen-mode").and_then(generation);
        if mode.is_some() {
            section.take("addr-gen-mode");
            put(ip, "addr-gen-mode", mode);
        }
    } else {
        put(ip, "dhcp-client-id", section.text("dhcp-client-id", log).map(|at| client_id(&at.value)));
    }
}

fn generation(text: &str) -> Option<&'static str> {
    match text {
        "eui64" | "0" => Some("eui64"),
        "stable-privacy" | "1" => Some("stable-privacy"),
        _ => None,
    }
}

fn client_id(text: &str) -> String {
    match text {
        "mac" => "ll".to_owned(),
        "duid" => "iaid+duid".to_owned(),
        other => other.to_owned(),
    }
}

struct Addresses {
    list: Vec<IpNet>,
    gateway: Option<At<String>>,
}

/// `address1=192.0.2.2/24,192.0.2.1`; older profiles say `addresses1=192.0.2.2;24;192.0.2.1;`.
fn addresses(section: &mut Fields, ipv6: bool, log: &mut Log<'_>) -> Addresses {
    let mut found = Addresses { list: Vec::new(), gateway: None };
    for field in section.take_all(|key| numbered(key, &["address", "addresses"])) {
        let Content::Text(text) = field.content else { continue };
        let mut parts = text.split([',', ';', ' ']).map(str::trim).filter(|part| !part.is_empty());
        let first = parts.next().unwrap_or_default();
        let whole = if first.contains('/') {
            first.to_owned()
        } else {
            format!("{first}/{}", parts.next().unwrap_or("none"))
        };
        match address(&whole).filter(|address| address.addr().is_ipv6() == ipv6) {
            Some(address) => found.list.push(address),
            None => log.fault(
                field.place,
                format!("'{text}' is not an address of {}", section.path),
                "write ADDRESS/PREFIX, a gateway may follow after a comma",
            ),
        }
        if let Some(gateway) = parts.next() {
            found.gateway.get_or_insert(At { value: gateway.to_owned(), place: field.place });
        }
    }
    found
}

/// `route`, `route1`, `route2` …
pub(super) fn numbered(key: &str, stems: &[&str]) -> bool {
    stems
        .iter()
        .any(|stem| key.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.parse::<u32>().is_ok()))
}

fn dns(section: &mut Fields, log: &mut Log<'_>) -> Dns {
    let mut list = |key: &str| -> Vec<String> {
        let text = section.value(key, log).unwrap_or_default();
        text.split([';', ',', ' '])
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (servers, search, options) = (list("dns"), list("dns-search"), list("dns-options"));
    Dns { priority: section.number("dns-priority", log).unwrap_or(0), servers, search, options }
}
