//! Route rules: which packets look into which table.

use serde_json::Value;

use super::view::{State, family, number, text};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::path::Path;
use crate::state::prefix;

/// 32 bits; -1 leaves the choice to NetworkManager.
const PRIORITIES: std::ops::RangeInclusive<i128> = -1..=4_294_967_295;

pub(super) fn rules(state: &State<'_>) -> Vec<Diagnostic> {
    let entries = state.entries("route-rules", "config").into_iter().filter(|(_, rule)| rule.is_object());
    let added = entries.filter(|(_, rule)| text(rule.get("state")) != Some("absent"));
    added.flat_map(|(path, rule)| faults(&path, rule)).collect()
}

fn faults(path: &Path, rule: &Value) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> =
        ["ip-from", "ip-to"].iter().filter_map(|key| bad_network(path, rule, key)).collect();
    found.extend(bad_priority(path, rule));
    found.extend(families(path, rule));
    found
}

fn bad_priority(path: &Path, rule: &Value) -> Option<Diagnostic> {
    let priority = number(rule.get("priority")).filter(|priority| !PRIORITIES.contains(priority))?;
    let message = format!("a priority of {priority} is out of range");
    let hint = format!("use 0 to {}; the lowest number is evaluated first", PRIORITIES.end());
    Some(Diagnostic::new(codes::RULE_PRIORITY, message).at(path.key("priority")).hint(hint))
}

fn bad_network(path: &Path, rule: &Value, key: &str) -> Option<Diagnostic> {
    let written = text(rule.get(key)).filter(|written| !written.is_empty())?;
    if prefix(written).is_some() {
        return None;
    }
    let diagnostic = Diagnostic::new(codes::RULE_NETWORK, format!("'{written}' is not a network"));
    Some(diagnostic.at(path.key(key)).hint("write a network like 192.0.2.0/24 or an address"))
}

fn families(path: &Path, rule: &Value) -> Option<Diagnostic> {
    let given = |key: &str| rule.get(key).is_some_and(|value| !value.is_null());
    if !["family", "ip-from", "ip-to"].into_iter().any(given) {
        let diagnostic =
            Diagnostic::new(codes::RULE_WITHOUT_FAMILY, "this rule is for neither IPv4 nor IPv6");
        return Some(diagnostic.at(path.clone()).hint("add 'ip-from', 'ip-to', or 'family: ipv4' (or ipv6)"));
    }
    let declared = match text(rule.get("family")) {
        Some("ipv4") => Some("IPv4"),
        Some("ipv6") => Some("IPv6"),
        _ => None,
    };
    let of = |key: &str| text(rule.get(key)).and_then(prefix).map(|network| family(network.addr()));
    let (from, to) = (of("ip-from"), of("ip-to"));
    let (wrong, is, should) = match (declared, from, to) {
        (Some(declared), Some(from), _) if from != declared => ("ip-from", from, declared),
        (Some(declared), _, Some(to)) if to != declared => ("ip-to", to, declared),
        (None, Some(from), Some(to)) if from != to => ("ip-to", to, from),
        _ => return None,
    };
    let diagnostic =
        Diagnostic::new(codes::RULE_FAMILY, format!("'{wrong}' is {is}, but the rule is for {should}"));
    Some(diagnostic.at(path.key(wrong)).hint("write one rule per family"))
}
