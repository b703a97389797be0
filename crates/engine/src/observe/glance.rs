//! A glance at the kernel: links and addresses, in nmstate's words. Takes milliseconds, whatever the host has.

use std::collections::HashMap;

use linesman_core::interface_kind::InterfaceKind;
use serde_json::{Map, Value, json};

use crate::netlink::{AddressFact, LinkFact, Netlink};
use crate::{Error, Result};

pub async fn glance() -> Result<Value> {
    let failed = |e: crate::netlink::Error| Error::Observe(e.into());
    let netlink = Netlink::open().map_err(failed)?;
    // One after the other: a socket lists one thing at a time.
    let links = netlink.links().await.map_err(failed)?;
    let addresses = netlink.addresses().await.map_err(failed)?;
    Ok(in_words(&links, &addresses))
}

/// Pure.
fn in_words(links: &[LinkFact], addresses: &[AddressFact]) -> Value {
    let mut by_link: HashMap<u32, Vec<&AddressFact>> = HashMap::new();
    for address in addresses {
        by_link.entry(address.index).or_default().push(address);
    }
    let own = |link: &LinkFact| by_link.get(&link.index).map_or(&[][..], Vec::as_slice);
    let interfaces: Vec<Value> = links.iter().map(|link| interface(link, own(link))).collect();
    json!({ "interfaces": interfaces })
}

fn interface(link: &LinkFact, addresses: &[&AddressFact]) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), link.name.clone().into());
    map.insert("type".into(), kind(link).as_str().into());
    map.insert("state".into(), if link.up { "up" } else { "down" }.into());
    map.insert("accept-all-mac-addresses".into(), link.promiscuous.into());
    if let Some(mtu) = link.mtu {
        map.insert("mtu".into(), mtu.into());
    }
    if let Some(mac) = &link.mac {
        map.insert("mac-address".into(), mac.to_uppercase().into());
    }
    if let Some(controller) = &link.controller {
        map.insert("controller".into(), controller.clone().into());
    }
    for (family, is_v4) in [("ipv4", true), ("ipv6", false)] {
        let own: Vec<Value> = addresses
            .iter()
            .filter(|a| a.ip.is_ipv4() == is_v4)
            .map(|a| json!({ "ip": a.ip.to_string(), "prefix-length": a.prefix }))
            .collect();
        map.insert(family.into(), json!({ "address": own }));
    }
    Value::Object(map)
}

/// The kernel's word for a kind is not always nmstate's.
fn kind(link: &LinkFact) -> InterfaceKind {
    match link.kind.as_deref() {
        None if link.name == "lo" => InterfaceKind::Loopback,
        None => InterfaceKind::Ethernet,
        Some(driver) => InterfaceKind::from_kernel(driver),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_addresses_in_nmstates_words() {
        let link = LinkFact {
            index: 7,
            name: "br1".into(),
            kind: Some("bridge".into()),
            up: true,
            carrier: false,
            promiscuous: false,
            controller: None,
            mac: Some("02:00:00:00:00:0a".into()),
            mtu: Some(1500),
        };
        let address = AddressFact { index: 7, ..AddressFact::test("br1", "10.0.0.1") };
        let state = in_words(&[link], &[address]);
        let bridge = &state["interfaces"][0];
        assert_eq!(bridge["type"], "linux-bridge");
        assert_eq!(bridge["mac-address"], "02:00:00:00:00:0A");
        assert_eq!(bridge["ipv4"]["address"][0]["ip"], "10.0.0.1");
        assert_eq!(bridge["ipv6"]["address"], json!([]));
    }
}
