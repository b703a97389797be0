//! The document that makes NMState really do what was declared.

use serde_json::{Value, json};

use crate::compare::{View, route};
use crate::state::{is_absent, list, text};

/// `desired` with what NMState needs in addition. It takes a route that differs from an existing one
/// in nothing but the metric for the existing one, reports success and changes nothing: the old one must be
/// declared absent beside it.
pub fn applicable(desired: &Value, observed: &Value) -> Value {
    let view = View::new(desired, observed, observed);
    let stale: Vec<Value> = route::declared(&view)
        .iter()
        .filter(|want| !is_absent(want))
        .filter_map(|want| stale(want, observed))
        .collect();
    let mut document = desired.clone();
    if let Some(routes) = document.pointer_mut("/routes/config").and_then(Value::as_array_mut) {
        routes.splice(0..0, stale);
    }
    document
}

fn stale(want: &Value, observed: &Value) -> Option<Value> {
    let same = list(observed, &["routes", "config"]).iter().filter(|got| route::matches(want, got));
    let other_metric =
        same.clone().next().is_some() && !same.into_iter().any(|got| route::same_metric(want, got));
    other_metric.then(|| {
        let mut absent = json!({"state": "absent"});
        for key in ["destination", "next-hop-interface", "next-hop-address", "table-id"] {
            if let Some(said) = text(want, key).map(Value::from).or_else(|| want.get(key).cloned()) {
                absent[key] = said;
            }
        }
        absent
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(metric: u64) -> Value {
        json!({"destination": "198.51.100.0/24", "next-hop-interface": "br1", "metric": metric})
    }

    fn with(route: Value) -> Value {
        json!({"routes": {"config": [route]}})
    }

    #[test]
    fn a_new_metric_takes_the_old_route_away() {
        let document = applicable(&with(route(77)), &with(route(150)));
        assert_eq!(list(&document, &["routes", "config"]).len(), 2);
        assert_eq!(document["routes"]["config"][0]["state"], "absent");
        assert_eq!(document["routes"]["config"][0].get("metric"), None);
        assert_eq!(document["routes"]["config"][1], route(77));
    }

    #[test]
    fn anything_else_stays_as_written() {
        assert_eq!(applicable(&with(route(150)), &with(route(150))), with(route(150)));
        assert_eq!(applicable(&with(route(77)), &json!({})), with(route(77)));
    }
}
