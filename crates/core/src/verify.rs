//! Whether a change has come out as declared.

use ipnet::IpNet;
use serde_json::Value;

use crate::compare::{self, Declared, Difference, View, route, rule};
use crate::foreign_port;
use crate::interface_kind::InterfaceKind;
use crate::path::{Path, PathStep};
use crate::state::{self, is_up, kind, name};

/// What does not hold `after` a change. The state `before` it shows what a partial document leaves alone.
pub fn verify(desired: &Value, before: &Value, after: &Value) -> Vec<Difference> {
    let mut differences = compare::against(desired, before, after);
    differences.retain(|difference| !is_excused(difference));
    differences.into_iter().flat_map(|difference| pinpoint(difference, after)).collect()
}

/// A route or rule that is missing but for some property: say which.
fn pinpoint(difference: Difference, after: &Value) -> Vec<Difference> {
    let Difference { path, want, got: Value::Null } = &difference else {
        return vec![difference];
    };
    let nearest = match path.steps().first() {
        Some(PathStep::Key(section)) if section == "routes" => route::nearest(want, after),
        Some(PathStep::Key(section)) if section == "route-rules" => rule::nearest(want, after),
        _ => None,
    };
    let Some((nearest, unlike)) = nearest.filter(|(_, unlike)| !unlike.is_empty()) else {
        return vec![difference];
    };
    let value = |entry: &Value, key: &str| entry.get(key).cloned().unwrap_or(Value::Null);
    let point = |key| Difference { path: path.key(key), want: value(want, key), got: value(nearest, key) };
    unlike.into_iter().map(point).collect()
}

fn is_excused(difference: &Difference) -> bool {
    is_hardware_down(difference) || is_unseen_bond_option(difference)
}

/// A NIC cannot be made to vanish, and whether it is down is up to its driver.
fn is_hardware_down(Difference { path, want, .. }: &Difference) -> bool {
    let state = matches!(path.steps(), [PathStep::Key(all), PathStep::Item(_), PathStep::Key(key)] if all == "interfaces" && key == "state");
    state && matches!(want.as_str(), Some("absent" | "down"))
}

/// Not every kernel has every option of a bond, nor shows it in every mode; NMState has never held that against a change.
fn is_unseen_bond_option(Difference { path, got, .. }: &Difference) -> bool {
    let steps = path.steps().get(2..4);
    let option = matches!(steps, Some([PathStep::Key(bond), PathStep::Key(options)]) if bond == "link-aggregation" && options == "options");
    option && got.is_null()
}

/// An interface that must be up: declared, or listed as a port of one that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredUp {
    pub path: Path,
    /// The device's own name.
    pub name: String,
    pub kind: InterfaceKind,
    /// It authenticates itself before anything else happens.
    pub by_supplicant: bool,
    /// Declared static addresses.
    pub addresses: Vec<IpNet>,
}

pub fn declared_up(desired: &Value, observed: &Value) -> Vec<DeclaredUp> {
    let view = View::new(desired, observed, observed);
    let up = || view.declared.iter().filter(|declared| is_up(&declared.want));
    let by_supplicant = |want: &Value| {
        want.get("802.1x").is_some_and(Value::is_object) || kind(want) == InterfaceKind::Macsec
    };
    let mut all: Vec<DeclaredUp> = up()
        .map(|Declared { path, want }| DeclaredUp {
            path: path.clone(),
            name: name(want).to_owned(),
            kind: kind(want),
            by_supplicant: by_supplicant(want),
            addresses: state::addresses(want).collect(),
        })
        .collect();
    for controller in up() {
        for port in state::ports(&controller.want).unwrap_or_default() {
            let port = view.device(port);
            let known = view.now(port, InterfaceKind::Unknown);
            if view.declares(port).is_none() && !known.is_some_and(foreign_port::is_marked) {
                let kind = known.map(kind).unwrap_or_default();
                all.push(DeclaredUp {
                    path: Path::interface(port),
                    name: port.to_owned(),
                    kind,
                    by_supplicant: false,
                    addresses: Vec::new(),
                });
            }
        }
    }
    all
}
