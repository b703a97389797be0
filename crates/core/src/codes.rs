//! Every code a diagnostic can carry. Codes are stable: they are never renumbered or used again for something else.

/// What a code means, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    pub code: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $text:literal;)*) => {
        $(#[doc = $title] pub const $name: &str = $code;)*

        /// In order.
        pub const TABLE: &[$crate::codes::Explanation] =
            &[$($crate::codes::Explanation { code: $code, title: $title, text: $text }),*];
    };
}

pub mod examples;
pub mod failures;

/// Every entry there is: what is wrong with a document, why a host refuses it, how a change ended badly.
pub fn all() -> impl Iterator<Item = &'static Explanation> {
    TABLE.iter().chain(crate::plan::codes::CODES).chain(failures::TABLE)
}

/// The first code of ours that a text names in brackets, as in `no such port [LM1001]`.
pub fn named_in(text: &str) -> Option<&'static str> {
    let starts = text.match_indices("[LM").filter_map(|(at, _)| text.get(at + 1..at + 8));
    let mut words = starts.filter_map(|word| word.strip_suffix(']'));
    words.find_map(|word| all().find(|entry| entry.code == word)).map(|entry| entry.code)
}

/// The entry of `code`, also without its zeros or its letters: `lm401` and `401` are LM0401.
pub fn explain(code: &str) -> Option<&'static Explanation> {
    let number = number(code)?;
    all().find(|entry| entry.code[2..] == number)
}

fn number(code: &str) -> Option<String> {
    let digits = code.trim_start_matches(['L', 'l']).trim_start_matches(['M', 'm']);
    let is_number = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| format!("{digits:0>4}"))
}

/// What somebody may have meant who wrote an unknown `code`: one digit is wrong, or it is part of a title.
pub fn near(code: &str) -> Vec<&'static Explanation> {
    match number(code) {
        Some(number) => {
            let slips = |known: &str| known.bytes().zip(number.bytes()).filter(|(a, b)| a != b).count();
            all().filter(|entry| slips(&entry.code[2..]) == 1).collect()
        }
        None => {
            let word = code.to_lowercase();
            all().filter(|entry| word.len() >= 3 && entry.title.to_lowercase().contains(&word)).collect()
        }
    }
}

codes! {
    NOT_YAML = "LM0001", "invalid YAML",
        "The text is neither YAML nor JSON. The message shows where parsing stopped; the mistake is there or on the \
         line above. Common causes: indentation that does not match, a missing space after a colon, or a value that \
         contains ': ' or starts with a special character and needs quotes.";
    TOO_LARGE = "LM0002", "document too large",
        "Documents larger than 4 MiB are rejected. A state of that size could not be applied in reasonable time. \
         Split it into several documents, and apply those that depend on each other in order.";
    EMPTY = "LM0003", "empty document",
        "The file is empty or contains only comments. An empty document is rejected instead of being treated as 'no \
         changes', because it is usually the result of a template that failed.";
    SEVERAL_DOCUMENTS = "LM0004", "several documents in one file",
        "A file may contain only one document, because several documents could not be applied in one transaction. \
         Use one file per document, or merge them into one state.";
    DUPLICATE_KEY = "LM0005", "duplicate key",
        "YAML does not allow the same key twice in one mapping, and tools differ in which of the two they ignore. \
         Remove one of them.";
    TOO_DEEP = "LM0006", "nesting too deep",
        "The document has more levels than any valid network state. Check the indentation and the brackets.";
    ALIASES = "LM0007", "too many values, or recursive aliases",
        "The number of values is limited after aliases (*name) are expanded, so that a small document cannot \
         exhaust the memory. An alias inside its own anchor would never end. Write out the repeated values, or \
         split the document.";
    TAB = "LM0008", "tab used for indentation",
        "YAML allows only spaces for indentation. Replace the tabs with spaces.";
    NOT_A_KEY = "LM0009", "key is not plain text",
        "Keys in a network state are plain words. If a list, a mapping or an alias is used as a key, quotes are \
         usually missing.";
    UNSUPPORTED_VALUE = "LM0010", "unsupported value or tag",
        "Infinity, not-a-number and YAML tags other than !!str, !!int, !!float, !!bool and !!null are not \
         supported. Remove the tag, and quote the value if it is text.";
    NOT_A_STATE = "LM0011", "not a mapping",
        "A network state is a mapping with keys such as 'interfaces', 'routes' and 'dns-resolver'. A list of \
         interfaces must be under the key 'interfaces:'.";
    WRONG_KIND = "LM0012", "unsupported Kubernetes kind",
        "NodeNetworkConfigurationPolicy is the only Kubernetes kind that contains a desired state. To use the state \
         that a NodeNetworkState reports, copy its 'currentState' to a separate file.";
    NO_STATE = "LM0013", "policy without a desired state",
        "The desired state of a policy is in 'desired' or 'desiredState' (NMPolicy), or in 'spec.desiredState' \
         (NodeNetworkConfigurationPolicy). It is missing or empty, or it is given twice.";
    NOT_IMPORTABLE = "LM0014", "unknown import format",
        "`linesman import` reads NetworkManager profiles (the .nmconnection files in \
         /etc/NetworkManager/system-connections) and netplan YAML files. It detects the format from the content. \
         All files of one import must have the same format.";
    NOT_A_PROFILE = "LM0015", "not a NetworkManager profile",
        "A profile consists of sections in brackets with 'key=value' lines, and its [connection] section contains \
         the type. The file is probably truncated, or was damaged by a manual edit.";
    NOT_NETPLAN = "LM0016", "not a netplan file",
        "A netplan file has one top-level key, 'network', which contains 'version: 2' and the devices by kind: \
         ethernets, bonds, bridges, vlans, vrfs, tunnels and so on.";
    BAD_SETTING = "LM0017", "invalid setting",
        "The value of a setting in a profile or netplan file is invalid, for example not an address, a number or a \
         list. NetworkManager or netplan would reject it as well. Correct it, then import again.";
    WRONG_OPTION = "LM0018", "invalid or unknown policy option",
        "In addition to the desired state, a policy may contain these options: priority (an integer), onDelete \
         (Retain or Revert), drift (Ignore, Report or Correct), probes (a list; each is written as for 'linesman \
         apply --probe', or as a mapping with 'probe' and 'timeout'), patience (seconds), and options that only a \
         cluster uses, such as nodeSelector and maxUnavailable. Unknown options are rejected because a misspelt \
         option would otherwise have no effect.";
    CONTRADICTION = "LM0019", "conflicting policies",
        "Two policies for the same host set the same property to different values. Neither age nor priority \
         decides: a policy that is already applied stays, and the new one is rejected; of two new policies, both \
         are rejected. Lists of addresses, ports and DNS servers are complete in NMState, so two different lists \
         conflict as well. Routes and route rules are combined. Set the property in one policy only, or make both \
         policies agree.";
    NEEDS_CLUSTER = "LM0020", "probe requires a cluster",
        "The probes apiServer and nodeReady query the cluster that the host belongs to, so they work only with an \
         agent that runs in a cluster. `linesman apply` and `linesman agent --standalone` reject them. Remove them, \
         or use tcp:HOST:PORT to probe the address of the API server.";
    CLEAR_SECRET = "LM0021", "secret in plain text in a cluster policy",
        "Everyone with read access to policies, enactments or backups of the cluster could read the secret, so the \
         policy is not released to any node. Put the secret into a Secret in the agents' namespace (default: \
         nmstate) and refer to it with secretKeyRef. Each agent reads the Secret when it applies the policy, and \
         stores the value only in the profile on the host. File names, such as the path of a private key, are not \
         secrets. Plain-text secrets are allowed in files on a host (`linesman apply`, `linesman agent \
         --standalone`).";
    SECRET_NEEDS_CLUSTER = "LM0022", "reference to a Secret without a cluster",
        "secretKeyRef refers to a Secret in a cluster. `linesman apply` and `linesman agent --standalone` cannot \
         read it. Write the secret itself into the document, in a file that only root can read.";
    UNKNOWN_KEY = "LM0101", "unknown top-level key",
        "The top-level keys of a state are interfaces, routes, route-rules, dns-resolver, hostname, ovs-db, ovn and \
         description. Other keys would have no effect, so they are rejected.";
    UNKNOWN_FIELD = "LM0102", "unknown field",
        "NMState has no field of this name here. The hint shows the most similar field, or lists the known fields.";
    WRONG_TYPE = "LM0103", "wrong type of value",
        "The value does not have the required type: text instead of a number, a mapping instead of a list, a word \
         that is not allowed, or a number out of range. In YAML, unquoted numbers and true/false are not text; \
         quote them where text is required, for example in a name.";
    MISSING_FIELD = "LM0104", "missing field",
        "The field that the message names is required here.";
    UNNAMED = "LM0201", "interface without a name",
        "Every interface must have a name. If the interface is matched by MAC or PCI address, this is the name of \
         its profile.";
    BAD_NAME = "LM0202", "invalid interface name",
        "The kernel does not allow interface names that are empty, '.' or '..', or that contain '/', ':', spaces or \
         control characters. '%' is not allowed because it would be treated as a pattern.";
    LONG_NAME = "LM0203", "interface name too long",
        "Linux allows at most 15 bytes in an interface name. Choose a shorter name; the long name can be an \
         alternative name ('alt-names'). The names of OVS bridges and patch ports may be longer because the kernel \
         does not see them.";
    INTERFACE_TWICE = "LM0204", "duplicate interface",
        "Two entries have the same name. Merge them into one. An ovs-bridge and an ovs-interface may have the same \
         name.";
    UNKNOWN_TYPE = "LM0205", "unknown interface type",
        "NMState does not support this interface type. To configure an existing interface, you can omit 'type'.";
    RESERVED = "LM0206", "reserved name",
        "The name is reserved for the kernel, Open vSwitch, OVN or the Pod network of this node. Changing this \
         interface would break it, and its owner would revert the change. Choose another name. 'state: ignore' is \
         allowed.";
    BAD_MAC = "LM0207", "invalid MAC address",
        "A MAC address consists of six hexadecimal bytes separated by colons (20 bytes for InfiniBand). It must not \
         be all zeros or a multicast address (lowest bit of the first byte set).";
    BAD_MTU = "LM0208", "MTU out of range",
        "The MTU must be between 68 and 65536, and at least 1280 if IPv6 is enabled: IPv6 requires it on every \
         link, and the kernel disables IPv6 below it.";
    IDENTIFIER = "LM0209", "identifier without an address",
        "An interface that is matched by MAC address or PCI address must specify that address.";
    NO_PREFIX = "LM0301", "address without prefix length",
        "An address needs the prefix length of its network, for example 24 for the netmask 255.255.255.0.";
    BAD_ADDRESS = "LM0302", "invalid IP address",
        "An address has two fields: 'ip: 192.0.2.1' and 'prefix-length: 24'. IPv4 addresses have four decimal \
         numbers without leading zeros; IPv6 addresses have hexadecimal groups separated by colons.";
    BAD_PREFIX = "LM0303", "prefix length out of range",
        "The prefix length is 0 to 32 for IPv4 and 0 to 128 for IPv6.";
    WRONG_FAMILY = "LM0304", "address of the wrong family",
        "IPv4 addresses belong under 'ipv4', IPv6 addresses under 'ipv6'.";
    ADDRESS_TWICE = "LM0305", "same address on two interfaces",
        "If two interfaces of a host have the same address, it is undefined which of them answers. Interfaces in \
         different VRFs may have the same address.";
    PORT_TWICE = "LM0401", "duplicate port",
        "A controller lists the same port twice. Remove one of the two entries.";
    PORT_SHARED = "LM0402", "port of two controllers",
        "An interface can be a port of only one bridge, bond or VRF. Remove it from one of them. To connect two \
         bridges, use a veth pair or OVS patch ports.";
    OWN_PORT = "LM0403", "interface based on itself",
        "A bridge or bond cannot be its own port, and a VLAN cannot be its own base interface. An ovs-bridge may \
         list a port with its own name: its internal interface.";
    CYCLE = "LM0404", "circular dependency between interfaces",
        "Controllers depend on their ports; VLANs and similar interfaces depend on their base interface. These \
         dependencies must not form a circle.";
    PORT_WITH_IP = "LM0405", "port with IP enabled",
        "A port cannot have IP addresses. Configure them on its controller (for an ovs-bridge: on an ovs-interface \
         that is one of its ports). Ports of a VRF may have addresses.";
    PORT_ABSENT = "LM0406", "port removed by the same document",
        "The document removes an interface and also lists it as a port.";
    CONTROLLER = "LM0407", "port and controller do not match",
        "The 'controller' of a port and the port list of that controller do not match. If a controller has a port \
         list, the list must be complete.";
    BAD_VLAN_ID = "LM0501", "VLAN ID missing or out of range",
        "A VLAN ID is between 1 and 4094. 0 marks frames that carry only a priority; 4095 is reserved.";
    NO_BASE = "LM0502", "missing base interface",
        "A VLAN, MAC-VLAN, MAC-VTAP or MACsec interface needs a base interface. Set 'base-iface'.";
    BASE_ABSENT = "LM0503", "base interface removed by the same document",
        "The document removes the base interface of another interface. The kernel would remove both.";
    BAD_VXLAN_ID = "LM0504", "VXLAN ID missing or out of range",
        "A VXLAN ID is between 0 and 16777215 (24 bits).";
    VETH_PEER = "LM0505", "veth without a peer",
        "veth interfaces exist in pairs. Name the other end in 'veth.peer'; it is created as well.";
    MAC_VLAN_MODE = "LM0506", "MAC-VLAN without a mode",
        "A MAC-VLAN or MAC-VTAP interface needs a 'mode': bridge (interfaces on the same base can communicate), \
         vepa (their traffic goes through the switch), private (they cannot communicate) or passthru (one interface \
         has the base exclusively).";
    VRF_TABLE = "LM0507", "VRF without a routing table",
        "A VRF needs a routing table. Set 'vrf.route-table-id' to a number that nothing else uses.";
    BAD_BRIDGE_VLAN = "LM0508", "VLAN filter of a bridge port out of range",
        "VLAN tags of bridge ports are between 1 and 4094. In a range, the lower tag comes first.";
    BAD_DESTINATION = "LM0601", "invalid destination",
        "The destination of a route is an address, a slash and a prefix length. The default routes are 0.0.0.0/0 \
         and ::/0.";
    HOST_BITS = "LM0602", "destination with host bits",
        "The destination is ambiguous: 10.0.0.5/24 could mean the network 10.0.0.0/24 or the host 10.0.0.5/32. \
         Write one of the two.";
    BAD_NEXT_HOP = "LM0603", "next hop is not an address",
        "The next hop is the address of a router, without a prefix length.";
    NEXT_HOP_FAMILY = "LM0604", "next hop of the wrong family",
        "An IPv4 route needs an IPv4 next hop, and an IPv6 route an IPv6 next hop.";
    NO_WAY_OUT = "LM0605", "next hop interface missing or not allowed",
        "A route needs a 'next-hop-interface', except for routes of type blackhole, unreachable and prohibit, which \
         must not have one.";
    ROUTES_OVERLAP = "LM0606", "overlapping routes",
        "Two routes have the same destination, table and metric but different next hops, so it is undefined which \
         one is used. Give them different metrics or, to balance the traffic, a weight each. Without a metric, \
         NetworkManager assigns one per device; such routes overlap only on the same interface.";
    WAY_OUT_CLOSED = "LM0607", "route through an interface that is removed or disabled",
        "The document removes the interface of the route, sets it down, or disables the address family of the route \
         on it.";
    NO_DESTINATION = "LM0608", "route without a destination",
        "Only a route with 'state: absent' may omit the destination; it then matches every destination.";
    RULE_PRIORITY = "LM0701", "priority of a route rule out of range",
        "Priorities are between 0 and 4294967295. The kernel evaluates the rules in the order of their priority, \
         lowest first.";
    RULE_FAMILY = "LM0702", "mixed address families in a route rule",
        "A rule is either for IPv4 or for IPv6. 'family', 'ip-from' and 'ip-to' must match. Write one rule for each \
         family.";
    RULE_NETWORK = "LM0703", "invalid network in a route rule",
        "'ip-from' and 'ip-to' are networks such as 192.0.2.0/24, or single addresses.";
    RULE_WITHOUT_FAMILY = "LM0704", "route rule without an address family",
        "A rule without 'ip-from' and 'ip-to' needs 'family: ipv4' or 'family: ipv6'.";
    BAD_DNS_SERVER = "LM0801", "DNS server is not an IP address",
        "DNS servers are specified by IP address. A link-local address needs its interface: fe80::1%eth0.";
    BAD_HOSTNAME = "LM0802", "invalid host name",
        "On Linux, a host name has at most 64 bytes. The parts between the dots consist of letters, digits and '-' \
         (not at the beginning or end) and have at most 63 bytes.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        paths
            .flat_map(|path| match path.is_dir() {
                true => files(&path, ending),
                false if path.to_string_lossy().ends_with(ending) => vec![path],
                false => Vec::new(),
            })
            .collect()
    }

    /// Every `LMnnnn` in the files below `dir`.
    fn mentioned(dir: &str, ending: &str) -> BTreeSet<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
        let texts = files(&root, ending).into_iter().filter_map(|path| std::fs::read_to_string(path).ok());
        texts.flat_map(|text| codes_in(&text)).collect()
    }

    fn codes_in(text: &str) -> Vec<String> {
        let starts = text.match_indices("LM").filter_map(|(at, _)| text.get(at..at + 6));
        starts.filter(|word| word[2..].bytes().all(|byte| byte.is_ascii_digit())).map(str::to_owned).collect()
    }

    fn table() -> BTreeSet<String> {
        all().map(|entry| entry.code.to_owned()).collect()
    }

    #[test]
    fn codes_are_unique_and_explained() {
        assert_eq!(table().len(), all().count());
        for entry in all() {
            assert_eq!(explain(entry.code), Some(entry));
            assert!(entry.text.len() > 40 && !entry.title.ends_with('.'), "{}", entry.code);
        }
    }

    #[test]
    fn codes_are_found_as_people_write_them() {
        for written in ["LM0401", "lm0401", "LM401", "401", "0401"] {
            assert_eq!(explain(written).map(|entry| entry.code), Some(PORT_TWICE), "{written}");
        }
        for written in ["", "LM", "lm04011", "lm04o1", "PORT_TWICE", "lmé401"] {
            assert_eq!(explain(written), None, "{written}");
        }
    }

    #[test]
    fn unknown_codes_have_neighbours() {
        let codes = |written| near(written).iter().map(|entry| entry.code).collect::<Vec<_>>();
        assert_eq!(codes("lm0411"), [NOT_A_STATE, PORT_TWICE]);
        assert!(codes("vlan").contains(&BAD_VLAN_ID));
        assert!(codes("xy").is_empty() && codes("lm9999").is_empty());
    }

    #[test]
    fn every_code_that_is_used_exists() {
        let made_up = ["LM0000".to_owned()];
        let unknown: Vec<_> = mentioned("src", ".rs").difference(&table()).cloned().collect();
        assert_eq!(unknown, made_up, "only the tests' own code is not in the table");
    }

    #[test]
    fn every_code_has_a_golden_case() {
        let cases = ["cases", "../fleet/cases", "../tools/cases"];
        let shown: BTreeSet<String> = cases.iter().flat_map(|dir| mentioned(dir, ".txt")).collect();
        assert_eq!(table().difference(&shown).cloned().collect::<Vec<_>>(), Vec::<String>::new());
    }
}
