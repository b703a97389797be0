//! br-ex from the running host: the uplink becomes a port of an Open vSwitch bridge, and what it had of IP moves to an
//! interface of the bridge's name. What comes out is a document like any other.

mod choice;
mod error;
mod existing;
mod layer3;
mod notes;
mod stack;
mod uplink;

use std::fmt;

use linesman_core::facts::Facts;
use linesman_core::state::{kind, text};
use linesman_tools::import;
use serde_json::{Map, Value, json};

pub use choice::{Choice, Reason};
pub use error::BrexError;
use layer3::Layer3;

/// The bridges that OVN-Kubernetes knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bridge {
    #[default]
    BrEx,
    /// A second one, for an egress network of its own.
    BrEx1,
}

impl Bridge {
    pub fn name(self) -> &'static str {
        match self {
            Self::BrEx => "br-ex",
            Self::BrEx1 => "br-ex1",
        }
    }

    /// Below 100, which NetworkManager gives the first NIC; the two differ, so that one of them always wins.
    pub fn metric(self) -> i64 {
        match self {
            Self::BrEx => 48,
            Self::BrEx1 => 49,
        }
    }

    /// Of a default route that had this one. br-ex leaves a lower one as it is, so that no other default route gets
    /// preferred to it; br-ex1 never goes below br-ex.
    fn metric_instead_of(self, metric: i64) -> i64 {
        match self {
            Self::BrEx => self.metric().min(metric),
            Self::BrEx1 => self.metric(),
        }
    }

    fn other(self) -> Self {
        match self {
            Self::BrEx => Self::BrEx1,
            Self::BrEx1 => Self::BrEx,
        }
    }
}

impl fmt::Display for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    pub bridge: Bridge,
    /// The uplink that somebody named.
    pub interface: Option<String>,
    /// The uplink of an earlier run on this host.
    pub earlier: Option<String>,
    /// The kernel has no datapath of Open vSwitch.
    pub userspace_datapath: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Derived {
    /// The bridge has its uplink and its interface.
    Already {
        uplink: String,
    },
    Document(BrexDocument),
}

#[derive(Debug, Clone, PartialEq)]
pub struct BrexDocument {
    pub state: Value,
    pub bridge: Bridge,
    pub choice: Choice,
    /// What the document does not say by itself.
    pub notes: Vec<String>,
}

impl BrexDocument {
    /// The comments that stand above the document.
    pub fn header(&self) -> String {
        let first =
            format!("# {} on {}, derived from the running host.\n", self.bridge, self.choice.interface);
        std::iter::once(first).chain(self.notes.iter().map(|note| format!("# note: {note}\n"))).collect()
    }
}

/// `observed` is all that NMState sees; `facts` say which program manages what.
pub fn derive(observed: &Value, facts: &Facts, options: &Options) -> Result<Derived, BrexError> {
    if let Some(uplink) = existing::uplink(observed, options)? {
        return Ok(Derived::Already { uplink });
    }
    let choice = choice::choose(observed, options)?;
    let device = stack::device(observed, &choice.interface).ok_or_else(|| choice.vanished(observed))?;
    uplink::check(observed, facts, options.bridge, device)?;
    let members = stack::members(observed, device);
    let imported = import::running(observed, facts);
    uplink::check_described(&imported.state, options.bridge, &members)?;
    let layer3 = Layer3::of(&imported.state, facts, &choice.interface, options.bridge);
    let notes = notes::all(observed, &imported.notes, &members, &choice, &layer3, options);
    let mut interfaces = vec![bridge(&choice.interface, options), interface(device, &layer3, options.bridge)];
    interfaces.extend(members.iter().map(|member| stack::entry(&imported.state, member, device)));
    let mut state = Map::new();
    state.insert("interfaces".into(), interfaces.into());
    layer3.of_host(&mut state);
    Ok(Derived::Document(BrexDocument { state: Value::Object(state), bridge: options.bridge, choice, notes }))
}

fn bridge(uplink: &str, options: &Options) -> Value {
    let name = options.bridge.name();
    let mut section = Map::new();
    if options.userspace_datapath {
        section.insert("options".into(), json!({ "datapath": "netdev" }));
    }
    section.insert("port".into(), json!([{ "name": uplink }, { "name": name }]));
    json!({ "name": name, "type": "ovs-bridge", "state": "up", "bridge": section })
}

/// The MAC address is the uplink's: DHCP servers, switches and OVN-Kubernetes know the host by it.
fn interface(uplink: &Value, layer3: &Layer3, bridge: Bridge) -> Value {
    let mut entry = Map::new();
    entry.insert("name".into(), bridge.name().into());
    entry.insert("type".into(), "ovs-interface".into());
    entry.insert("state".into(), "up".into());
    entry.extend(uplink.get("mtu").map(|mtu| ("mtu".to_owned(), mtu.clone())));
    if can_copy_mac(uplink) {
        entry.insert("copy-mac-from".into(), uplink["name"].clone());
    } else {
        entry.extend(text(uplink, "mac-address").map(|mac| ("mac-address".to_owned(), mac.into())));
    }
    layer3.of_interface(&mut entry);
    Value::Object(entry)
}

/// A bond or a VLAN is made by the same document: on a fresh host it has no MAC address to copy yet. Of a NIC, nmstate
/// copies the address that is burnt in, which a profile may have replaced.
fn can_copy_mac(uplink: &Value) -> bool {
    let permanent = text(uplink, "permanent-mac-address").filter(|mac| !mac.is_empty());
    let current = text(uplink, "mac-address").unwrap_or_default();
    kind(uplink).is_nic() && permanent.is_none_or(|permanent| permanent.eq_ignore_ascii_case(current))
}
