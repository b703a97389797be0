//! The running host to a state document: what a person would have written to get it.
//!
//! Left out are defaults, what is read-only, what DHCP and router advertisements gave, and what others run.

mod ip;
mod kinds;
mod links;

use serde_json::{Value, json};

use super::draft::Section;
use super::report::{Imported, Note};
use linesman_core::facts::Facts;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{at, interfaces, kind, list, name, text};

/// `state` is all that NMState sees; `facts` say which program manages what.
pub fn running(state: &Value, facts: &Facts) -> Imported {
    let mut host = RunningHost { state, facts, notes: Vec::new(), left_out: Vec::new() };
    let chosen: Vec<&Value> = interfaces(state).iter().filter(|interface| host.ours(interface)).collect();
    let written: Vec<Value> =
        chosen.into_iter().map(|interface| Value::Object(host.interface(interface))).collect();
    let mut document = Section::new();
    document.insert("interfaces".into(), written.into());
    host.ports_of_others(&mut document);
    host.routes(&mut document);
    host.names(&mut document);
    host.open_vswitch(&mut document);
    document.retain(|_, section| !is_nothing(section));
    let mut notes = host.notes;
    notes.sort();
    notes.dedup();
    Imported { state: Value::Object(document), notes }
}

/// The place of notes about policy routing rules, which belong to no interface.
pub const ROUTE_RULES: &str = "route-rules";

struct RunningHost<'a> {
    state: &'a Value,
    facts: &'a Facts,
    notes: Vec<Note>,
    left_out: Vec<String>,
}

impl RunningHost<'_> {
    fn note(&mut self, place: &str, setting: &str, why: impl Into<String>) {
        self.notes.push(Note { place: place.to_owned(), setting: setting.to_owned(), why: why.into() });
    }

    /// Whether a document about this host would speak of the interface at all.
    fn ours(&mut self, interface: &Value) -> bool {
        let (name, condition) = (name(interface).to_owned(), text(interface, "state").unwrap_or("up"));
        if kind(interface) == InterfaceKind::Loopback {
            return false;
        }
        let why = if condition == "ignore" || self.facts.unmanaged.contains(&name) {
            "not managed by NetworkManager: omitted"
        } else if condition != "up" {
            "down: omitted"
        } else if !self.has_profile(interface) {
            "created by another program, without a NetworkManager profile: omitted"
        } else {
            return true;
        };
        self.note(&name, "", why);
        self.left_out.push(name);
        false
    }

    /// Without any knowledge of profiles everything counts.
    fn has_profile(&self, interface: &Value) -> bool {
        let name = Some(name(interface).to_owned());
        let profiles = &self.facts.profiles;
        let ovs_bridge = kind(interface) == InterfaceKind::OvsBridge;
        profiles.is_empty()
            || profiles
                .iter()
                .filter(|profile| (profile.kind == "ovs-bridge") == ovs_bridge)
                .any(|profile| profile.active_on == name || profile.interface == name)
    }

    /// The profile that an interface runs on.
    fn profile(&self, interface: &str) -> Option<&linesman_core::facts::ProfileFact> {
        let runs =
            |profile: &&linesman_core::facts::ProfileFact| profile.active_on.as_deref() == Some(interface);
        self.facts
            .profiles
            .iter()
            .filter(runs)
            .find(|profile| !matches!(profile.kind.as_str(), "ovs-bridge" | "ovs-port"))
    }

    /// Ports of others on an Open vSwitch bridge stay there without being declared. OVN's patch ports could not even be:
    /// their names are longer than those of interfaces.
    fn ports_of_others(&self, document: &mut Section) {
        let entries = document.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
        for bridge in entries.filter(|entry| kind(entry) == InterfaceKind::OvsBridge) {
            let ports = bridge.get_mut("bridge").and_then(|section| section.get_mut("port"));
            if let Some(ports) = ports.and_then(Value::as_array_mut) {
                ports.retain(|port| !self.left_out.iter().any(|left_out| left_out == name(port)));
            }
        }
    }

    fn routes(&mut self, document: &mut Section) {
        let mut routes = Vec::new();
        for route in list(self.state, &["routes", "config"]) {
            let way = text(route, "next-hop-interface").unwrap_or_default();
            if self.left_out.iter().any(|name| name == way) {
                let to = text(route, "destination").unwrap_or_default().to_owned();
                self.note(way, &to, "a route through an omitted interface");
                continue;
            }
            self.note_onlink(route);
            routes.push(without(
                route,
                &[("table-id", json!(254)), ("metric", json!(-1)), ("state", Value::Null)],
            ));
        }
        document.insert("routes".into(), json!({ "config": routes }));
        let all = list(self.state, &["route-rules", "config"]);
        let (rules, of_others): (Vec<&Value>, Vec<&Value>) =
            all.iter().partition(|rule| self.is_stored(rule));
        for rule in of_others {
            let priority = rule.get("priority").map_or_else(|| "0".to_owned(), ToString::to_string);
            let why = "not in a profile: set by hand or by another program: omitted";
            self.note(ROUTE_RULES, &format!("priority {priority}"), why);
        }
        document.insert("route-rules".into(), json!({ "config": rules }));
    }

    /// Whether an active profile has the rule. Without any knowledge of profiles everything counts.
    fn is_stored(&self, rule: &Value) -> bool {
        let mut active = self.facts.profiles.iter().filter(|profile| profile.active_on.is_some()).peekable();
        active.peek().is_none() || active.any(|profile| profile.has_rule(rule))
    }

    fn note_onlink(&mut self, route: &Value) {
        let (Some(to), Some(interface)) = (text(route, "destination"), text(route, "next-hop-interface"))
        else {
            return;
        };
        let is_onlink =
            self.profile(interface).is_some_and(|profile| profile.onlink.iter().any(|it| it == to));
        if is_onlink {
            self.note(interface, to, "NMState has no 'onlink': the route is written without it");
        }
    }

    fn names(&self, document: &mut Section) {
        let dns = at(self.state, &["dns-resolver", "config"]).cloned().unwrap_or_default();
        let dns = without(&dns, &[("server", json!([])), ("search", json!([])), ("options", json!([]))]);
        document.insert("dns-resolver".into(), json!({ "config": dns }));
        if let Some(hostname) = at(self.state, &["hostname", "config"])
            .filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
        {
            document.insert("hostname".into(), json!({ "config": hostname }));
        }
    }

    /// What Open vSwitch's own start-up writes is nobody's declaration.
    fn open_vswitch(&self, document: &mut Section) {
        let Some(database) = self.state.get("ovs-db") else { return };
        let keys = kinds::keys(database, &["hostname", "rundir", "system-id"]);
        document.insert("ovs-db".into(), Value::Object(keys));
        document.insert("ovn".into(), self.state.get("ovn").cloned().unwrap_or_default());
    }
}

/// A mapping without the keys that have these values; a null stands for any value.
fn without(value: &Value, defaults: &[(&str, Value)]) -> Value {
    let is_default = |key: &str, value: &Value| {
        value.is_null()
            || defaults.iter().any(|(name, default)| *name == key && (default.is_null() || default == value))
    };
    let fields = value.as_object().into_iter().flatten();
    Value::Object(
        fields
            .filter(|(key, value)| !is_default(key, value))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

/// Empty, or empty all the way down.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_nothing),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
