//! Promiscuous mode: NetworkManager sets it when it activates a profile, and does not see who ends it later.

use linesman_core::compare::Difference;
use linesman_core::path::PathStep;

use crate::netlink::Netlink;

/// Interfaces that are declared otherwise than they are, and as what. Pure.
fn wanted(differences: &[Difference]) -> Vec<(&str, bool)> {
    differences
        .iter()
        .filter_map(|difference| match difference.path.steps() {
            [_, PathStep::Item(interface), PathStep::Key(key)] if key == "accept-all-mac-addresses" => {
                Some((interface.as_str(), difference.want.as_bool()?))
            }
            _ => None,
        })
        .collect()
}

/// What cannot be set shows in the verification.
pub async fn set(differences: &[Difference]) {
    let wanted = wanted(differences);
    if wanted.is_empty() {
        return;
    }
    let Ok(netlink) = Netlink::open() else { return };
    for (interface, on) in wanted {
        if let Err(error) = netlink.set_promiscuous(interface, on).await {
            tracing::warn!(interface, %error, "cannot set or end promiscuous mode");
        }
    }
}

#[cfg(test)]
mod tests {
    use linesman_core::path::Path;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_what_is_declared_otherwise() {
        let difference = |interface: &str, key: &str, want: Value| Difference {
            path: Path::interface(interface).key(key),
            want,
            got: json!(false),
        };
        let differences = [
            difference("d1", "accept-all-mac-addresses", json!(true)),
            difference("d2", "mtu", json!(1400)),
            difference("d3", "accept-all-mac-addresses", Value::Null),
        ];
        assert_eq!(wanted(&differences), [("d1", true)]);
    }
}
