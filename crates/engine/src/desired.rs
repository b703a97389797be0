//! From a document to the state that nmstate will be asked for.

use std::collections::{BTreeMap, HashMap};

use linesman_core::captures::Captured;
use linesman_core::check;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::foreign_port;
use linesman_core::path::Path;
use linesman_core::plan::{Plan, Subject};
use linesman_core::secrets;
use linesman_core::state::list;
use nmstate::{NetworkCaptureRules, NetworkState, NetworkStateTemplate};
use serde_json::{Value, json};

use crate::{Error, Result};

/// nmstate's opinion on a state, as `check` wants it.
pub fn schema(state: &Value) -> Result<(), String> {
    serde_json::from_value::<NetworkState>(state.clone()).map(|_| ()).map_err(|e| e.to_string())
}

/// The state in nmstate's own spelling, so that it can be compared with what nmstate reports.
pub fn canonical(state: &Value) -> Result<Value> {
    let typed: NetworkState =
        serde_json::from_value(state.clone()).map_err(|e| Error::Invalid(e.to_string()))?;
    serde_json::to_value(&typed).map_err(|e| Error::Invalid(e.to_string()))
}

/// Fills a document's captures in from what the host looks like now.
pub fn resolve(state: &Value, capture: Option<&Value>, observed: &Value) -> Result<Value> {
    match capture {
        Some(rules) => fill(state, &self::capture(rules, observed)?),
        None => canonical(state),
    }
}

fn invalid_capture(e: &dyn std::fmt::Display) -> Error {
    Error::Invalid(format!("captures: {e}"))
}

/// What each capture of a document finds, by its name.
pub fn capture(rules: &Value, observed: &Value) -> Result<Value> {
    let rules: NetworkCaptureRules =
        serde_json::from_value(rules.clone()).map_err(|e| invalid_capture(&e))?;
    let current =
        serde_json::from_value(foreign_port::unmarked(observed)).map_err(|e| invalid_capture(&e))?;
    let found = rules.execute(&current).map_err(|e| invalid_capture(&e))?;
    let found: BTreeMap<String, NetworkState> = found.into_iter().collect();
    serde_json::to_value(found).map_err(|e| invalid_capture(&e))
}

/// What the captures of a policy find: once, until they are edited. `former` is what they found when it was applied.
pub fn capture_once(rules: &Value, former: Option<&Captured>, observed: &Value) -> Result<Value> {
    match former {
        Some(former) if former.capture == *rules => Ok(former.found.clone()),
        Some(former) => capture(rules, &former.without_policy(observed)),
        None => capture(rules, observed),
    }
}

/// Fills in what captures have found.
///
/// The whole state, unlike nmstate's own resolution of a policy: that leaves out what holds already, and whoever
/// compares with the rest later would not see that it has drifted.
pub fn fill(state: &Value, found: &Value) -> Result<Value> {
    let template: NetworkStateTemplate =
        serde_json::from_value(state.clone()).map_err(|e| invalid_capture(&e))?;
    let found: HashMap<String, NetworkState> =
        serde_json::from_value(found.clone()).map_err(|e| invalid_capture(&e))?;
    let filled = template.fill_with_captured_data(&found).map_err(|e| invalid_capture(&e))?;
    serde_json::to_value(&filled).map_err(|e| invalid_capture(&e))
}

/// Of the crate that is linked; `tests::the_version_is_that_of_the_lock_file` holds it.
pub const NMSTATE_VERSION: &str = "2.2.62";

/// What nmstate calls the features that a state uses.
pub fn features(state: &Value) -> Vec<String> {
    let Ok(state) = serde_json::from_value::<NetworkState>(state.clone()) else { return Vec::new() };
    let Ok(found) = state.statistic(&NetworkState::default()) else { return Vec::new() };
    let words = found.features.iter().filter_map(|feature| serde_json::to_value(feature).ok());
    words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

/// The interfaces that a state names.
pub fn interfaces(state: &Value) -> impl Iterator<Item = String> {
    let list = state["interfaces"].as_array().into_iter().flatten();
    list.filter_map(|interface| interface["name"].as_str().map(str::to_string))
}

/// What nmstate is asked for: of the interfaces only those that change.
///
/// It writes and activates the profile of every interface that a state names, needed or not; what holds
/// already is left out, and with that left alone.
pub fn changed_only(desired: &Value, plan: &Plan, observed: &Value) -> Value {
    // An entry may call a device otherwise, by its MAC address or an alternative name: then the places tell.
    let changes = |name: &Value| {
        let place = Path::interface(name.as_str().unwrap_or_default());
        plan.changes.iter().any(|change| {
            let called = matches!(&change.subject, Subject::Interface { name: n, .. } if name == n.as_str());
            called || change.details.iter().any(|detail| detail.path.starts_with(&place))
        })
    };
    let mut state = desired.clone();
    // nmstate takes the internal port of a userspace bridge for one without addresses, unless the state names it, and refuses
    // routes through it. So it is named where routes through it change.
    let route_changes = plan.changes.iter().any(|change| matches!(change.subject, Subject::Route { .. }));
    if let Some(routes) = state.pointer_mut("/routes/config").and_then(Value::as_array_mut)
        && !route_changes
    {
        routes.retain(|route| route["next-hop-interface"].is_null() || changes(&route["next-hop-interface"]));
    }
    if let Some(interfaces) = state.get_mut("interfaces").and_then(Value::as_array_mut) {
        // What is to be ignored would be detached from its bridge.
        let leads_on =
            |i: &Value| route_changes && i["type"] == "ovs-interface" && is_next_hop(desired, &i["name"]);
        interfaces.retain(|i| i["state"] == "ignore" || changes(&i["name"]) || leads_on(i));
    }
    if route_changes {
        add_next_hops(&mut state, observed);
    }
    state
}

fn is_next_hop(state: &Value, name: &Value) -> bool {
    let routes = list(state, &["routes", "config"]).iter();
    routes.filter(|route| route["state"] != "absent").any(|route| route["next-hop-interface"] == *name)
}

/// Internal ports of Open vSwitch through which the state routes without naming them, with the addresses that they have.
fn add_next_hops(state: &mut Value, observed: &Value) {
    let is_named = |name: &Value| list(state, &["interfaces"]).iter().any(|i| i["name"] == *name);
    let internal = list(observed, &["interfaces"]).iter().filter(|i| i["type"] == "ovs-interface");
    let missing = internal.filter(|i| is_next_hop(state, &i["name"]) && !is_named(&i["name"]));
    let entry = |i: &Value| json!({ "name": i["name"], "type": i["type"], "state": "up", "ipv4": i["ipv4"], "ipv6": i["ipv6"] });
    let missing: Vec<Value> = missing.map(entry).collect();
    if !missing.is_empty() && state["interfaces"].is_null() {
        state["interfaces"] = json!([]);
    }
    if let Some(interfaces) = state["interfaces"].as_array_mut() {
        interfaces.extend(missing);
    }
}

/// What nmstate would refuse, asked before anything is touched.
pub fn refuse_early(desired: &Value, observed: &Value) -> Result<(), Vec<Diagnostic>> {
    if linesman_core::plan::makes_and_uses_functions(desired, observed) {
        // It looks for them on the host as it is.
        return Ok(());
    }
    let observed = foreign_port::unmarked(observed);
    let refuses = |state: &Value| refusal(state, &observed);
    // It writes each refusal to the log as well.
    let found = tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::new(), || {
        check::refusals(desired, &refuses)
    });
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn refusal(desired: &Value, observed: &Value) -> Result<(), String> {
    let parse = |v: &Value| serde_json::from_value::<NetworkState>(v.clone()).map_err(|e| e.to_string());
    match parse(desired)?.gen_diff(&parse(observed)?) {
        Ok(_) => Ok(()),
        // It reads the differences as a document of their own: the base of a MAC-VLAN is missing there if only the mode differs.
        Err(e) if e.msg().contains("missing field") => Ok(()),
        Err(e) => Err(secrets::redacted(e.msg(), desired)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::plan::{Change, ChangeKind, Detail};

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        let line = format!("name = \"nmstate\"\nversion = \"{NMSTATE_VERSION}\"");
        assert!(lock.contains(&line), "{line}");
    }

    #[test]
    fn one_property_of_a_mac_vlan_may_change() {
        let state = |mode: &str| {
            json!({ "interfaces": [{ "name": "mv1", "type": "mac-vlan", "state": "up",
                "mac-vlan": { "base-iface": "eth1", "mode": mode, "promiscuous": true } },
                { "name": "eth1", "type": "ethernet", "state": "up" }] })
        };
        refuse_early(&state("vepa"), &state("bridge")).unwrap();
    }

    #[test]
    fn captures_are_kept_and_filled_in_later() {
        let nic = |name: &str, ip: &str| {
            json!({ "name": name, "type": "ethernet", "state": "up", "mtu": 1500, "ipv4": {
                "enabled": true, "dhcp": false, "address": [{ "ip": ip, "prefix-length": 24 }] } })
        };
        let route = json!({ "destination": "0.0.0.0/0", "next-hop-interface": "eth0", "next-hop-address": "10.0.0.1" });
        let observed = json!({ "interfaces": [nic("eth0", "10.0.0.2"), nic("eth1", "10.0.1.2")],
            "routes": { "running": [route], "config": [route] } });
        let rules = json!({
            "default-gw": "routes.running.destination==\"0.0.0.0/0\"",
            "base": "interfaces.name==capture.default-gw.routes.running.0.next-hop-interface",
            "routes": "capture.default-gw | routes.running.next-hop-interface:=\"br1\"",
        });
        let state = |mtu: u64| {
            json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up", "mtu": mtu,
                    "ipv4": "{{ capture.base.interfaces.0.ipv4 }}",
                    "bridge": { "port": [{ "name": "{{ capture.base.interfaces.0.name }}" }] } },
                { "name": "eth0", "type": "ethernet", "mtu": 1500 }],
                "routes": { "config": "{{ capture.routes.routes.running }}" } })
        };
        let found = capture(&rules, &observed).unwrap();
        for mtu in [1500, 1400] {
            let filled = fill(&state(mtu), &found).unwrap();
            let br1 = &filled["interfaces"].as_array().unwrap().iter().find(|i| i["name"] == "br1").unwrap();
            assert_eq!(br1["mtu"], mtu);
            assert_eq!(br1["ipv4"]["address"][0]["ip"], "10.0.0.2");
            assert_eq!(br1["bridge"]["port"][0]["name"], "eth0");
            assert_eq!(filled["routes"]["config"][0]["next-hop-interface"], "br1");
            assert!(
                filled["interfaces"].to_string().contains("\"eth0\",\"type\""),
                "what holds is not left out: {filled}"
            );
        }
    }

    #[test]
    fn features_have_names() {
        let state = json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up" }],
            "hostname": { "config": "n1" } });
        assert!(!features(&state).is_empty());
    }

    #[test]
    fn interfaces_that_are_called_otherwise_are_not_left_out() {
        let desired =
            json!({ "interfaces": [{ "name": "storage", "identifier": "mac-address" }, { "name": "eth2" }] });
        let subject = Subject::Interface { name: "eth1".into(), kind: "ethernet".into() };
        let path = Path::interface("storage").key("mtu");
        let details = vec![Detail { path, want: 9000.into(), got: 1500.into() }];
        let change = Change { kind: ChangeKind::Modify, subject, details };
        let plan = Plan { changes: vec![change], ..Plan::default() };
        assert_eq!(changed_only(&desired, &plan, &Value::Null)["interfaces"].as_array().unwrap().len(), 1);
        assert_eq!(changed_only(&desired, &plan, &Value::Null)["interfaces"][0]["name"], "storage");
    }

    #[test]
    fn interfaces_that_hold_are_left_out() {
        let desired =
            json!({ "interfaces": [{ "name": "eth0" }, { "name": "br1" }], "routes": { "config": [] } });
        let subject = Subject::Interface { name: "br1".into(), kind: "linux-bridge".into() };
        let plan = Plan {
            changes: vec![Change { kind: ChangeKind::Add, subject, details: Vec::new() }],
            ..Plan::default()
        };
        assert_eq!(
            changed_only(&desired, &plan, &Value::Null),
            json!({ "interfaces": [{ "name": "br1" }], "routes": { "config": [] } })
        );
    }

    #[test]
    fn the_internal_port_that_a_new_route_leads_through_is_named() {
        let routes = json!({ "config": [{ "destination": "10.77.0.0/16", "next-hop-interface": "br-ex" }] });
        let change = Change {
            kind: ChangeKind::Add,
            subject: Subject::Route { destination: "10.77.0.0/16".into() },
            details: Vec::new(),
        };
        let plan = Plan { changes: vec![change], ..Plan::default() };
        let internal = |mtu: u32| json!({ "name": "br-ex", "type": "ovs-interface", "mtu": mtu, "ipv4": { "enabled": true }, "ipv6": {} });
        let bridge = json!({ "name": "br-ex", "type": "ovs-bridge" });
        let observed = json!({ "interfaces": [bridge, internal(1500)] });
        let named = |desired: Value| changed_only(&desired, &plan, &observed)["interfaces"].clone();
        let alone = json!([{ "name": "br-ex", "type": "ovs-interface", "state": "up", "ipv4": { "enabled": true }, "ipv6": {} }]);
        assert_eq!(named(json!({ "routes": routes })), alone);
        let declared = json!({ "interfaces": [bridge, internal(1400)], "routes": routes });
        assert_eq!(named(declared), json!([internal(1400)]), "as it is declared");
        let elsewhere = json!({ "routes": { "config": [{ "destination": "10.77.0.0/16", "next-hop-interface": "eth1" }] } });
        assert_eq!(named(elsewhere), Value::Null);
    }
}
