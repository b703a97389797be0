//! Linux bridges and their ports.

use serde_json::{Value, json};

use super::profile::Profile;
use crate::import::draft::{Section, mac, plain, put, put_section};
use crate::import::fields::At;
use crate::import::report::Log;

/// NetworkManager's word, and NMState's.
const OPTIONS: &[(&str, &str)] = &[
    ("ageing-time", "mac-ageing-time"),
    ("group-forward-mask", "group-forward-mask"),
    ("group-address", "group-addr"),
    ("multicast-hash-max", "hash-max"),
    ("multicast-last-member-count", "multicast-last-member-count"),
    ("multicast-last-member-interval", "multicast-last-member-interval"),
    ("multicast-membership-interval", "multicast-membership-interval"),
    ("multicast-querier", "multicast-querier"),
    ("multicast-querier-interval", "multicast-querier-interval"),
    ("multicast-query-interval", "multicast-query-interval"),
    ("multicast-query-response-interval", "multicast-query-response-interval"),
    ("multicast-query-use-ifaddr", "multicast-query-use-ifaddr"),
    ("multicast-router", "multicast-router"),
    ("multicast-snooping", "multicast-snooping"),
    ("multicast-startup-query-count", "multicast-startup-query-count"),
    ("multicast-startup-query-interval", "multicast-startup-query-interval"),
    ("vlan-default-pvid", "vlan-default-pvid"),
];

const STP: &[(&str, &str)] = &[
    ("priority", "priority"),
    ("forward-delay", "forward-delay"),
    ("hello-time", "hello-time"),
    ("max-age", "max-age"),
];

pub(super) fn own(profile: &mut Profile, interface: &mut Section, log: &mut Log<'_>) {
    let section = profile.section("bridge");
    // Without the key NetworkManager switches it on.
    let mut stp =
        Section::from_iter([("enabled".to_owned(), section.flag("stp", log).unwrap_or(true).into())]);
    for (theirs, ours) in STP {
        put(&mut stp, ours, section.number::<u32>(theirs, log));
    }
    let mut options = Section::new();
    for (theirs, ours) in OPTIONS {
        put(&mut options, ours, section.text(theirs, log).map(|at| plain(&at.value)));
    }
    if let Some(protocol) = section.text("vlan-protocol", log) {
        options.insert("vlan-protocol".into(), protocol.value.to_ascii_lowercase().into());
    }
    if let Some(address) = section.text("mac-address", log).and_then(|at| mac(&at.value)) {
        interface.entry("mac-address").or_insert(address.into());
    }
    put_section(&mut options, "stp", stp);
    interface.insert("bridge".into(), json!({ "options": options }));
}

pub(super) fn port(profile: &mut Profile, log: &mut Log<'_>) -> Section {
    let section = profile.section("bridge-port");
    let mut port = Section::new();
    put(&mut port, "stp-hairpin-mode", section.flag("hairpin-mode", log));
    put(&mut port, "stp-path-cost", section.number::<u32>("path-cost", log));
    put(&mut port, "stp-priority", section.number::<u16>("priority", log));
    if section.peek("vlans").is_some_and(|vlans| !vlans.is_empty())
        && let Some(vlans) = section.text("vlans", log)
    {
        put(&mut port, "vlan", filter(&vlans, log));
    }
    port
}

/// `10 pvid untagged, 20, 30-40`
fn filter(vlans: &At<String>, log: &mut Log<'_>) -> Option<Value> {
    let mut native = None;
    let mut trunk = Vec::new();
    for entry in vlans.value.split([',', ';']).map(str::trim).filter(|entry| !entry.is_empty()) {
        let mut words = entry.split_whitespace();
        let Some(range) = words.next().and_then(range) else {
            log.fault(
                vlans.place,
                format!("'{entry}' is not a VLAN"),
                "write e.g. 10, 20-30 or '10 pvid untagged'",
            );
            return None;
        };
        let words: Vec<&str> = words.collect();
        if words.contains(&"pvid") {
            native = Some(range.0);
        } else {
            trunk.push(range);
        }
    }
    Some(vlan_filter(native, &trunk))
}

/// A port with its native VLAN and nothing else is an access port.
pub(super) fn vlan_filter(native: Option<u16>, trunk: &[(u16, u16)]) -> Value {
    let tag = |&(first, last): &(u16, u16)| match first == last {
        true => json!({ "id": first }),
        false => json!({ "id-range": { "min": first, "max": last } }),
    };
    let tags: Vec<Value> = trunk.iter().map(tag).collect();
    match (native, tags.is_empty()) {
        (Some(native), true) => json!({ "mode": "access", "tag": native }),
        (Some(native), false) => {
            json!({ "mode": "trunk", "trunk-tags": tags, "enable-native": true, "tag": native })
        }
        (None, _) => json!({ "mode": "trunk", "trunk-tags": tags }),
    }
}

pub(super) fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        .filter(|(first, last)| first <= last && *last < 4095)
}
