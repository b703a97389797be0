//! The primary port of a bond: NetworkManager sets one, and never takes it away again.

use std::path::Path;

use linesman_core::compare::Difference;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{at, interfaces, kind, name};
use serde_json::Value;

const OPTION: [&str; 3] = ["link-aggregation", "options", "primary"];

/// Bonds that shall have none, and have one. Pure.
pub fn unwanted(differences: &[Difference]) -> Vec<String> {
    let bond = |difference: &Difference| {
        let path = difference.path.to_string();
        let bond = path.strip_prefix("interfaces[")?.strip_suffix(&format!("].{}", OPTION.join(".")))?;
        is_none(Some(&difference.want)).then(|| bond.to_owned())
    };
    differences.iter().filter_map(bond).collect()
}

/// Bonds that had none in `former`, and have one in `now`. Pure.
pub fn left_over(former: &Value, now: &Value) -> Vec<String> {
    let without = |state: &Value, found: bool| -> Vec<String> {
        let bonds = interfaces(state).iter().filter(|interface| kind(interface) == InterfaceKind::Bond);
        bonds.filter(|bond| is_none(at(bond, &OPTION)) != found).map(|bond| name(bond).to_owned()).collect()
    };
    let had_none = without(former, false);
    without(now, true).into_iter().filter(|bond| had_none.contains(bond)).collect()
}

fn is_none(primary: Option<&Value>) -> bool {
    primary.and_then(Value::as_str).is_none_or(|port| port.is_empty() || port == "none")
}

/// What cannot be cleared shows in the verification.
pub fn clear(bonds: &[String]) {
    for bond in bonds {
        let file = Path::new("/sys/class/net").join(bond).join("bonding/primary");
        // An empty line: writing nothing at all reaches no driver.
        match std::fs::write(&file, "\n") {
            Ok(()) => tracing::info!(bond, "has no primary port any more"),
            Err(error) => tracing::warn!(bond, %error, "cannot take its primary port away"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_bonds_that_shall_have_none() {
        let difference = |bond: &str, option: &str, want: Value| Difference {
            path: linesman_core::path::Path::interface(bond).key(OPTION[0]).key(OPTION[1]).key(option),
            want,
            got: json!("eth1"),
        };
        let differences = [
            difference("bond0", "primary", json!("")),
            difference("bond1", "primary", json!("eth2")),
            difference("bond2", "miimon", Value::Null),
        ];
        assert_eq!(unwanted(&differences), ["bond0"]);
    }

    #[test]
    fn only_what_came_since_is_left_over() {
        let host = |first: Value, second: Value| {
            let bond = |name: &str, options: Value| json!({"name": name, "type": "bond", "state": "up", "link-aggregation": {"options": options}});
            json!({"interfaces": [bond("bond0", first), bond("bond1", second)]})
        };
        let (none, some) = (json!({}), json!({"primary": "eth1"}));
        assert_eq!(
            left_over(&host(none.clone(), some.clone()), &host(some.clone(), some.clone())),
            ["bond0"]
        );
        assert!(left_over(&host(none.clone(), some.clone()), &host(none, some)).is_empty());
    }
}
