//! The rules for br-ex: `doctor` checks them, and docs/reference/br-ex-requirements.md lists them.

use crate::doctor::{Finding, Level};

#[derive(Debug)]
pub struct Rule {
    /// As `doctor` calls it.
    pub check: &'static str,
    /// Of a finding.
    pub level: Level,
    pub rule: &'static str,
    pub why: &'static str,
    /// Words in capitals are replaced by names in a finding.
    pub remedy: &'static str,
}

pub const BRIDGE: Rule = Rule {
    check: "br-ex bridge",
    level: Level::Problem,
    rule: "br-ex is an Open vSwitch bridge (`ovs-bridge`), and an `ovs-interface` of the same name is one of its ports.",
    why: "OVN-Kubernetes installs its flows on the bridge. The interface carries the addresses of the node.",
    remedy: "remove a br-ex of another type, then run `linesman brex --apply`, or apply a document that declares the \
             ovs-bridge br-ex with its uplink and br-ex as ports, and the ovs-interface br-ex",
};

pub const UPLINK: Rule = Rule {
    check: "br-ex uplink",
    level: Level::Problem,
    rule: "br-ex has an uplink that Open vSwitch can use: a NIC, a bond or a VLAN. Patch ports, internal ports and tunnels \
           are none.",
    why: "Nothing leaves the host without.",
    remedy: "run `linesman brex --apply --interface NIC` with the NIC, bond or VLAN that leads out, or apply a document \
             that declares it as a port of br-ex",
};

pub const LINKS: Rule = Rule {
    check: "br-ex links",
    level: Level::Problem,
    rule: "The interface br-ex and its uplink are set up.",
    why: "A link that is down carries nothing, and NetworkManager does not set it up by itself if somebody else set it down.",
    remedy: "run `linesman recover`, then `nmcli connection up br-ex-if`, or reboot",
};

pub const ONE_UPLINK: Rule = Rule {
    check: "br-ex ports",
    level: Level::Problem,
    rule: "br-ex has no second uplink. Several NICs are ports of a bond, and the bond is the uplink.",
    why: "Frames would go round in a loop, and OVN-Kubernetes sends everything to the OpenFlow port of one uplink.",
    remedy: "remove the port that is not the uplink from the document of br-ex and apply it; one that no document \
             declares goes with `ovs-vsctl del-port br-ex UPLINK`",
};

pub const ADDRESSES: Rule = Rule {
    check: "br-ex addresses",
    level: Level::Problem,
    rule: "The uplink has no IP addresses. They are on br-ex.",
    why: "Open vSwitch receives every frame of the uplink, so the kernel never sees the answers to such an address.",
    remedy: "disable IPv4 and IPv6 of UPLINK in its document; an address that no profile has goes with `ip address \
             del ADDRESS dev UPLINK`",
};

/// The host may be reached by what looks wrong.
pub const MOVED: Rule = Rule {
    check: "br-ex addresses",
    level: Level::Problem,
    rule: "br-ex has the addresses of the host, if it is there and its uplink has any.",
    why: "The bridge was made, but not finished: by an interrupted change, or by hand. The host may still be reached by \
          the uplink, so that its address must not be removed.",
    remedy: "run `linesman recover`; if there is nothing to recover, apply the document of this host, or remove a bridge \
             that nobody uses with `ovs-vsctl del-br br-ex`",
};

pub const MAC_ADDRESS: Rule = Rule {
    check: "br-ex mac address",
    level: Level::Warning,
    rule: "br-ex has the MAC address of its uplink.",
    why: "DHCP servers know the host by it, and clouds and virtual switches drop frames from other addresses.",
    remedy: "set 'copy-mac-from: UPLINK' on the ovs-interface br-ex and apply the document",
};

pub const MTU: Rule = Rule {
    check: "br-ex mtu",
    level: Level::Warning,
    rule: "The MTU of br-ex is not larger than that of its uplink.",
    why: "The uplink drops larger packets without notifying the sender.",
    remedy: "set the MTU of br-ex to LIMIT or less, or raise that of UPLINK in the same document",
};

pub const ROUTE: Rule = Rule {
    check: "br-ex route",
    level: Level::Warning,
    rule: "If br-ex has a default route, no other interface has one with the same or a lower metric. Metric 48 is usual.",
    why: "The kubelet and OVN-Kubernetes take the interface of the preferred default route for that of the node.",
    remedy: "set 'auto-route-metric: 48' on br-ex (a metric of 48 for a static route), or give the default route of \
             INTERFACE a metric above METRIC",
};

pub const SWITCHING: Rule = Rule {
    check: "br-ex switching",
    level: Level::Warning,
    rule: "The fail mode of br-ex is not `secure`, and STP and RSTP are off.",
    why: "In fail mode secure, the host is offline until OVN has installed flows. With STP, it is offline for 30 seconds \
          each time the uplink comes up.",
    remedy: "set 'fail-mode: standalone', 'stp: {enabled: false}' and 'rstp: false' in 'bridge: {options: …}' of br-ex \
             and apply the document",
};

pub const PROFILES: Rule = Rule {
    check: "br-ex profiles",
    level: Level::Warning,
    rule: "No second profile is activated automatically on the uplink, and none of configure-ovs is left beside those of \
           a document.",
    why: "At the next boot NetworkManager may activate the other profile, and br-ex has no uplink then. Such profiles are \
          left by installers, by configure-ovs (`ovs-if-phys0`), and by the initramfs (in /run, for `ip=` on the kernel \
          command line).",
    remedy: "nmcli connection delete uuid UUID",
};

/// Its findings are those of the check of all profiles.
pub const PERSISTENT: Rule = Rule {
    check: "profiles in memory",
    level: Level::Warning,
    rule: "The profiles of br-ex and its uplink are on disk, in /etc/NetworkManager/system-connections.",
    why: "Profiles in memory are lost on reboot. Those of configure-ovs are made anew at each boot.",
    remedy: "apply a document with br-ex",
};

pub const OWNER: Rule = Rule {
    check: "br-ex owner",
    level: Level::Warning,
    rule: "The file /etc/nmstate/openshift/applied is there if, and only if, the document of this host is in use.",
    why: "It keeps configure-ovs from making br-ex anew at boot. Without it, both do; if it is left behind, neither does.",
    remedy: "run `linesman firstboot`, which writes or removes the file",
};

pub const DOCUMENT: Rule = Rule {
    check: "br-ex document",
    level: Level::Problem,
    rule: "The document of this host in /etc/nmstate/openshift can be selected, and was applied.",
    why: "Otherwise the host keeps the network that it had before, without br-ex.",
    remedy: "correct the documents, then run `linesman firstboot` or reboot; `linesman firstboot --dry-run` says what it \
             would do",
};

pub const CHANGED_DOCUMENT: Rule = Rule {
    check: "br-ex document",
    level: Level::Warning,
    rule: "The document has not changed since it was applied.",
    why: "A changed document is only compared with the host. Later changes are made by policies.",
    remedy: "apply the change with a policy; without policies, run `linesman firstboot --on-change live`",
};

pub const RULES: [&Rule; 15] = [
    &BRIDGE,
    &UPLINK,
    &LINKS,
    &ONE_UPLINK,
    &ADDRESSES,
    &MOVED,
    &MAC_ADDRESS,
    &MTU,
    &ROUTE,
    &SWITCHING,
    &PROFILES,
    &PERSISTENT,
    &OWNER,
    &DOCUMENT,
    &CHANGED_DOCUMENT,
];

impl Rule {
    /// A finding whose remedy names what it is about.
    pub(super) fn broken(&self, message: impl Into<String>, names: &[(&str, &str)]) -> Finding {
        let fill = |text: String, (word, name): &(&str, &str)| text.replace(word, name);
        let remedy = names.iter().fold(self.remedy.to_owned(), fill);
        Finding { check: self.check, level: self.level, message: message.into(), remedy: Some(remedy) }
    }
}
