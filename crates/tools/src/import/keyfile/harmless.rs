//! Settings that say nothing about a state, or only what is so anyway.

use crate::import::fields::{Content, Fields};

/// Keys whose value does not matter: who made the profile, when it was last used.
const ALWAYS: &[(&str, &str)] = &[
    ("connection", "id"),
    ("connection", "uuid"),
    ("connection", "timestamp"),
    ("connection", "autoconnect-slaves"),
    ("connection", "autoconnect-ports"),
    ("connection", "autoconnect-retries"),
    ("connection", "multi-connect"),
    ("connection", "read-only"),
    ("connection", "stable-id"),
    ("connection", "wait-device-timeout"),
    ("connection", "wait-activation-delay"),
    ("connection", "gateway-ping-timeout"),
    ("ethernet", "generate-mac-address-mask"),
    // How long to wait is the engine's business, which verifies with a deadline.
    ("ipv4", "dhcp-timeout"),
    ("ipv6", "dhcp-timeout"),
    ("ipv4", "required-timeout"),
    ("ipv6", "required-timeout"),
    ("ipv6", "ra-timeout"),
    ("ovs-external-ids", "data.NM.connection.uuid"),
    // Only the way it looks on the wire: the filter itself comes from the ports.
    ("bridge", "vlan-filtering"),
    ("ovs-interface", "type"),
];

/// Values that are the default.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("connection", "lldp", "0"),
    ("connection", "lldp", "-1"),
    ("connection", "lldp", "default"),
    ("connection", "mptcp-flags", "0"),
    ("connection", "permissions", ""),
    ("connection", "metered", "0"),
    ("ethernet", "cloned-mac-address", "preserve"),
    ("ethernet", "mtu", "0"),
    ("ethernet", "mtu", "auto"),
    ("ethernet", "auto-negotiate", "false"),
    ("ipv4", "link-local", "0"),
    ("ipv6", "addr-gen-mode", "default"),
    ("ipv6", "addr-gen-mode", "default-or-eui64"),
    ("ipv6", "ip6-privacy", "-1"),
    ("ipv6", "ip6-privacy", "0"),
    ("ipv4", "dad-timeout", "-1"),
    ("ipv4", "forwarding", "auto"),
    ("vlan", "flags", "1"),
    ("vlan", "protocol", "802.1Q"),
    ("macvlan", "promiscuous", "true"),
    ("macvlan", "tap", "false"),
    ("bridge-port", "vlans", ""),
];

pub(super) fn drop_from(section: &mut Fields) {
    let path = section.path.clone();
    if path == ".nmmeta" {
        section.entries.clear();
    }
    section.entries.retain(|field| {
        let key = field.key.as_str();
        let value = match &field.content {
            Content::Text(text) => text.as_str(),
            _ => "",
        };
        !ALWAYS.contains(&(path.as_str(), key)) && !DEFAULTS.contains(&(path.as_str(), key, value))
    });
}
