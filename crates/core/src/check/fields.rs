//! What can be written in a document, for people who look it up. A test holds it to what the checks know.

/// A key, and what it is for.
pub type Field = (&'static str, &'static str);

pub const TOP: &[Field] = &[
    ("interfaces", "the interfaces that are declared; what is not named is left alone"),
    ("routes", "`config`: the routes that are declared"),
    ("route-rules", "`config`: which traffic asks which routing table"),
    ("dns-resolver", "`config`: name servers, search domains and options"),
    ("hostname", "`config`: the name of the host"),
    ("ovs-db", "keys of Open vSwitch's own record: `external_ids`, `other_config`"),
    ("ovn", "`bridge-mappings`: which bridge leads to which physical network"),
    ("description", "for people; changes nothing"),
];

pub const INTERFACE: &[Field] = &[
    ("name", "the interface's name; with `identifier`, that of its profile"),
    ("profile-name", "what NetworkManager calls the profile"),
    ("description", "for people; kept with the profile"),
    ("type", "one of the types below; without it, an existing interface is taken as it is"),
    ("driver", "read only: the kernel driver"),
    ("state", "`up` (also when left out), `down`, `absent` or `ignore`"),
    ("identifier", "how the device is found: `name`, `mac-address` or `pci-address`"),
    ("mac-address", "its MAC address; with `identifier: mac-address`, the one to look for"),
    ("permanent-mac-address", "read only: the address that the device was made with"),
    ("pci-address", "with `identifier: pci-address`, the one to look for"),
    ("mtu", "the largest packet in bytes"),
    ("min-mtu", "read only: the smallest MTU that the device takes"),
    ("max-mtu", "read only: the largest MTU that the device takes"),
    (
        "wait-ip",
        "what must have an address before the interface counts as up: `any`, `ipv4`, `ipv6`, `ipv4+ipv6`",
    ),
    ("ipv4", "`enabled`, `dhcp`, `address` (a list of `ip` and `prefix-length`), and more"),
    ("ipv6", "as `ipv4`, and `autoconf`"),
    ("mptcp", "`address-flags` for Multipath TCP"),
    ("controller", "the bridge, bond or VRF that it is a port of; empty takes it out"),
    ("accept-all-mac-addresses", "promiscuous mode"),
    ("copy-mac-from", "take the MAC address of this interface"),
    ("ovs-db", "keys of its record in Open vSwitch: `external_ids`, `other_config`"),
    ("802.1x", "authentication at the switch"),
    ("lldp", "`enabled: true` collects what neighbours say"),
    ("ethtool", "`feature`, `pause`, `coalesce`, `ring`, `fec`"),
    ("dispatch", "scripts that NetworkManager runs when it goes up or down"),
    ("alt-names", "other names of the interface"),
];

/// What a policy's `spec` says beside its desired state: the key, what it is for, and its default.
pub const OPTIONS: &[(&str, &str, &str)] = &[
    (
        "drift",
        "what happens when somebody changes by hand what the policy says: `Ignore`, `Report` or `Correct`",
        "`Report`",
    ),
    (
        "onDelete",
        "what happens to what the policy made when it is removed: `Retain`, or `Revert` to what was there before",
        "`Retain`",
    ),
    ("priority", "among policies that do not build on each other, the higher one goes first", "0"),
    (
        "probes",
        "a list of what must work after the change as before, each spelled as `linesman apply --probe` takes it \
         (`tcp:10.0.0.1:22,timeout=5s`) or as `{probe: 'tcp:10.0.0.1:22', timeout: 5s}`; in a cluster also `apiServer` \
         and `nodeReady`",
        "`gateway` and `dns`; in a cluster also `apiServer` and `nodeReady`",
    ),
    ("patience", "how many seconds the probes may take to pass after the change", "20"),
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
