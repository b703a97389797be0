//! What there is of br-ex, and what the host remembers of the document that it was installed with.

use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::doctor::br_ex::{BrEx, DefaultRoute, FirstBoot, Link, NAME, OvsBridge};
use linesman_core::document::tree;
use linesman_core::state;
use serde_json::Value;

use crate::netlink::{AddressFact, Netlink};
use crate::ovs;

/// Where deployers put the documents of hosts.
pub(crate) const DOCUMENTS: &str = "/etc/nmstate/openshift";
/// Relative to the state directory. An agent writes it.
pub(crate) const RECORD: &str = "first-boot.json";
/// Among the documents: configure-ovs keeps off while it is there.
const FLAG: &str = "applied";

pub(super) async fn seen(state_dir: &Path) -> Option<BrEx> {
    let bridge = ovs::bridge(NAME).await.unwrap_or_default();
    let mut br_ex = BrEx {
        flag: Path::new(DOCUMENTS).join(FLAG).exists(),
        first_boot: first_boot(&state_dir.join(RECORD)),
        bridge,
        ..BrEx::default()
    };
    br_ex.declared =
        br_ex.first_boot.as_ref().and_then(|record| record.file.as_deref()).is_some_and(declares);
    kernel(&mut br_ex).await;
    let has_one = br_ex.bridge.is_some() || br_ex.links.iter().any(|link| link.name == NAME);
    (has_one || br_ex.first_boot.is_some() || has_documents()).then_some(br_ex)
}

/// What cannot be read is not there: the record's own reader refuses what it does not understand, `doctor` goes on.
fn first_boot(file: &Path) -> Option<FirstBoot> {
    let read: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let record = read.get("content")?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    Some(FirstBoot {
        state: text(record.get("state")).unwrap_or_default(),
        message: text(record.get("message")).unwrap_or_default(),
        file: text(record.pointer("/selected/file")),
        in_use: record.get("inUse").and_then(Value::as_bool).unwrap_or_default(),
    })
}

fn declares(file: &str) -> bool {
    let Ok(text) = fs::read_to_string(Path::new(DOCUMENTS).join(file)) else { return false };
    let Ok(document) = tree(&text) else { return false };
    let document = document.to_value();
    // As a policy, as the spec of one, or with captures.
    let sections = [&["spec", "desiredState"][..], &["desiredState"], &["desired"]];
    let desired = sections.iter().find_map(|keys| state::at(&document, keys)).unwrap_or(&document);
    state::interfaces(desired).iter().any(|entry| state::name(entry) == NAME && state::is_up(entry))
}

fn has_documents() -> bool {
    let entries = fs::read_dir(DOCUMENTS).into_iter().flatten().flatten();
    let is_document =
        |path: PathBuf| path.extension().is_some_and(|ending| ending == "yml" || ending == "yaml");
    entries.map(|entry| entry.path()).any(is_document)
}

async fn kernel(br_ex: &mut BrEx) {
    let Ok(netlink) = Netlink::open() else { return };
    let addresses = netlink.addresses().await.unwrap_or_default();
    let names = names(br_ex.bridge.as_ref());
    let links = netlink.links().await.unwrap_or_default().into_iter();
    let matters = links.filter(|link| names.contains(&link.name));
    let links = matters.map(|link| Link {
        addresses: addresses
            .iter()
            .filter(|address| address.index == link.index)
            .filter_map(global)
            .collect(),
        down: !link.up,
        name: link.name,
        mac: link.mac,
        mtu: link.mtu,
    });
    br_ex.links = links.collect();
    let routes = netlink.default_routes().await.unwrap_or_default().into_iter();
    let routes = routes.flat_map(|route| {
        let (ipv6, metric) = (route.ipv6, route.metric);
        route.next_hops.into_iter().map(move |hop| DefaultRoute { ipv6, interface: hop.interface, metric })
    });
    br_ex.default_routes = routes.collect();
}

fn names(bridge: Option<&OvsBridge>) -> Vec<String> {
    let ports = bridge.into_iter().flat_map(|bridge| &bridge.ports).flat_map(|port| &port.interfaces);
    std::iter::once(NAME.to_owned()).chain(ports.map(|interface| interface.name.clone())).collect()
}

/// The kernel gives every link a link-local address unless told otherwise; nobody is reached by it.
fn global(address: &AddressFact) -> Option<String> {
    const LINK: u8 = 253;
    (address.scope < LINK).then(|| format!("{}/{}", address.ip, address.prefix))
}
