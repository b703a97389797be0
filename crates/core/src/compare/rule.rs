//! Policy routing rules.

use serde_json::{Map, Value};

use super::findings::Findings;
use super::view::View;
use crate::path::Path;
use crate::state::{self, is_absent, list, text};

/// Compared as they are when a rule mentions them.
const PROPERTIES: [&str; 6] = ["route-table", "fwmark", "fwmask", "iif", "action", "suppress-prefix-length"];

pub(super) fn compare(view: &View<'_>, found: &mut Findings) {
    let all = list(view.desired, &["route-rules", "config"]);
    let wanted: Vec<(usize, Value)> = all
        .iter()
        .enumerate()
        .filter(|(_, rule)| !is_absent(rule))
        .map(|(at, rule)| (at, complete(rule)))
        .collect();
    let got = observed(view);
    let at = Path::root().key("route-rules").key("config");
    for (index, want) in &wanted {
        if !got.iter().any(|got| matches(want, got)) {
            found.missing(at.index(*index), want.clone());
        }
    }
    for (index, absent) in all.iter().enumerate().filter(|(_, rule)| is_absent(rule)) {
        for got in got.iter().filter(|got| matches(absent, got)) {
            if !wanted.iter().any(|(_, want)| matches(want, got)) {
                found.surplus(at.index(index), (*got).clone());
            }
        }
    }
}

fn observed<'v>(view: &'v View<'_>) -> Vec<&'v Value> {
    let ignored = |rule: &&Value| text(rule, "iif").is_some_and(|device| view.is_ignored(device));
    list(view.observed, &["route-rules", "config"]).iter().filter(|rule| !ignored(rule)).collect()
}

/// A rule that neither acts nor names a table looks up the main one; the family follows from its addresses.
fn complete(rule: &Value) -> Value {
    let mut fields: Map<String, Value> = rule.as_object().cloned().unwrap_or_default();
    if !fields.contains_key("action") && !fields.contains_key("route-table") {
        fields.insert("route-table".into(), 254.into());
    }
    let address =
        ["ip-from", "ip-to"].iter().find_map(|key| text(rule, key)).filter(|written| !written.is_empty());
    if let Some(address) = address.filter(|_| !fields.contains_key("family")) {
        fields.insert("family".into(), if address.contains(':') { "ipv6" } else { "ipv4" }.into());
    }
    for key in ["ip-from", "ip-to"] {
        if text(rule, key) == Some("") {
            fields.remove(key);
        }
    }
    Value::Object(fields)
}

/// Whether every property that `pattern` mentions is the same in `rule`.
pub(crate) fn matches(pattern: &Value, rule: &Value) -> bool {
    same_network("ip-from", pattern, rule)
        && same_network("ip-to", pattern, rule)
        && same_family(pattern, rule)
        && same_priority(pattern, rule)
        && PROPERTIES.iter().all(|key| same_property(key, pattern, rule))
}

/// An empty network in a pattern matches only rules without one.
fn same_network(key: &str, pattern: &Value, rule: &Value) -> bool {
    let got = text(rule, key).filter(|written| !written.is_empty());
    match text(pattern, key) {
        None => true,
        Some("") => got.is_none(),
        Some(want) => state::network(want).is_some() && got.and_then(state::network) == state::network(want),
    }
}

fn same_family(pattern: &Value, rule: &Value) -> bool {
    match (text(pattern, "family"), text(rule, "family")) {
        (Some(want), Some(got)) => want == got,
        _ => true,
    }
}

/// A rule without a priority is given a free one when it is set.
fn same_priority(pattern: &Value, rule: &Value) -> bool {
    let priority = |rule: &Value| rule.get("priority").and_then(Value::as_i64);
    match priority(pattern) {
        None | Some(-1) => true,
        Some(want) => priority(rule).unwrap_or(0) == want,
    }
}

fn same_property(key: &str, pattern: &Value, rule: &Value) -> bool {
    let is_mark = key == "fwmark" || key == "fwmask";
    match (pattern.get(key), rule.get(key)) {
        (None | Some(Value::Null), _) => true,
        (Some(table), _) if key == "route-table" && table.as_u64() == Some(0) => true,
        (Some(want), got) if is_mark => mark(want) == got.map_or(Some(0), mark),
        (Some(want), got) => got == Some(want),
    }
}

/// Marks are written as numbers or in hexadecimal.
fn mark(value: &Value) -> Option<u64> {
    let written = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    value.as_u64().or_else(|| value.as_str().and_then(written))
}

/// The observed rule that was most likely meant (same selectors, else same priority) and where it is not like it.
pub(crate) fn nearest<'o>(want: &Value, observed: &'o Value) -> Option<(&'o Value, Vec<&'static str>)> {
    let rules = list(observed, &["route-rules", "config"]).iter().filter(|got| same_family(want, got));
    let selectors = ["ip-from", "ip-to", "iif", "fwmark"];
    let selects = selectors.iter().any(|key| want.get(key).is_some());
    let same_selectors =
        |got: &&Value| selects && !unlike(want, got).iter().any(|key| selectors.contains(key));
    let same_rank = |got: &&Value| want.get("priority").is_some() && same_priority(want, got);
    let found = rules.clone().find(same_selectors).or_else(|| rules.clone().find(same_rank))?;
    Some((found, unlike(want, found)))
}

fn unlike(want: &Value, got: &Value) -> Vec<&'static str> {
    let networks = ["ip-from", "ip-to"].into_iter().filter(|key| !same_network(key, want, got));
    let properties = PROPERTIES.into_iter().filter(|key| !same_property(key, want, got));
    networks.chain(properties).chain((!same_priority(want, got)).then_some("priority")).collect()
}

/// What people call a rule.
pub(crate) fn label(rule: &Value) -> String {
    let said = ["ip-from", "ip-to", "iif", "fwmark", "priority"].iter().find_map(|key| {
        let value = rule.get(key).filter(|value| !value.is_null() && value.as_str() != Some(""))?;
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some(format!("{} {value}", key.trim_start_matches("ip-")))
    });
    said.unwrap_or_else(|| "all".into())
}
