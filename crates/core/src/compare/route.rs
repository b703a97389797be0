//! Static routes: declared ones exist, absent ones do not. Others are nobody's business.

use serde_json::{Map, Value};

use super::findings::{Findings, same_text};
use super::view::View;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;
use crate::state::{self, is_absent, list, text};

/// Compared when a route mentions them. The metric comes last, as absent routes are found without it.
const MATCHED: [&str; 14] = [
    "next-hop-interface",
    "next-hop-address",
    "weight",
    "route-type",
    "cwnd",
    "source",
    "initcwnd",
    "initrwnd",
    "mtu",
    "advmss",
    "lock-mtu",
    "vrf-name",
    "table-id",
    "quickack",
];

pub(super) fn compare(view: &View<'_>, found: &mut Findings) {
    let (absent, wanted): (Vec<Value>, Vec<Value>) = declared(view).into_iter().partition(is_absent);
    let at = Path::root().key("routes").key("config");
    // Changing a gateway is written as an absent route that also matches the new one, which stays.
    let is_wanted = |got: &Value| wanted.iter().any(|want| matches(want, got) && same_metric(want, got));
    let is_surplus = |got: &Value| absent.iter().any(|absent| matches(absent, got)) && !is_wanted(got);
    let (surplus, kept): (Vec<&Value>, Vec<&Value>) =
        observed(view).into_iter().partition(|got| is_surplus(got));
    for want in &wanted {
        present(&at, want, &kept, found);
    }
    for got in surplus {
        found.surplus(at.item(label(got)), got.clone());
    }
}

/// The declared routes in the kernel's terms.
pub(crate) fn declared(view: &View<'_>) -> Vec<Value> {
    let routes = list(view.desired, &["routes", "config"]).iter();
    routes.filter(|route| text(route, "state") != Some("ignore")).map(|route| resolve(view, route)).collect()
}

fn resolve(view: &View<'_>, route: &Value) -> Value {
    let mut fields: Map<String, Value> = route.as_object().cloned().unwrap_or_default();
    if let Some(hop) = text(route, "next-hop-interface") {
        fields.insert("next-hop-interface".into(), view.device(hop).into());
    }
    // The kernel gives an IPv4 route to nowhere no interface at all.
    if !is_v6(route) && text(route, "route-type").is_some() {
        fields.remove("next-hop-interface");
    }
    if let Some(table) = text(route, "vrf-name").and_then(|vrf| vrf_table(view, vrf)) {
        fields.insert("table-id".into(), table.clone());
        fields.remove("vrf-name");
    }
    Value::Object(fields)
}

fn vrf_table<'v>(view: &'v View<'_>, vrf: &str) -> Option<&'v Value> {
    let table = |interface: &'v Value| {
        state::at(interface, &["vrf", "route-table-id"]).filter(|id| id.as_u64() != Some(0))
    };
    view.declares(vrf).and_then(table).or_else(|| table(view.was(vrf, InterfaceKind::Vrf)?))
}

fn observed<'v>(view: &'v View<'_>) -> Vec<&'v Value> {
    let seen = |route: &&Value| {
        let ignored = text(route, "next-hop-interface").is_some_and(|hop| view.is_ignored(hop));
        text(route, "state") != Some("ignore") && (!ignored || text(route, "route-type").is_some())
    };
    list(view.observed, &["routes", "config"]).iter().filter(seen).collect()
}

fn present(at: &Path, want: &Value, got: &[&Value], found: &mut Findings) {
    let alike: Vec<&&Value> = got.iter().filter(|got| matches(want, got)).collect();
    match alike.first() {
        None => found.missing(at.item(label(want)), want.clone()),
        Some(_) if alike.iter().any(|got| same_metric(want, got)) => {}
        Some(nearest) => {
            let metric = nearest.get("metric").cloned().unwrap_or(Value::Null);
            found.add(at.item(label(want)).key("metric"), want["metric"].clone(), metric);
        }
    }
}

/// The kernel replaces an unset metric of an IPv6 route by its own default.
pub(crate) fn same_metric(want: &Value, got: &Value) -> bool {
    let metric = |route: &Value| route.get("metric").and_then(Value::as_i64);
    match metric(want) {
        None => true,
        Some(wanted) if wanted < 0 || (wanted == 0 && is_v6(want)) => true,
        Some(wanted) => metric(got).unwrap_or_default() == wanted,
    }
}

/// Whether every property that `pattern` mentions, its metric aside, is the same in `route`.
pub(crate) fn matches(pattern: &Value, route: &Value) -> bool {
    same_destination(pattern, route) && MATCHED.iter().all(|key| same_property(key, pattern, route))
}

fn same_destination(pattern: &Value, route: &Value) -> bool {
    let destination = |route| text(route, "destination").filter(|written| !written.is_empty());
    match (destination(pattern), destination(route)) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(want), Some(got)) => {
            want == got || (state::network(want).is_some() && state::network(want) == state::network(got))
        }
    }
}

fn same_property(key: &str, pattern: &Value, route: &Value) -> bool {
    match (pattern.get(key), route.get(key)) {
        (None | Some(Value::Null), _) => true,
        (Some(table), _) if key == "table-id" && table.as_u64() == Some(0) => true,
        (Some(want), None) => key == "quickack" && want == &Value::Bool(false),
        (Some(Value::String(want)), Some(Value::String(got))) => same_text(want, got),
        (Some(want), Some(got)) => want == got,
    }
}

/// The observed route that was most likely meant (same destination, same way) and where it is not like it.
pub(crate) fn nearest<'o>(want: &Value, observed: &'o Value) -> Option<(&'o Value, Vec<&'static str>)> {
    let same_way = |got: &&Value| {
        ["next-hop-interface", "next-hop-address"].iter().any(|key| got.get(key) == want.get(key))
    };
    let got = list(observed, &["routes", "config"])
        .iter()
        .filter(|got| same_destination(want, got))
        .filter(same_way);
    got.map(|got| (got, unlike(want, got))).min_by_key(|(_, unlike)| unlike.len())
}

fn unlike(want: &Value, got: &Value) -> Vec<&'static str> {
    let metric = (!same_metric(want, got)).then_some("metric");
    MATCHED.into_iter().filter(|key| !same_property(key, want, got)).chain(metric).collect()
}

fn is_v6(route: &Value) -> bool {
    text(route, "destination").is_some_and(|destination| destination.contains(':'))
}

/// What people call a route.
pub(crate) fn label(route: &Value) -> String {
    match text(route, "destination").filter(|written| !written.is_empty()) {
        Some(destination) => destination.to_owned(),
        None => format!("via {}", text(route, "next-hop-interface").unwrap_or("anything")),
    }
}
