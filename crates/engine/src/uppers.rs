//! What the kernel takes away with an interface: whatever is built on it.

use std::collections::BTreeSet;
use std::path::Path;

use linesman_core::state::{interfaces, name};
use serde_json::Value;

/// Whether something is on `interface` that the state does not declare, so that nobody would see whether it came back.
pub fn are_undeclared(interface: &str, desired: &Value) -> bool {
    let declared = |upper: &str| interfaces(desired).iter().any(|i| name(i) == upper);
    match all(interface, of) {
        Some(uppers) => !uppers.iter().all(|upper| declared(upper)),
        None => true,
    }
}

/// Those on `interface`, and those on them. Nothing: they cannot be known.
fn all(interface: &str, of: impl Fn(&str) -> Option<Vec<String>>) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut next = vec![interface.to_owned()];
    while let Some(interface) = next.pop() {
        for upper in of(&interface)? {
            if found.insert(upper.clone()) {
                next.push(upper);
            }
        }
    }
    Some(found)
}

fn of(interface: &str) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(Path::new("/sys/class/net").join(interface)).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Some(names.filter_map(|name| name.strip_prefix("upper_").map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_climbed_to_its_top() {
        let of = |interface: &str| match interface {
            "bond0" => Some(vec!["bond0.10".to_owned(), "bond0.20".to_owned()]),
            "bond0.10" => Some(vec!["br10".to_owned()]),
            "gone" => None,
            _ => Some(vec![]),
        };
        assert_eq!(all("bond0", of), Some(["bond0.10", "bond0.20", "br10"].map(str::to_owned).into()));
        assert_eq!(all("eth1", of), Some(BTreeSet::new()));
        assert_eq!(all("gone", of), None);
    }
}
