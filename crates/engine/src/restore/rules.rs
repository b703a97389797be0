//! Rules that the change had made and that stayed.
//!
//! A rule belongs to no device. NetworkManager takes its own away as long as it knows them; one that
//! was started again takes them for somebody else's.

use std::net::IpAddr;

use linesman_core::compare::differences;
use serde_json::{Value, json};

use crate::netlink::{Netlink, RuleFact};

/// Rules that are there now and must not be.
pub fn surplus(goal: &Value, now: &Value) -> Vec<Value> {
    let rules = json!({ "route-rules": goal["route-rules"] });
    differences(&rules, now).into_iter().filter(|d| d.want.is_null()).map(|d| d.got).collect()
}

pub async fn remove(rules: &[Value]) {
    let Ok(netlink) = Netlink::open() else { return };
    for rule in rules.iter().filter_map(fact) {
        if let Err(e) = netlink.delete_rule(&rule).await {
            tracing::warn!(error = %e, "cannot remove a route rule that the change made");
        }
    }
}

/// An observed rule as the kernel knows it.
fn fact(rule: &Value) -> Option<RuleFact> {
    let number = |key: &str| rule[key].as_u64().and_then(|n| u32::try_from(n).ok());
    Some(RuleFact {
        ipv6: rule["family"] == "ipv6",
        priority: number("priority")?,
        table: number("route-table").unwrap_or(0),
        source: network(&rule["ip-from"]),
        destination: network(&rule["ip-to"]),
    })
}

fn network(written: &Value) -> Option<(IpAddr, u8)> {
    let (ip, prefix) = written.as_str()?.split_once('/')?;
    Some((ip.parse().ok()?, prefix.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_that_must_not_be_are_surplus() {
        let made =
            json!({ "ip-from": "10.20.1.0/24", "route-table": 200, "family": "ipv4", "state": "absent" });
        let goal = json!({ "route-rules": { "config": [made] } });
        let stayed =
            json!({ "ip-from": "10.20.1.0/24", "priority": 1000, "route-table": 200, "family": "ipv4" });
        let theirs =
            json!({ "ip-from": "10.77.0.0/24", "priority": 2000, "route-table": 200, "family": "ipv4" });
        let now = json!({ "interfaces": [], "route-rules": { "config": [stayed, theirs] } });
        assert_eq!(surplus(&goal, &now), std::slice::from_ref(&stayed));
        assert_eq!(fact(&stayed).map(|f| (f.priority, f.table)), Some((1000, 200)));
        assert!(surplus(&json!({}), &now).is_empty());
    }
}
