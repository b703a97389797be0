//! Whether a change has come out as declared.

use serde_json::Value;

use crate::compare::{self, Difference, route, rule};
use crate::path::{Path, PathStep};

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
    is_hardware_down(difference) || is_bond_option(&difference.path)
}

/// A NIC cannot be made to vanish, and whether it is down is up to its driver.
fn is_hardware_down(Difference { path, want, .. }: &Difference) -> bool {
    let state = matches!(path.steps(), [PathStep::Key(all), PathStep::Item(_), PathStep::Key(key)] if all == "interfaces" && key == "state");
    state && matches!(want.as_str(), Some("absent" | "down"))
}

/// Drivers round and refuse bond options as they like; NMState has never held that against a change.
fn is_bond_option(path: &Path) -> bool {
    let steps = path.steps().get(2..4);
    matches!(steps, Some([PathStep::Key(bond), PathStep::Key(options)]) if bond == "link-aggregation" && options == "options")
}
