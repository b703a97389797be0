//! Types of interfaces that a document needs and the kernel cannot make.

use std::collections::BTreeSet;

use linesman_core::plan::types_to_make;
use serde_json::Value;

use crate::netlink::Netlink;

/// NMState's types, and what the kernel calls them. Left out is what is made in other ways than over rtnetlink, or is
/// known to the kernel by several names.
const KINDS: [(&str, &str); 13] = [
    ("bond", "bond"),
    ("dummy", "dummy"),
    ("hsr", "hsr"),
    ("ipvlan", "ipvlan"),
    ("linux-bridge", "bridge"),
    ("mac-vlan", "macvlan"),
    ("mac-vtap", "macvtap"),
    ("macsec", "macsec"),
    ("veth", "veth"),
    ("vlan", "vlan"),
    ("vrf", "vrf"),
    ("vxlan", "vxlan"),
    ("xfrm", "xfrm"),
];

/// Where the kernel does not say, nothing is held against the document: it will be seen when it is applied.
pub async fn lacking(desired: &Value, observed: &Value) -> BTreeSet<String> {
    let needed = types_to_make(desired, observed);
    let kinds: Vec<_> = KINDS.iter().filter(|(name, _)| needed.contains(*name)).collect();
    if kinds.is_empty() {
        return BTreeSet::new();
    }
    let Ok(netlink) = Netlink::open() else { return BTreeSet::new() };
    let mut lacking = BTreeSet::new();
    for (name, kind) in kinds {
        match netlink.can_make(kind).await {
            Ok(true) => {}
            Ok(false) => drop(lacking.insert((*name).to_owned())),
            Err(error) => {
                tracing::warn!(%error, kind, "cannot find out whether the kernel supports this kind of interface")
            }
        }
    }
    lacking
}
