//! What a declared state would change on a host, and how much that disturbs the host.

mod address;
mod applicable;
mod bond_mac;
mod change;
pub mod codes;
mod defaults;
mod dns;
mod follow;
mod found_by_mac;
mod function_ports;
mod functions;
mod mtu;
mod outdated;
mod persist;
mod refusal;
pub mod render;
mod slow;
mod uplink;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compare::{self, View};
use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::impact::{Impact, ImpactAssessor};
use crate::interface_kind::InterfaceKind;
use crate::interface_name::InterfaceName;
use crate::path::{Path, PathStep};
use crate::probe::DEFAULT_PATIENCE;
use crate::reach::OwnPath;
use crate::secrets::serialize_masked;
pub use address::{learnt_and_unwanted, left_behind, takes};
pub use applicable::{applicable, declare_ports_of_leaving, detach_ports, lost_functions};
pub use defaults::with_defaults;
pub use outdated::{Outdated, outdated};
pub use refusal::Asked;
pub use slow::{Slow, SlowCause, partner_within};
pub use uplink::Uplink;

/// Everything a declared state would change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub changes: Vec<Change>,
    pub impact: Impact,
    /// Why the impact is what it is, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Interfaces whose profile or device may change; ports and controllers that move included.
    pub touched: BTreeSet<InterfaceName>,
    pub created: BTreeSet<InterfaceName>,
    pub removed: BTreeSet<InterfaceName>,
    /// The touched interfaces that carry the path by which this host is reached.
    pub own_path: BTreeSet<InterfaceName>,
    /// What the change makes slow on that path; and bonds that have to agree with a partner, on others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<Slow>,
    /// The uplinks of the Open vSwitch bridges that it touches, with the OpenFlow port numbers that they keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uplinks: Vec<Uplink>,
    /// What will probably go wrong, though nothing forbids it; each with its code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Probes that could not say whether the change does harm, where somebody asked them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_protected: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub kind: ChangeKind,
    pub subject: Subject,
    pub details: Vec<Detail>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    Add,
    Modify,
    Remove,
    /// Nothing changes now, but the next boot would not bring this state up again.
    Persist,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    Interface {
        name: InterfaceName,
        #[serde(rename = "type")]
        kind: InterfaceKind,
    },
    Route {
        destination: String,
    },
    RouteRule {
        selector: String,
    },
    Dns,
    Hostname,
    OvsDb,
}

/// One property that changes: `got` is what it is now (null: missing), `want` what it becomes (null: gone).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Detail {
    pub path: Path,
    pub want: Value,
    pub got: Value,
}

serialize_masked!(Detail);

impl Plan {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// How long probes may take to pass after it where nobody says how long.
    pub fn default_patience(&self) -> Duration {
        DEFAULT_PATIENCE + slow::longer(&self.slow)
    }

    /// The plan for people: `+ ~ -` lines and what they mean for the host.
    pub fn render(&self, colour: bool) -> String {
        render::render(self, colour)
    }
}

/// What applying `desired` would change, or why it cannot be applied to this host. Both states are canonical:
/// `observed` is what NMState retrieves.
pub fn plan(desired: &Value, observed: &Value, facts: &Facts) -> Result<Plan, Vec<Diagnostic>> {
    let view = View::new(desired, observed, observed);
    let refusals = refusal::find(&view, facts);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let mut changes = change::of_interfaces(&view);
    address::withdraw(&view, facts, &mut changes);
    follow::ports(&view, &mut changes);
    follow::orphans(&view, &mut changes);
    changes.extend(change::of_host(compare::of_host(&view)));
    persist::demand(&view, facts, &mut changes);
    let plan = summarise(&view, facts, changes);
    let unrestorable = refusal::ifcfg_profiles(&plan, facts);
    if unrestorable.is_empty() { Ok(plan) } else { Err(unrestorable) }
}

/// `desired` with what it implies on this host and nobody writes down.
pub fn with_implied(desired: &Value, observed: &Value, facts: &Facts) -> Value {
    let mut document = mtu::with_followers(desired, observed, facts);
    bond_mac::fill(&mut document, observed);
    found_by_mac::name_devices(&mut document, observed);
    function_ports::declare(&mut document, observed);
    document
}

/// Whether `desired` makes virtual functions of a NIC and configures them as well.
pub fn makes_and_uses_functions(desired: &Value, observed: &Value) -> bool {
    functions::are_made_and_used(&View::new(desired, observed, observed))
}

/// The types of interfaces that `desired` would make on this host; whether the kernel knows them is a fact that
/// somebody must ask for before the plan is made.
pub fn types_to_make(desired: &Value, observed: &Value) -> BTreeSet<InterfaceKind> {
    refusal::made(&View::new(desired, observed, observed))
}

/// The datapaths of Open vSwitch that `desired` would use for the first time; whether the host has them must be asked.
pub fn datapaths_to_make(desired: &Value, observed: &Value) -> BTreeSet<String> {
    refusal::datapaths(&View::new(desired, observed, observed))
}

/// Whether `desired` needs wpa_supplicant.
pub fn needs_supplicant(desired: &Value, observed: &Value) -> bool {
    refusal::needs_supplicant(&View::new(desired, observed, observed))
}

/// What `desired` asks of the hardware and the files of this host.
pub fn asked_of_host(desired: &Value, observed: &Value) -> Asked {
    refusal::asked(&View::new(desired, observed, observed))
}

fn summarise(view: &View<'_>, facts: &Facts, changes: Vec<Change>) -> Plan {
    let own_path = OwnPath::of(view.observed, facts.protect);
    let touched = follow::touched(view, &changes);
    let assessor = ImpactAssessor { view, own_path: &own_path, protect: facts.protect };
    let assessment = assessor.assess(&changes, touched.iter().map(InterfaceName::as_str));
    let (uplinks, renumbered) = uplink::find(view, facts, &touched);
    let unreachable = dns::unreachable(view.desired, view.observed, &changes);
    let mut plan = Plan {
        impact: assessment.impact,
        reason: assessment.reason,
        own_path: touched.iter().filter(|device| own_path.contains(device)).cloned().collect(),
        created: follow::created(view, &changes),
        removed: named(&changes, ChangeKind::Remove),
        touched,
        slow: Vec::new(),
        uplinks,
        warnings: unreachable.into_iter().chain(renumbered).collect(),
        not_protected: Vec::new(),
        changes,
    };
    plan.slow = slow::find(view, &plan);
    plan
}

fn named(changes: &[Change], kind: ChangeKind) -> BTreeSet<InterfaceName> {
    changes
        .iter()
        .filter(|change| change.kind == kind)
        .filter_map(Change::interface)
        .map(InterfaceName::from)
        .collect()
}

impl Change {
    pub(crate) fn interface(&self) -> Option<&str> {
        match &self.subject {
            Subject::Interface { name, .. } => Some(name),
            _ => None,
        }
    }

    /// It stays, and is no port of that bridge or bond any more.
    pub(crate) fn leaves_controller(&self) -> bool {
        let leaves = |detail: &Detail| {
            matches!(detail.path.last(), Some(PathStep::Key(key)) if key == "controller")
                && detail.got.as_str().is_some_and(|former| !former.is_empty())
        };
        self.kind == ChangeKind::Modify && self.details.iter().any(leaves)
    }
}
