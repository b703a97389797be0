//! The network of a node, as its NodeNetworkState has it.

use std::collections::BTreeSet;

use linesman_api::condition::{Condition, Truth, dated};
use linesman_api::conditions::NodeStateCondition::{Available, Failing};
use linesman_api::node_state::{FirstBootStatus, NodeStateStatus};
use linesman_api::reasons::NodeStateReason::SuccessfullyConfigured;
use linesman_api::time::Time;
use serde_json::Value;

use super::glob::Glob;
use super::{volatile, within};
use linesman_core::foreign_port;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::secrets::mask_value;
use linesman_core::state;

/// etcd takes 1.5 MB per object; the rest is for managed fields, which name every key.
pub const BUDGET: usize = 1_000_000;

#[derive(Debug, Clone, PartialEq)]
pub struct NodeStateReport {
    pub state: Value,
    /// What is left out, in words.
    pub omitted: Vec<String>,
}

/// What an agent says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFacts {
    pub network_manager: Option<String>,
    pub nmstate: Option<String>,
    /// Its public key.
    pub sealing_key: Option<String>,
    /// Of the document that the node was installed with.
    pub first_boot: Option<FirstBootStatus>,
}

/// What was seen, without what nobody should or would read.
pub fn report(seen: &Value, filter: &[Glob], budget: usize) -> NodeStateReport {
    let mut state = seen.clone();
    volatile::settle(&mut state);
    mask_value(&mut state);
    let mut omitted: Vec<String> = filtered(&mut state, filter).into_iter().collect();
    omitted.extend(within::cut(&mut state, budget));
    NodeStateReport { state, omitted }
}

/// Pods' ends of veth pairs come and go by the hundred; what the filter names is left out, too, and routes through them.
fn filtered(state: &mut Value, filter: &[Glob]) -> Option<String> {
    let pods = |i: &Value| {
        let others = state::condition(i) == "ignore" || foreign_port::is_marked(i) || half_seen(i);
        state::kind(i) == InterfaceKind::Veth && others
    };
    let named = |i: &Value| filter.iter().any(|glob| glob.matches(state::name(i)));
    let names = |wanted: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
        state::interfaces(state).iter().filter(|i| wanted(i)).map(|i| state::name(i).to_string()).collect()
    };
    let (of_pods, by_filter) = (names(&pods), names(&named));
    let gone = |name: &str| of_pods.contains(name) || by_filter.contains(name);
    if let Some(interfaces) = state.get_mut("interfaces").and_then(Value::as_array_mut) {
        interfaces.retain(|i| !pods(i) && !named(i));
        interfaces.iter_mut().for_each(foreign_port::unmark);
    }
    for list in ["running", "config"] {
        let routes = state.get_mut("routes").and_then(|routes| routes.get_mut(list)?.as_array_mut());
        if let Some(routes) = routes {
            routes.retain(|route| !state::text(route, "next-hop-interface").is_some_and(gone));
        }
    }
    // How many they are changes with every Pod, and would be news each time.
    let globs: Vec<String> = filter.iter().map(ToString::to_string).collect();
    (!globs.is_empty()).then(|| format!("interfaces that match the filter: {}", globs.join(", ")))
}

/// Known only from the kernel so far; its owner follows when NetworkManager was asked.
fn half_seen(interface: &Value) -> bool {
    interface.get("ipv4").is_some_and(|ipv4| ipv4.get("enabled").is_none())
}

/// The status to write; none when it would be the same.
pub fn update(
    old: Option<&NodeStateStatus>,
    report: NodeStateReport,
    facts: &AgentFacts,
    now: Time,
) -> Option<NodeStateStatus> {
    let known = old.map(|old| old.conditions.as_slice()).unwrap_or_default();
    let conditions = vec![
        Condition::new(Available, Truth::True, SuccessfullyConfigured, ""),
        Condition::new(Failing, Truth::False, SuccessfullyConfigured, ""),
    ];
    let new = NodeStateStatus {
        current_state: Some(report.state),
        omitted: report.omitted,
        last_successful_update_time: old.and_then(|old| old.last_successful_update_time),
        host_network_manager_version: facts.network_manager.clone(),
        handler_nmstate_version: facts.nmstate.clone(),
        handler_network_manager_version: None,
        sealing_key: facts.sealing_key.clone(),
        first_boot: facts.first_boot.clone(),
        conditions: dated(known, conditions, now),
    };
    let news = old != Some(&new);
    news.then(|| NodeStateStatus { last_successful_update_time: Some(now), ..new })
}
