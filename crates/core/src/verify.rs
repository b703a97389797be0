//! Whether a change has come out as declared.

use serde_json::Value;

use crate::compare::{self, Difference};
use crate::path::{Path, Step};

/// What does not hold `after` a change. The state `before` it tells what a partial document leaves alone.
pub fn verify(desired: &Value, before: &Value, after: &Value) -> Vec<Difference> {
    let mut differences = compare::against(desired, before, after);
    differences.retain(|difference| !is_excused(difference));
    differences
}

fn is_excused(difference: &Difference) -> bool {
    is_hardware_down(difference) || is_bond_option(&difference.path)
}

/// A NIC cannot be made to vanish, and whether it is down is up to its driver.
fn is_hardware_down(Difference { path, want, .. }: &Difference) -> bool {
    let state = matches!(path.steps(), [Step::Key(all), Step::Item(_), Step::Key(key)] if all == "interfaces" && key == "state");
    state && matches!(want.as_str(), Some("absent" | "down"))
}

/// Drivers round and refuse bond options as they like; NMState has never held that against a change.
fn is_bond_option(path: &Path) -> bool {
    let steps = path.steps().get(2..4);
    matches!(steps, Some([Step::Key(bond), Step::Key(options)]) if bond == "link-aggregation" && options == "options")
}
