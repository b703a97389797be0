//! Ports of bridges that others attached: a Pod's veth on a Linux bridge, an internal port by `ovs-vsctl`.
//!
//! NetworkManager runs no profile on them, and NMState shows them as up like its own. Whoever observes the host marks
//! them; a document that lists a bridge's ports leaves marked ones where they are, unless it says otherwise: by an
//! entry for the port itself, or by `allow-extra-ports: false` on the bridge.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::compare::View;
use crate::interface_kind::InterfaceKind;
use crate::path::PathStep;
use crate::plan::{Change, ChangeKind, Plan, Subject};
use crate::state::{self, flag, interfaces, kind, name};

/// Not a key of NMState: removed before a state is handed to it, or shown.
const MARK: &str = "foreign-port";

/// The ports of all bridges.
pub fn of_bridges(observed: &Value) -> BTreeSet<&str> {
    let bridges = interfaces(observed).iter().filter(|interface| is_bridge(interface));
    bridges.flat_map(|bridge| state::ports(bridge).unwrap_or_default()).collect()
}

/// Marks the ports of bridges that are not `made` by NetworkManager.
pub fn mark(observed: &mut Value, made: impl Fn(&str) -> bool) {
    let foreign: BTreeSet<String> =
        of_bridges(observed).into_iter().filter(|port| !made(port)).map(str::to_owned).collect();
    let all = observed.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
    for interface in all.filter(|i| foreign.contains(name(i)) && !kind(i).is_userspace()) {
        interface[MARK] = true.into();
    }
}

/// A port that others attached since the state was observed.
pub fn add(observed: &mut Value, port: &str, bridge: &str) {
    let Some(all) = observed.get_mut("interfaces").and_then(Value::as_array_mut) else { return };
    let bridges = all.iter_mut().filter(|i| name(i) == bridge && kind(i) == InterfaceKind::LinuxBridge);
    for found in bridges {
        if !found["bridge"]["port"].is_array() {
            found["bridge"]["port"] = json!([]);
        }
        let ports = found["bridge"]["port"].as_array_mut().into_iter();
        for ports in ports.filter(|ports| !ports.iter().any(|known| name(known) == port)) {
            ports.push(json!({ "name": port }));
        }
    }
    match all.iter_mut().find(|i| name(i) == port) {
        Some(known) => known[MARK] = true.into(),
        None => {
            all.push(json!({ "name": port, "type": "veth", "state": "up", "controller": bridge, MARK: true }))
        }
    }
}

/// Without the ports that others attached to Linux bridges: those in bridges of Open vSwitch are in its database as well.
pub fn remove_from_linux_bridges(observed: &mut Value) {
    let Some(all) = observed.get_mut("interfaces").and_then(Value::as_array_mut) else { return };
    let marked: BTreeSet<String> = all.iter().filter(|i| is_marked(i)).map(|i| name(i).to_owned()).collect();
    for bridge in all.iter_mut().filter(|i| kind(i) == InterfaceKind::LinuxBridge) {
        let ports = bridge.pointer_mut("/bridge/port").and_then(Value::as_array_mut).into_iter();
        ports.for_each(|ports| ports.retain(|port| !marked.contains(name(port))));
    }
    let in_ovs: BTreeSet<String> = all
        .iter()
        .filter(|i| kind(i) == InterfaceKind::OvsBridge)
        .flat_map(|bridge| state::ports(bridge).unwrap_or_default())
        .map(str::to_owned)
        .collect();
    all.retain(|i| !is_marked(i) || in_ovs.contains(name(i)));
}

/// The state as NMState knows it.
pub fn unmarked(observed: &Value) -> Value {
    let mut state = observed.clone();
    for interface in state.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten() {
        unmark(interface);
    }
    state
}

pub fn unmark(interface: &mut Value) {
    if let Some(fields) = interface.as_object_mut() {
        fields.shift_remove(MARK);
    }
}

pub fn is_marked(interface: &Value) -> bool {
    flag(interface, MARK) == Some(true)
}

pub(crate) fn is_mark(key: &str) -> bool {
    key == MARK
}

fn is_bridge(interface: &Value) -> bool {
    matches!(kind(interface), InterfaceKind::LinuxBridge | InterfaceKind::OvsBridge)
}

/// A declared bridge that says to have these ports and no others.
pub(crate) fn is_strict(bridge: &Value) -> bool {
    state::at(bridge, &["bridge", "allow-extra-ports"]) == Some(&Value::Bool(false))
}

/// A bridge without the ports that are not NetworkManager's: a former state that can be asked for again.
pub(crate) fn without_foreign_ports(bridge: &mut Value, observed: &Value) {
    if !is_bridge(bridge) {
        return;
    }
    let foreign: BTreeSet<&str> = interfaces(observed)
        .iter()
        .filter(|i| is_marked(i) || state::condition(i) == "ignore")
        .map(name)
        .collect();
    let own = name(bridge).to_owned();
    let ports =
        bridge.get_mut("bridge").and_then(|section| section.get_mut("port")).and_then(Value::as_array_mut);
    if let Some(ports) = ports {
        ports.retain(|port| name(port) == own || !foreign.contains(name(port)));
    }
}

/// Ports of others that a plan takes from their bridges. NetworkManager has no profile of theirs, and should not get one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Expelled {
    /// Known to the database of Open vSwitch alone.
    pub from_ovs: BTreeSet<String>,
    pub from_linux: BTreeSet<String>,
}

pub fn expelled(plan: &Plan, desired: &Value, observed: &Value) -> Expelled {
    let view = View::new(desired, observed, observed);
    let mut expelled = Expelled::default();
    for change in &plan.changes {
        let Subject::Interface { name: device, kind } = &change.subject else { continue };
        let ports = || left_ports(change).filter(|port| is_foreign(&view, port)).map(str::to_owned);
        match (kind, change.kind) {
            (InterfaceKind::OvsBridge, ChangeKind::Modify) => expelled.from_ovs.extend(ports()),
            (InterfaceKind::LinuxBridge, ChangeKind::Modify) => expelled.from_linux.extend(ports()),
            // Declared absent: NetworkManager deletes nothing that it has no profile of.
            (InterfaceKind::OvsInterface, ChangeKind::Remove) => {
                let marked = view.now(device, InterfaceKind::OvsInterface).is_some_and(is_marked);
                expelled.from_ovs.extend(marked.then(|| device.to_string()));
            }
            _ => {}
        }
    }
    expelled
}

fn left_ports(change: &Change) -> impl Iterator<Item = &str> {
    change.details.iter().filter(|detail| detail.want.is_null()).filter_map(|detail| {
        match detail.path.steps() {
            [.., PathStep::Key(list), PathStep::Item(port)] if list == "port" => Some(port.as_str()),
            _ => None,
        }
    })
}

/// A bond of Open vSwitch is a port without a device.
fn is_foreign(view: &View<'_>, port: &str) -> bool {
    let bridges = interfaces(view.observed).iter();
    let mut ports = bridges.flat_map(|bridge| state::list(bridge, &["bridge", "port"]));
    let members =
        ports.find(|entry| name(entry) == port).map(|p| state::list(p, &["link-aggregation", "port"]));
    match members.unwrap_or_default() {
        [] => view.is_foreign(port),
        members => members.iter().all(|member| view.is_foreign(name(member))),
    }
}

/// Ports of others on Linux bridges that a plan leaves where they are, with their bridge: NetworkManager drops them when
/// it activates the bridge anew.
pub fn staying(plan: &Plan, desired: &Value, observed: &Value) -> Vec<(String, String)> {
    let gone = expelled(plan, desired, observed).from_linux;
    let view = View::new(desired, observed, observed);
    let removed = |bridge: &str| view.declared_as(bridge).any(|want| !state::is_up(want));
    let mut ports = of_touched_bridges(plan, observed);
    ports.retain(|(port, bridge)| view.is_foreign(port) && !gone.contains(port) && !removed(bridge));
    ports
}

/// Ports of others on the Linux bridges that a plan touches, with their bridge.
pub fn of_touched_bridges(plan: &Plan, observed: &Value) -> Vec<(String, String)> {
    let marked: BTreeSet<&str> = interfaces(observed).iter().filter(|i| is_marked(i)).map(name).collect();
    let bridges = interfaces(observed)
        .iter()
        .filter(|i| kind(i) == InterfaceKind::LinuxBridge && plan.touched.contains(name(i)));
    let ports = bridges.flat_map(|bridge| {
        let ports = state::ports(bridge).unwrap_or_default().into_iter();
        ports.map(|port| (port.to_owned(), name(bridge).to_owned()))
    });
    ports.filter(|(port, _)| marked.contains(port.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::differences;
    use crate::facts::Facts;
    use crate::inverse::inverse;
    use crate::plan::{applicable, plan};
    use crate::verify::verify;

    /// A Linux bridge with a NIC and a Pod's veth, an OVS bridge with a port by hand and a bond by hand.
    fn host() -> Value {
        let mut state = json!({ "interfaces": [
            { "name": "br1", "type": "linux-bridge", "state": "up", "mtu": 1500,
              "bridge": { "port": [{ "name": "eth1" }, { "name": "pod0" }] } },
            { "name": "eth1", "type": "ethernet", "state": "up", "controller": "br1" },
            { "name": "eth2", "type": "ethernet", "state": "up" },
            { "name": "pod0", "type": "veth", "state": "up", "controller": "br1", "veth": { "peer": "pod1" } },
            { "name": "ovs0", "type": "ovs-bridge", "state": "up",
              "bridge": { "port": [{ "name": "ovs0" }, { "name": "vport0" },
                  { "name": "bond7", "link-aggregation": { "mode": "balance-slb", "port": [{ "name": "tap1" }, { "name": "tap2" }] } }] } },
            { "name": "ovs0", "type": "ovs-interface", "state": "up", "controller": "ovs0" },
            { "name": "vport0", "type": "ovs-interface", "state": "up", "controller": "ovs0" },
            { "name": "tap1", "type": "tun", "state": "up", "controller": "ovs0" },
            { "name": "tap2", "type": "tun", "state": "up", "controller": "ovs0" },
        ] });
        mark(&mut state, |port| matches!(port, "eth1" | "ovs0"));
        state
    }

    fn bridge(extra: &Value) -> Value {
        let mut bridge = json!({ "name": "br1", "type": "linux-bridge", "state": "up", "mtu": 1400,
            "bridge": { "port": [{ "name": "eth1" }] } });
        for (key, value) in extra.as_object().into_iter().flatten() {
            bridge["bridge"][key] = value.clone();
        }
        json!({ "interfaces": [bridge] })
    }

    fn switch(ports: &Value) -> Value {
        json!({ "interfaces": [{ "name": "ovs0", "type": "ovs-bridge", "state": "up", "bridge": { "port": ports } }] })
    }

    fn planned(desired: &Value) -> Plan {
        plan(desired, &host(), &Facts { ovs_running: true, ..Facts::default() }).unwrap()
    }

    fn touched(plan: &Plan) -> Vec<&str> {
        plan.touched.iter().map(|name| name.as_str()).collect()
    }

    #[test]
    fn undeclared_foreign_ports_stay() {
        assert_eq!(touched(&planned(&bridge(&json!({})))), ["br1"]);
        assert!(planned(&switch(&json!([{ "name": "ovs0" }]))).is_empty());
        assert_eq!(differences(&switch(&json!([{ "name": "ovs0" }])), &host()), []);
    }

    #[test]
    fn ports_of_networkmanager_still_leave() {
        let plan = planned(&bridge(&json!({ "port": [{ "name": "eth2" }] })));
        assert_eq!(touched(&plan), ["br1", "eth1", "eth2"]);
    }

    #[test]
    fn a_port_that_others_attach_during_the_change_is_none_of_its_failures() {
        let mut before = host();
        before["interfaces"][0]["bridge"]["port"] = json!([{ "name": "eth1" }]);
        before["interfaces"].as_array_mut().unwrap().retain(|i| i["name"] != "pod0");
        let mut after = host();
        after["interfaces"][0]["mtu"] = 1400.into();
        assert_eq!(verify(&bridge(&json!({})), &before, &after), []);
    }

    #[test]
    fn one_that_came_later_is_known_like_the_others() {
        let mut host = host();
        for _ in 0..2 {
            add(&mut host, "pod2", "br1");
        }
        let plan = Plan { touched: ["br1".into(), "ovs0".into()].into(), ..Plan::default() };
        let ports: Vec<String> = of_touched_bridges(&plan, &host).into_iter().map(|(port, _)| port).collect();
        assert_eq!(ports, ["pod0", "pod2"]);
    }

    #[test]
    fn explicit_words_remove_them() {
        let strict = planned(&bridge(&json!({ "allow-extra-ports": false })));
        assert_eq!(touched(&strict), ["br1", "pod0"]);
        let mut absent = bridge(&json!({}));
        absent["interfaces"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "name": "pod0", "type": "veth", "state": "absent" }));
        assert!(touched(&planned(&absent)).contains(&"pod0"));
        let mut moved = bridge(&json!({}));
        moved["interfaces"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "name": "br2", "type": "linux-bridge", "state": "up",
            "bridge": { "port": [{ "name": "pod0" }] } }));
        let plan = planned(&moved);
        assert!(touched(&plan).contains(&"pod0"));
    }

    #[test]
    fn networkmanager_has_no_part_in_their_removal() {
        let removed = |desired: &Value| {
            let Expelled { from_ovs, from_linux } = expelled(&planned(desired), desired, &host());
            (from_ovs.into_iter().collect::<Vec<_>>(), from_linux.into_iter().collect::<Vec<_>>())
        };
        let none = Vec::<String>::new();
        let mut strict = switch(&json!([{ "name": "ovs0" }]));
        strict["interfaces"][0]["bridge"]["allow-extra-ports"] = false.into();
        assert_eq!(removed(&strict), (vec!["bond7".into(), "vport0".into()], none.clone()));
        let absent =
            json!({ "interfaces": [{ "name": "vport0", "type": "ovs-interface", "state": "absent" }] });
        assert_eq!(removed(&absent), (vec!["vport0".into()], none.clone()));
        assert_eq!(
            removed(&bridge(&json!({ "allow-extra-ports": false }))),
            (none.clone(), vec!["pod0".into()])
        );
        assert_eq!(removed(&bridge(&json!({}))), (none.clone(), none));
    }

    #[test]
    fn those_that_stay_are_known() {
        let staying = |desired: &Value| staying(&planned(desired), desired, &host());
        assert_eq!(staying(&bridge(&json!({}))), [("pod0".to_owned(), "br1".to_owned())]);
        assert!(staying(&bridge(&json!({ "allow-extra-ports": false }))).is_empty());
        let absent = json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "absent" }] });
        assert!(staying(&absent).is_empty());
    }

    #[test]
    fn nmstate_is_told_to_leave_them() {
        let state = applicable(&bridge(&json!({})), &host());
        assert_eq!(state["interfaces"][0]["bridge"]["allow-extra-ports"], true, "whatever comes meanwhile");
        let state = applicable(&bridge(&json!({ "port": [{ "name": "eth2" }] })), &host());
        assert_eq!(state["interfaces"][0]["bridge"].get("allow-extra-ports"), None, "eth1 must leave");
        assert_eq!(state["interfaces"][1], json!({ "name": "pod0", "type": "veth", "state": "ignore" }));
        let strict = applicable(&bridge(&json!({ "allow-extra-ports": false })), &host());
        assert_eq!(
            strict["interfaces"][0]["bridge"]["allow-extra-ports"], true,
            "it would make a profile for it"
        );
    }

    #[test]
    fn a_revert_does_not_ask_for_them() {
        let desired = bridge(&json!({ "port": [{ "name": "eth1" }, { "name": "eth2" }] }));
        let back = inverse(&planned(&desired), &host(), &Facts { ovs_running: true, ..Facts::default() });
        let bridge = back["interfaces"].as_array().unwrap().iter().find(|i| i["name"] == "br1").unwrap();
        assert_eq!(bridge["bridge"]["port"], json!([{ "name": "eth1" }]));
    }

    #[test]
    fn marks_are_ours_alone() {
        let plain = unmarked(&host());
        assert!(!plain.to_string().contains(MARK));
        assert!(is_marked(&host()["interfaces"][3]) && !is_marked(&plain["interfaces"][3]));
        assert!(!is_marked(&host()["interfaces"][4]), "a bridge is no port");
    }
}
