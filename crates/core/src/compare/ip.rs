//! IPv4 and IPv6 of one interface.

use std::net::{IpAddr, Ipv6Addr};

use serde_json::{Map, Value};

use super::findings::Findings;
use super::view::{Declared, View};
use crate::path::Path;
use crate::state::{self, flag, kind, name, text};

/// Means nothing unless addresses come by DHCP or router advertisement.
const AUTOMATIC: [&str; 8] = [
    "auto-dns",
    "auto-gateway",
    "auto-routes",
    "auto-route-table-id",
    "dhcp-client-id",
    "dhcp-custom-hostname",
    "dhcp-duid",
    "dhcp-send-hostname",
];

/// Means nothing to a family that is switched off.
const ENABLED_ONLY: [&str; 4] = ["dhcp", "autoconf", "address", "prefix-route-metric"];

pub(super) fn compare(view: &View<'_>, declared: &Declared, got: &Value, family: &str, found: &mut Findings) {
    let before = view.was(name(&declared.want), kind(&declared.want));
    let none = Value::Null;
    let before = before.and_then(|before| before.get(family)).unwrap_or(&none);
    let got = got.get(family).unwrap_or(&none);
    let said = &declared.want[family];
    let section = Section {
        family,
        at: declared.path.key(family),
        got,
        speaks_of_enabled: said.get("enabled").is_some(),
    };
    let want = effective(said, before, family);
    section.compare(&want, found);
    if family == "ipv6" && flag(said, "autoconf") == Some(false) {
        section.advertised(&want, found);
    }
}

/// What a partial section means on this host: whether the family is on, and how addresses come, stays as it
/// was unless said; addresses that came by DHCP become static ones when DHCP is switched off.
fn effective(want: &Value, before: &Value, family: &str) -> Map<String, Value> {
    let mut want = want.as_object().cloned().unwrap_or_default();
    let inherited = |key| before.get(key).filter(|value| !value.is_null()).cloned();
    if let Some(enabled) = inherited("enabled").filter(|_| !want.contains_key("enabled")) {
        want.insert("enabled".into(), enabled);
    }
    let on = want.get("enabled") == Some(&Value::Bool(true));
    for key in ["dhcp", "autoconf"].iter().filter(|_| on) {
        if let Some(value) = inherited(key).filter(|_| !want.contains_key(*key)) {
            want.insert((*key).into(), value);
        }
    }
    if on && is_automatic(before) && !is_automatic(&Value::Object(want.clone())) && says_no_static(&want) {
        if let Some(addresses) = before.get("address") {
            let kept = addresses.as_array().into_iter().flatten().filter(|entry| !is_foreign(entry)).cloned();
            want.insert("address".into(), kept.collect());
        }
        clear_lifetimes(&mut want);
    }
    trim(&mut want, family);
    want
}

fn clear_lifetimes(want: &mut Map<String, Value>) {
    for entry in want.get_mut("address").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.retain(|key, _| key == "ip" || key == "prefix-length");
        }
    }
}

fn says_no_static(want: &Map<String, Value>) -> bool {
    let addresses = want.get("address").and_then(Value::as_array);
    addresses.is_none_or(|all| {
        all.iter().all(|entry| is_foreign(entry) || is_leased(entry) || is_link_local(entry))
    })
}

fn is_automatic(section: &Value) -> bool {
    flag(section, "enabled") == Some(true)
        && (flag(section, "dhcp") == Some(true) || flag(section, "autoconf") == Some(true))
}

/// Drops what NetworkManager does not look at in this mode.
fn trim(want: &mut Map<String, Value>, family: &str) {
    let on = want.get("enabled") == Some(&Value::Bool(true));
    let automatic = is_automatic(&Value::Object(want.clone()));
    let autoconf_off = want.get("autoconf") == Some(&Value::Bool(false));
    let no_name_sent = want.get("dhcp-send-hostname") == Some(&Value::Bool(false));
    want.retain(|key, value| {
        let key = key.as_str();
        !(value.is_null()
            || (!on && ENABLED_ONLY.contains(&key))
            || (!automatic && AUTOMATIC.contains(&key))
            || (!automatic && family == "ipv4" && key == "auto-route-metric")
            || (autoconf_off && key == "auto-route-metric")
            || (no_name_sent && key == "dhcp-custom-hostname"))
    });
    for key in ["auto-dns", "auto-gateway", "auto-routes"].iter().filter(|_| automatic) {
        want.entry(*key).or_insert(true.into());
    }
}

struct Section<'a> {
    family: &'a str,
    at: Path,
    got: &'a Value,
    speaks_of_enabled: bool,
}

impl Section<'_> {
    fn compare(&self, want: &Map<String, Value>, found: &mut Findings) {
        for (key, value) in want {
            self.property(want, key, value, found);
        }
    }

    fn property(&self, want: &Map<String, Value>, key: &str, value: &Value, found: &mut Findings) {
        let (at, got) = (self.at.key(key), self.got.get(key).filter(|got| !got.is_null()));
        let off = Value::Bool(false);
        match key {
            "allow-extra-address" => {}
            "enabled" if self.may_vary(want) => {}
            // A silent IPv4 section says nothing about the family; an IPv6 one still means it to be on.
            "enabled" if !self.speaks_of_enabled && (self.family == "ipv4" || value == &off) => {}
            "enabled" => found.equal(&at, value, got.unwrap_or(&off)),
            "dhcp" | "autoconf" if self.is_off() && value == &off => {}
            "dhcp" | "autoconf" => found.equal(&at, value, got.unwrap_or(&off)),
            "auto-dns" | "auto-gateway" | "auto-routes" => {
                found.equal(&at, value, got.unwrap_or(&Value::Bool(true)))
            }
            "prefix-route-metric" | "auto-route-metric" if value.as_i64() == Some(-1) => {}
            "dhcp-custom-hostname" => found.equal(&at, value, got.unwrap_or(&"".into())),
            "token" => found.equal(&at, &token(value), &token(got.unwrap_or(&"".into()))),
            "address" => self.addresses(want, value, found),
            _ => found.holds(&at, value, got),
        }
    }

    /// With an empty list of addresses the kernel family may be on or off, depending on routes.
    fn may_vary(&self, want: &Map<String, Value>) -> bool {
        self.family == "ipv4" && want.get("address").and_then(Value::as_array).is_some_and(Vec::is_empty)
    }

    fn is_off(&self) -> bool {
        flag(self.got, "enabled") != Some(true)
    }

    fn addresses(&self, want: &Map<String, Value>, list: &Value, found: &mut Findings) {
        let at = self.at.key("address");
        let automatic = is_automatic(&Value::Object(want.clone()));
        let wanted: Vec<(usize, &Value)> = list.as_array().into_iter().flatten().enumerate().collect();
        let wanted: Vec<(usize, &Value)> = wanted.into_iter().filter(|(_, entry)| is_static(entry)).collect();
        let got: Vec<&Value> = if self.is_off() { Vec::new() } else { self.got_addresses(automatic) };
        for (index, entry) in &wanted {
            let entry_at = at.index(*index);
            let exactly =
                got.iter().find(|got| same_ip(got, entry) && got["prefix-length"] == entry["prefix-length"]);
            match exactly.or_else(|| got.iter().find(|got| same_ip(got, entry))) {
                Some(got) => found.holds(
                    &entry_at.key("prefix-length"),
                    &entry["prefix-length"],
                    got.get("prefix-length"),
                ),
                None => found.missing(entry_at, plain(entry)),
            }
        }
        if want.get("allow-extra-address") == Some(&Value::Bool(false)) {
            for extra in got
                .iter()
                .filter(|got| is_static(got) && !wanted.iter().any(|(_, entry)| same_ip(entry, got)))
            {
                found.surplus(at.item(text(extra, "ip").unwrap_or_default()), plain(extra));
            }
        }
    }

    /// Addresses that a router still gives although none is wanted from it. Leases by DHCPv6 have no network.
    fn advertised(&self, want: &Map<String, Value>, found: &mut Findings) {
        if self.is_off() || want.get("enabled") != Some(&Value::Bool(true)) {
            return;
        }
        let leases = want.get("dhcp") == Some(&Value::Bool(true));
        let is_lease = |entry: &Value| leases && entry["prefix-length"].as_u64() == Some(128);
        let learnt = state::list(self.got, &["address"]).iter().filter(|entry| is_learnt(entry));
        for entry in learnt.filter(|entry| !is_lease(entry)) {
            let at = self.at.key("address").item(text(entry, "ip").unwrap_or_default());
            found.surplus(at, plain(entry));
        }
    }

    /// A leased address also serves a document that names it, as long as leases are wanted.
    fn got_addresses(&self, automatic: bool) -> Vec<&Value> {
        let all = state::list(self.got, &["address"]).iter();
        all.filter(|entry| is_static(entry) || (automatic && is_leased(entry))).collect()
    }
}

fn plain(entry: &Value) -> Value {
    let mut fields = entry.as_object().cloned().unwrap_or_default();
    fields.retain(|key, _| key == "ip" || key == "prefix-length");
    Value::Object(fields)
}

pub(crate) fn is_static(entry: &Value) -> bool {
    !is_leased(entry) && !is_foreign(entry) && !is_link_local(entry)
}

/// From a router or a DHCP server.
pub(crate) fn is_learnt(entry: &Value) -> bool {
    is_leased(entry) && !is_foreign(entry) && !is_link_local(entry)
}

fn is_leased(entry: &Value) -> bool {
    text(entry, "valid-life-time").is_some_and(|left| left != "forever")
}

/// Set by a program that marks its addresses with a protocol number of its own, such as OVN.
fn is_foreign(entry: &Value) -> bool {
    text(entry, "protocol").is_some_and(|protocol| !matches!(protocol, "lo" | "ra" | "kernel_ll"))
}

fn is_link_local(entry: &Value) -> bool {
    matches!(ip(entry), Some(IpAddr::V6(ip)) if ip.is_unicast_link_local())
}

fn ip(entry: &Value) -> Option<IpAddr> {
    text(entry, "ip")?.parse().ok()
}

fn same_ip(one: &Value, other: &Value) -> bool {
    ip(one).is_some() && ip(one) == ip(other)
}

fn token(written: &Value) -> Value {
    let text = written.as_str().filter(|text| !text.is_empty()).unwrap_or("::");
    text.parse::<Ipv6Addr>().map_or_else(|_| written.clone(), |ip| Value::from(ip.to_string()))
}
