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

pub mod endings;
pub mod examples;

/// Every entry there is: what is wrong with a document, why a host refuses it, how a change ended badly.
pub fn all() -> impl Iterator<Item = &'static Explanation> {
    TABLE.iter().chain(crate::plan::codes::CODES).chain(endings::TABLE)
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
    NOT_YAML = "LM0001", "not valid YAML",
        "The text is neither YAML nor JSON, so nothing in it can be trusted. The place shown is where the reader \
         gave up; the mistake is there or on the line above. Most often it is an indentation that does not match, a \
         missing space after a colon, or a value with ': ' or a special character at its start that needs quotes.";
    TOO_LARGE = "LM0002", "document too large",
        "Documents above 4 MiB are refused before they are read. A state of that size cannot be applied in \
         reasonable time either. Split it, and apply the parts that build on each other in order.";
    EMPTY = "LM0003", "document empty",
        "The file holds nothing, or only comments. An empty document is refused rather than taken for 'change \
         nothing', because it usually comes from a template that went wrong.";
    SEVERAL_DOCUMENTS = "LM0004", "several documents in one file",
        "A file may hold one document. Which of several was meant cannot be guessed, and applying them one by one \
         would not be one transaction. Keep one per file, or merge them into one state.";
    DUPLICATE_KEY = "LM0005", "key given twice",
        "YAML forbids the same key twice in one mapping; tools differ in which of the two they drop. Keep one.";
    TOO_DEEP = "LM0006", "nested too deeply",
        "The document has more levels than any network state. Check the indentation and the brackets.";
    ALIASES = "LM0007", "too many values, or aliases that unfold without end",
        "The number of values is bounded after aliases (*name) are followed, so that a small text cannot grow to \
         fill the memory. An alias inside its own anchor has no end at all. Write out what is repeated, or split the \
         document.";
    TAB = "LM0008", "tab used for indentation",
        "YAML allows only spaces for indentation. Replace the tab; most editors can do so for a whole file.";
    NOT_A_KEY = "LM0009", "key is not plain text",
        "Keys in a network state are plain words. A list, a mapping or an alias as a key is usually a missing pair \
         of quotes.";
    UNSUPPORTED_VALUE = "LM0010", "value or tag without a meaning here",
        "Infinity, not-a-number and YAML tags other than the basic ones (!!str, !!int, !!float, !!bool, !!null) do \
         not occur in a network state. Quote the value if it is meant as text, and leave the tag out.";
    NOT_A_STATE = "LM0011", "not a mapping",
        "A network state is a mapping: 'interfaces', 'routes', 'dns-resolver' and so on, each with its content. A \
         bare list of interfaces needs the key 'interfaces:' above it.";
    WRONG_KIND = "LM0012", "Kubernetes object of another kind",
        "Of Kubernetes manifests only NodeNetworkConfigurationPolicy holds a desired state. To use the state that a \
         NodeNetworkState reports, copy its 'currentState' into a file of its own.";
    NO_STATE = "LM0013", "policy without a desired state",
        "A policy says what should be in 'desired' (NMPolicy, also spelt 'desiredState') or in 'spec.desiredState' \
         (NodeNetworkConfigurationPolicy). It is missing, empty, or given twice.";
    NOT_IMPORTABLE = "LM0014", "not something that can be imported",
        "`linesman import` reads NetworkManager's profiles (the .nmconnection files under \
         /etc/NetworkManager/system-connections) and netplan's YAML. The content tells which one it is; all files of \
         one import must be of the same format.";
    NOT_A_PROFILE = "LM0015", "not a NetworkManager profile",
        "A profile has sections in brackets with 'key=value' lines below them, and its section [connection] says the \
         type. A file that is cut off or was edited by hand often lacks one of them.";
    NOT_NETPLAN = "LM0016", "not a netplan file",
        "A netplan file has one key at the top, 'network', with 'version: 2' and the devices by kind below it: \
         ethernets, bonds, bridges, vlans, vrfs, tunnels and so on.";
    BAD_SETTING = "LM0017", "setting that cannot be read",
        "The value of a profile's or netplan file's setting does not make sense: not an address, not a number, not a \
         list. The tool it was written for would refuse it, too; correct it there, then import again.";
    WRONG_OPTION = "LM0018", "option of a policy that is wrong or unknown",
        "Beside its desired state a policy may say priority (a whole number), onDelete (Retain or Revert), drift \
         (Ignore, Report or Correct), probes (a list, spelt as for 'linesman apply --probe', or with 'probe' and 'timeout' as keys) and patience (seconds), and \
         what only a cluster heeds: nodeSelector, maxUnavailable and the like. A misspelt option would silently not be \
         heeded, so it is refused.";
    CONTRADICTION = "LM0019", "policies that contradict each other",
        "Two policies for one host want different things at the same place. None of them wins by being newer or by \
         its priority: the one that stands stays, the new one is refused, and of two new ones neither is taken. Lists of \
         addresses, ports and servers are complete in NMState, so two lists that differ contradict each other, too; \
         routes and rules add up. Say it in one policy only, or make both agree.";
    NEEDS_CLUSTER = "LM0020", "probe that only a cluster can answer",
        "The probes apiServer and nodeReady ask the cluster that the host belongs to. Only an agent that runs in a \
         cluster can do that; at a shell and with `agent --standalone` nobody could tell whether they pass, so they are \
         refused before anything is touched. Take them out, or probe the API server's address with tcp:HOST:PORT.";
    CLEAR_SECRET = "LM0021", "secret in clear in a cluster's policy",
        "Everybody who may read policies, enactments or a backup of the cluster could read the secret, so no node is told \
         of such a policy. Put the secret into a Secret in the agents' namespace (by default nmstate) and point to \
         it: each agent reads it there when it applies the policy, and writes it nowhere but into the host's own \
         profile. Names of files, such as that of a private key, are no secrets. In files on a host (`linesman apply`, \
         `agent --standalone`) secrets may stand in clear.";
    SECRET_NEEDS_CLUSTER = "LM0022", "reference to a Secret where there is no cluster",
        "secretKeyRef points into a cluster. At a shell and with `agent --standalone` nobody could look it up. Write the \
         secret itself there, in a file that only root can read.";
    UNKNOWN_KEY = "LM0101", "unknown key at the top",
        "The top of a state has only a few keys: interfaces, routes, route-rules, dns-resolver, hostname, ovs-db, \
         ovn and description. Anything else would be ignored, so it is refused.";
    UNKNOWN_FIELD = "LM0102", "unknown field",
        "NMState has no such field here. It would be ignored or refused later; the hint names the nearest known field \
         or lists those there are.";
    WRONG_TYPE = "LM0103", "value of the wrong type",
        "The value is not of the type that is needed here: text where a number belongs, a mapping where a list \
         belongs, a word that is not one of those allowed, or a number out of range. Plain numbers and true/false are \
         not text in YAML; quote them where text is needed, for example a name.";
    MISSING_FIELD = "LM0104", "field missing",
        "What is written here is not complete without the field that the message names.";
    UNNAMED = "LM0201", "interface without a name",
        "Every interface is known by its name, also one that is matched by its MAC or PCI address: there the name is \
         that of the profile.";
    BAD_NAME = "LM0202", "interface name not allowed",
        "The kernel does not allow interface names that are empty, '.' or '..', or that contain '/', ':', spaces or \
         control characters; '%' would be taken for a pattern.";
    LONG_NAME = "LM0203", "interface name too long",
        "Linux keeps interface names in 16 bytes, the last of which is a zero: 15 bytes remain. Choose a shorter one; \
         'alt-names' can hold the long one besides. OVS bridges and patch ports are not seen by the kernel and may \
         have longer names.";
    INTERFACE_TWICE = "LM0204", "interface given twice",
        "Two entries with the same name contradict each other sooner or later, so they have to be one. An \
         ovs-bridge and the ovs-interface of the same name are two things and may both be there.";
    UNKNOWN_TYPE = "LM0205", "unknown interface type",
        "NMState does not know this type of interface. Leave 'type' out to take an existing interface as it is.";
    RESERVED = "LM0206", "reserved name",
        "The name belongs to the kernel, to Open vSwitch, to OVN or to the Pod network of this node. Changing such an \
         interface would break it, and its owner would change it back. Choose another name; 'state: ignore' is \
         allowed.";
    BAD_MAC = "LM0207", "not a MAC address",
        "A MAC address is six bytes in hexadecimal with colons between (20 for InfiniBand), not all zero, and not the \
         address of a group (the lowest bit of the first byte).";
    BAD_MTU = "LM0208", "MTU out of range",
        "The MTU is between 68 and 65536, and at least 1280 where IPv6 is enabled: IPv6 requires that of every link, \
         and the kernel switches IPv6 off below.";
    IDENTIFIER = "LM0209", "identifier without its address",
        "An interface that is matched by MAC or PCI address has to say which one.";
    NO_PREFIX = "LM0301", "address without prefix length",
        "An address needs the length of its network's prefix, so that the host knows what is directly reachable: 24 \
         for 255.255.255.0.";
    BAD_ADDRESS = "LM0302", "not an IP address",
        "Addresses are written as 'ip: 192.0.2.1' and 'prefix-length: 24', each on its own. Four decimal numbers for \
         IPv4, without leading zeros; hexadecimal groups with colons for IPv6.";
    BAD_PREFIX = "LM0303", "prefix length out of range",
        "The prefix length is 0 to 32 for IPv4 and 0 to 128 for IPv6.";
    WRONG_FAMILY = "LM0304", "address of the other family",
        "IPv4 addresses belong below 'ipv4', IPv6 addresses below 'ipv6'.";
    ADDRESS_TWICE = "LM0305", "same address on two interfaces",
        "The same address on two interfaces of one host makes it answer on one of them by chance. Interfaces in \
         different VRFs may repeat addresses.";
    PORT_TWICE = "LM0401", "port listed twice",
        "The same port is named twice by one controller, perhaps with different settings. Keep one.";
    PORT_SHARED = "LM0402", "port of two controllers",
        "An interface can be a port of one bridge, bond or VRF only. Decide for one; to connect two bridges use a \
         veth pair or an OVS patch.";
    OWN_PORT = "LM0403", "interface built on itself",
        "A bridge or bond cannot be its own port, and a VLAN not its own base. An ovs-bridge may list a port of its \
         own name: that is its internal interface.";
    CYCLE = "LM0404", "interfaces built on each other in a circle",
        "Controllers are built on their ports, VLANs and the like on their base. Following that must come to an end.";
    PORT_WITH_IP = "LM0405", "port with IP enabled",
        "What arrives at a port belongs to its controller, so addresses have to be on the controller (for an \
         ovs-bridge: on an ovs-interface that is one of its ports). Ports of a VRF keep their addresses.";
    PORT_ABSENT = "LM0406", "port removed by the same document",
        "The document removes an interface and names it as a port at once.";
    CONTROLLER = "LM0407", "port and controller contradict each other",
        "What a port says in 'controller' and what the controller lists as its ports do not agree. A list of ports is \
         complete once it is given.";
    BAD_VLAN_ID = "LM0501", "VLAN id missing or out of range",
        "A VLAN has an id from 1 to 4094. 0 marks frames that carry only a priority; 4095 is reserved.";
    NO_BASE = "LM0502", "base interface missing",
        "A VLAN, MAC-VLAN, MAC-VTAP or MACsec interface is built on another one; 'base-iface' names it.";
    BASE_ABSENT = "LM0503", "base interface removed by the same document",
        "The document removes the interface that another one is built on. The kernel would remove both.";
    BAD_VXLAN_ID = "LM0504", "VXLAN id missing or out of range",
        "A VXLAN network has an id from 0 to 16777215 (24 bits).";
    VETH_PEER = "LM0505", "veth without a peer",
        "A veth is a pair. Name the other end in 'veth.peer'; it is created as well.";
    MAC_VLAN_MODE = "LM0506", "MAC-VLAN without a mode",
        "A MAC-VLAN or MAC-VTAP needs 'mode': bridge lets those on the same base talk to each other, vepa sends their \
         traffic to the switch, private keeps them apart, passthru gives the base to one of them.";
    VRF_TABLE = "LM0507", "VRF without a routing table",
        "A VRF is a routing table with interfaces. Give its number in 'vrf.route-table-id', one that nothing else \
         uses, so that the document also works on a host where the VRF does not exist yet.";
    BAD_BRIDGE_VLAN = "LM0508", "VLAN filter of a bridge port out of range",
        "Tags and ranges of tags on bridge ports are 1 to 4094, the lower end of a range first.";
    BAD_DESTINATION = "LM0601", "not a destination",
        "The destination of a route is a network: an address, a slash and a prefix length. The default routes are \
         0.0.0.0/0 and ::/0.";
    HOST_BITS = "LM0602", "destination with host bits",
        "10.0.0.5/24 could mean the network 10.0.0.0/24 or the host 10.0.0.5/32. Write the one that is meant.";
    BAD_NEXT_HOP = "LM0603", "next hop is not an address",
        "The next hop is the plain address of a router, without a prefix length.";
    NEXT_HOP_FAMILY = "LM0604", "next hop of the other family",
        "A route to an IPv4 network needs an IPv4 next hop, and likewise for IPv6.";
    NO_WAY_OUT = "LM0605", "route without an interface, or with one too many",
        "A route names the interface that packets leave by. Routes of type blackhole, unreachable and prohibit lead \
         nowhere and name none.";
    ROUTES_OVERLAP = "LM0606", "overlapping routes",
        "Two routes to the same destination in the same table with the same metric but different next hops: which one \
         is taken is chance. Give them different metrics; or, to share traffic between them, a weight each. Routes \
         without a metric get one per device from NetworkManager, so they overlap only on the same interface.";
    WAY_OUT_CLOSED = "LM0607", "route via an interface that is taken away",
        "The document removes or sets down the interface that the route goes by, or disables the route's family on \
         it.";
    NO_DESTINATION = "LM0608", "route without a destination",
        "Only a route that is to be removed ('state: absent') may leave out its destination, as a wildcard.";
    RULE_PRIORITY = "LM0701", "priority of a route rule out of range",
        "Priorities are 0 to 4294967295; the kernel asks rules in the order of their numbers.";
    RULE_FAMILY = "LM0702", "families of a route rule do not agree",
        "A rule is for IPv4 or for IPv6; 'family', 'ip-from' and 'ip-to' have to agree. Write one rule for each.";
    RULE_NETWORK = "LM0703", "route rule with something that is not a network",
        "'ip-from' and 'ip-to' are networks such as 192.0.2.0/24, or single addresses.";
    RULE_WITHOUT_FAMILY = "LM0704", "route rule without a family",
        "A rule without 'ip-from' and 'ip-to' needs 'family: ipv4' or 'family: ipv6'.";
    BAD_DNS_SERVER = "LM0801", "DNS server is not an address",
        "Name servers are given by IP address, since their names could not be looked up without them. A link-local \
         one carries its interface: fe80::1%eth0.";
    BAD_HOSTNAME = "LM0802", "not a host name",
        "A host name has at most 64 bytes on Linux; its parts, between dots, are letters, digits and '-' (not at \
         either end), at most 63 bytes each.";
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
        let shown = mentioned("cases", ".txt");
        assert_eq!(table().difference(&shown).cloned().collect::<Vec<_>>(), Vec::<String>::new());
    }
}
