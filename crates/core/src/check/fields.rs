//! The keys of a document, for the reference page. A test compares them with the keys that the checks know.

/// A key and its meaning.
pub type Field = (&'static str, &'static str);

pub const TOP: &[Field] = &[
    ("interfaces", "the declared interfaces; other interfaces are not changed"),
    ("routes", "`config`: the declared routes"),
    ("route-rules", "`config`: the declared policy routing rules"),
    ("dns-resolver", "`config`: DNS servers, search domains and options"),
    ("hostname", "`config`: the host name"),
    ("ovs-db", "global Open vSwitch database keys: `external_ids`, `other_config`"),
    ("ovn", "`bridge-mappings`: the bridge for each physical network"),
    ("description", "a comment; has no effect"),
];

pub const INTERFACE: &[Field] = &[
    ("name", "name of the interface; with `identifier`, name of its profile"),
    ("profile-name", "name of the NetworkManager profile"),
    ("description", "a comment; stored in the profile"),
    ("type", "one of the types below; may be omitted for an existing interface"),
    ("driver", "read only: the kernel driver"),
    ("state", "`up` (default), `down`, `absent` or `ignore`"),
    ("identifier", "how the device is matched: `name`, `mac-address` or `pci-address`"),
    ("mac-address", "MAC address to set; with `identifier: mac-address`, the address to match"),
    ("permanent-mac-address", "read only: the hardware address of the device"),
    ("pci-address", "with `identifier: pci-address`, the address to match"),
    ("mtu", "maximum size of a packet in bytes"),
    ("min-mtu", "read only: smallest MTU that the device supports"),
    ("max-mtu", "read only: largest MTU that the device supports"),
    (
        "wait-ip",
        "which addresses the interface needs before it counts as up: `any`, `ipv4`, `ipv6`, `ipv4+ipv6`",
    ),
    ("ipv4", "`enabled`, `dhcp`, `address` (a list of `ip` and `prefix-length`), and more"),
    ("ipv6", "same as `ipv4`, and `autoconf`"),
    ("mptcp", "`address-flags` for Multipath TCP"),
    (
        "controller",
        "the bridge, bond or VRF that the interface is a port of; empty to remove it from its controller",
    ),
    ("accept-all-mac-addresses", "promiscuous mode"),
    ("copy-mac-from", "use the MAC address of this interface"),
    ("ovs-db", "Open vSwitch database keys of the interface: `external_ids`, `other_config`"),
    ("802.1x", "802.1X authentication"),
    ("lldp", "`enabled: true` collects LLDP information of neighbours"),
    ("ethtool", "`feature`, `pause`, `coalesce`, `ring`, `fec`"),
    ("dispatch", "scripts that NetworkManager runs when the interface goes up or down"),
    ("alt-names", "alternative names of the interface"),
];

/// The options of a policy: the key, its meaning, and its default.
pub const OPTIONS: &[(&str, &str, &str)] = &[
    (
        "drift",
        "what to do when the host differs from the policy after a manual change: `Ignore`, `Report` or `Correct`",
        "`Report`",
    ),
    (
        "onDelete",
        "what to do when the policy is removed: `Retain` its configuration, or `Revert` to the state before it",
        "`Retain`",
    ),
    (
        "priority",
        "of policies that do not depend on each other, the one with the higher number is applied first",
        "0",
    ),
    (
        "probes",
        "a list of probes that must pass after the change, each written as for `linesman apply --probe` \
         (`tcp:10.0.0.1:22,timeout=5s`, at most `60s`) or as `{probe: 'tcp:10.0.0.1:22', timeout: 5s}`; in a cluster also \
         `apiServer` and `nodeReady`. `gateway` passes if the gateway of every default route that answered before still \
         answers; one family may lose its default route, which is reported, unless `gateway:v4` or `gateway:v6` requires it. `[]`: none for this \
         policy. Policies that are applied together must pass the probes of all of them",
        "`gateway` and `dns`; in a cluster also `apiServer` and `nodeReady`",
    ),
    (
        "patience",
        "how many seconds the probes may take to pass after the change, at most 3600, and the IPv4 addresses on a bond \
         with LACP to be configured, which waits for its partner; of policies that are applied \
         together the longest counts",
        "20, and what the change itself makes slow on the path by which the host is reached: twice the forward delay of a \
         bridge with spanning tree, 30 s for LACP (3 s with `lacp_rate: fast`), 15 s for a new DHCP lease",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::interfaces::{BASE_KEYS, TOP_KEYS};
    use super::*;

    fn keys(fields: &[Field]) -> Vec<&'static str> {
        fields.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn every_field_that_is_checked_is_described() {
        assert_eq!(keys(TOP), TOP_KEYS);
        assert_eq!(keys(INTERFACE), BASE_KEYS);
    }
}
