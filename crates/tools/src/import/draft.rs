//! A state document that is being written.

use std::collections::HashSet;

use ipnet::IpNet;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::mac_address::MacAddress;
use serde_json::{Map, Value, json};

pub(super) type Section = Map<String, Value>;

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub interfaces: Vec<Section>,
    pub routes: Vec<Value>,
    pub rules: Vec<Value>,
    pub servers: Vec<String>,
    pub search: Vec<String>,
    pub options: Vec<String>,
}

impl Draft {
    pub fn finish(self) -> Value {
        let mut state = Section::new();
        if !self.interfaces.is_empty() {
            let interfaces = self.interfaces.into_iter().map(Value::Object).collect::<Vec<_>>();
            state.insert("interfaces".into(), interfaces.into());
        }
        if !self.routes.is_empty() {
            state.insert("routes".into(), json!({ "config": unique(self.routes) }));
        }
        if !self.rules.is_empty() {
            state.insert("route-rules".into(), json!({ "config": unique(self.rules) }));
        }
        let mut dns = Section::new();
        for (key, list) in [("server", self.servers), ("search", self.search), ("options", self.options)] {
            if !list.is_empty() {
                dns.insert(key.into(), unique(list.into_iter().map(Value::from).collect()).into());
            }
        }
        if !dns.is_empty() {
            state.insert("dns-resolver".into(), json!({ "config": dns }));
        }
        Value::Object(state)
    }
}

fn unique(list: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    list.into_iter().filter(|value| seen.insert(value.to_string())).collect()
}

/// The start of every interface.
pub(super) fn interface(name: &str, kind: &InterfaceKind) -> Section {
    let mut section = Section::new();
    section.insert("name".into(), name.into());
    section.insert("type".into(), kind.as_str().into());
    section.insert("state".into(), "up".into());
    section
}

/// Inserts what is there.
pub(super) fn put(section: &mut Section, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        section.insert(key.to_owned(), value.into());
    }
}

/// Inserts a subsection that says something.
pub(super) fn put_section(section: &mut Section, key: &str, inner: Section) {
    if !inner.is_empty() {
        section.insert(key.to_owned(), Value::Object(inner));
    }
}

/// `192.0.2.1/24`; without a prefix the address alone.
pub(super) fn address(text: &str) -> Option<IpNet> {
    linesman_core::state::prefix(text.trim())
}

pub(super) fn address_entry(address: IpNet) -> Value {
    json!({ "ip": address.addr().to_string(), "prefix-length": address.prefix_len() })
}

/// A destination without its host bits, as NMState wants it.
pub(super) fn destination(text: &str) -> Option<IpNet> {
    address(text).map(|destination| destination.trunc())
}

/// A number where it is one, else true or false, else text.
pub(super) fn plain(text: &str) -> Value {
    match text.trim() {
        "true" => true.into(),
        "false" => false.into(),
        text => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}

/// `AA:BB:…` for anything that is a MAC address.
pub(super) fn mac(text: &str) -> Option<String> {
    let address: MacAddress = text.trim().replace('-', ":").parse().ok()?;
    address.is_ethernet().then(|| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_lose_their_host_bits() {
        assert_eq!(destination("10.1.2.3/8").unwrap().to_string(), "10.0.0.0/8");
        assert_eq!(destination("2001:db8::1").unwrap().to_string(), "2001:db8::1/128");
        assert_eq!(destination("10.0.0.0/33"), None);
        assert_eq!(destination("x"), None);
    }

    #[test]
    fn mac_addresses_are_written_alike() {
        assert_eq!(mac("02-00-00-ab-cd-ef"), Some("02:00:00:AB:CD:EF".into()));
        assert_eq!(mac("02:00:00:ab:cd"), None);
        assert_eq!(mac("permanent"), None);
    }
}
