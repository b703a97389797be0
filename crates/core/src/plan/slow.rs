//! What a change itself makes slow: probes are given so much longer, unless somebody says how long, and so are addresses
//! that wait for a link.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Plan;
use crate::compare::{Difference, View};
use crate::impact::Impact;
use crate::interface_kind::InterfaceKind;
use crate::interface_name::InterfaceName;
use crate::state::{self, at, flag, interfaces, name, text};

/// The kernel's own, in seconds.
const FORWARD_DELAY: u64 = 15;
/// What NetworkManager, the server and its relays usually take at worst.
const LEASE: u64 = 15;
/// A partner that sends every 30 seconds is heard within that time; one that sends every second, sooner.
const LACP_SLOW: u64 = 30;
const LACP_FAST: u64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowCause {
    SpanningTree,
    Lacp,
    Dhcp,
}

/// An interface that carries traffic only some time after it is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow {
    pub interface: InterfaceName,
    pub cause: SlowCause,
    pub seconds: u64,
}

/// A change that does not touch the path by which the host is reached slows no probe down; addresses on a bond wait for
/// its partner all the same.
pub(super) fn find(view: &View<'_>, plan: &Plan) -> Vec<Slow> {
    let counts = |slow: &Slow| plan.impact == Impact::OwnPath || slow.cause == SlowCause::Lacp;
    let declared = interfaces(view.desired).iter().filter(|declared| !state::is_absent(declared));
    let touched =
        declared.filter(|declared| plan.touched.iter().any(|name| **name == *state::name(declared)));
    touched.flat_map(|declared| of_interface(declared, view)).filter(counts).collect()
}

impl Plan {
    /// All that is missing after this change may come once a bond has agreed with its partner.
    pub fn awaits_partner(&self, missing: &[Difference]) -> bool {
        self.slow.iter().any(|slow| slow.cause == SlowCause::Lacp) && are_addresses(missing)
    }
}

/// How long all that is missing of this state may take to come, if a bond has to agree with its partner first.
pub fn partner_within(state: &Value, missing: &[Difference]) -> Option<Duration> {
    let longest = interfaces(state).iter().filter_map(|interface| lacp(interface, &Value::Null)).max();
    longest.filter(|_| are_addresses(missing)).map(Duration::from_secs)
}

/// Until a bond has agreed with its partner, it may drop what is sent, and NetworkManager, which first asks whether somebody
/// else has an IPv4 address, cannot ask.
fn are_addresses(missing: &[Difference]) -> bool {
    let is_address = |difference: &Difference| {
        let path = difference.path.to_string();
        difference.got.is_null() && path.starts_with("interfaces[") && path.contains("].ipv4.address")
    };
    !missing.is_empty() && missing.iter().all(is_address)
}

/// They come one after the other: first the link, then the bridge, then the lease.
pub(super) fn longer(slow: &[Slow]) -> Duration {
    let most = |cause| slow.iter().filter(|one| one.cause == cause).map(|one| one.seconds).max().unwrap_or(0);
    let causes = [SlowCause::Lacp, SlowCause::SpanningTree, SlowCause::Dhcp];
    Duration::from_secs(causes.into_iter().map(most).sum())
}

fn of_interface(declared: &Value, view: &View<'_>) -> Vec<Slow> {
    let now = view.now(name(declared), state::kind(declared)).unwrap_or(&Value::Null);
    let found = [
        spanning_tree(declared, now).map(|seconds| (SlowCause::SpanningTree, seconds)),
        lacp(declared, now).map(|seconds| (SlowCause::Lacp, seconds)),
        is_leased_anew(declared, now).then_some((SlowCause::Dhcp, LEASE)),
    ];
    let slow = |(cause, seconds)| Slow { interface: InterfaceName::from(name(declared)), cause, seconds };
    found.into_iter().flatten().map(slow).collect()
}

/// As declared, else as it is.
fn either<'a>(declared: &'a Value, now: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    at(declared, keys).filter(|value| !value.is_null()).or_else(|| at(now, keys))
}

/// A port listens, then learns, for the forward delay each.
fn spanning_tree(declared: &Value, now: &Value) -> Option<u64> {
    let stp = |key| either(declared, now, &["bridge", "options", "stp", key]);
    let is = |kind| state::kind(declared) == kind || state::kind(now) == kind;
    let is_bridge = is(InterfaceKind::LinuxBridge) || is(InterfaceKind::OvsBridge);
    let ports = state::ports(declared).or_else(|| state::ports(now)).unwrap_or_default();
    // NetworkManager turns it on for a new bridge of the kernel of which nobody says anything else.
    let by_default = now.is_null() && is(InterfaceKind::LinuxBridge);
    let is_on = stp("enabled").map_or(by_default, |enabled| *enabled == true);
    (is_bridge && is_on && !ports.is_empty())
        .then(|| 2 * stp("forward-delay").and_then(Value::as_u64).unwrap_or(FORWARD_DELAY))
}

fn lacp(declared: &Value, now: &Value) -> Option<u64> {
    if let Some(ports) = at(declared, &["bridge", "port"]).and_then(Value::as_array) {
        let is_lacp =
            |port: &Value| at(port, &["link-aggregation", "mode"]).is_some_and(|mode| mode == "lacp");
        return ports.iter().any(is_lacp).then_some(LACP_SLOW);
    }
    let mode = either(declared, now, &["link-aggregation", "mode"]).and_then(Value::as_str)?;
    let rate = either(declared, now, &["link-aggregation", "options", "lacp_rate"]);
    let is_fast = rate.is_some_and(|rate| rate == "fast" || *rate == 1 || rate == "1");
    matches!(mode, "802.3ad" | "4").then_some(if is_fast { LACP_FAST } else { LACP_SLOW })
}

/// It gets addresses from a server that it did not get before.
fn is_leased_anew(declared: &Value, now: &Value) -> bool {
    let asks = |interface: &Value, family: &str| {
        at(interface, &[family])
            .is_some_and(|ip| flag(ip, "enabled") != Some(false) && flag(ip, "dhcp") == Some(true))
    };
    let is_up = text(declared, "state").is_none_or(|state| state == "up");
    is_up && ["ipv4", "ipv6"].iter().any(|family| asks(declared, family) && !asks(now, family))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::path::Path;

    fn bridge(stp: Value, ports: &[&str]) -> Value {
        let ports: Vec<Value> = ports.iter().map(|port| json!({ "name": port })).collect();
        json!({ "name": "br1", "type": "linux-bridge", "state": "up", "bridge": { "options": { "stp": stp }, "port": ports } })
    }

    #[test]
    fn a_bridge_forwards_after_twice_its_delay() {
        let of = |stp, ports: &[&str]| spanning_tree(&bridge(stp, ports), &Value::Null);
        assert_eq!(of(json!({ "enabled": true }), &["eth0"]), Some(30));
        assert_eq!(of(json!({ "enabled": true, "forward-delay": 4 }), &["eth0"]), Some(8));
        assert_eq!(of(json!({ "enabled": true }), &[]), None, "nothing is behind it");
        assert_eq!(of(json!({ "enabled": false }), &["eth0"]), None);
        assert_eq!(of(json!({}), &["eth0"]), Some(30), "NetworkManager's default");
        let mtu = json!({ "name": "br1", "type": "linux-bridge", "state": "up", "mtu": 1400 });
        assert_eq!(spanning_tree(&mtu, &bridge(json!({ "enabled": true }), &["eth0"])), Some(30), "as it is");
    }

    #[test]
    fn open_vswitch_is_slow_where_it_is_asked_to_be() {
        let bridge = |stp: Value, mode: &str| {
            json!({ "name": "br1", "type": "ovs-bridge", "state": "up", "bridge": {
                "options": { "stp": stp },
                "port": [{ "name": "bond1", "link-aggregation": { "mode": mode, "port": [{ "name": "eth0" }] } }],
            } })
        };
        let on = bridge(json!({ "enabled": true }), "lacp");
        assert_eq!((spanning_tree(&on, &Value::Null), lacp(&on, &Value::Null)), (Some(30), Some(30)));
        let off = bridge(Value::Null, "active-backup");
        assert_eq!((spanning_tree(&off, &Value::Null), lacp(&off, &Value::Null)), (None, None));
    }

    #[test]
    fn what_comes_one_after_the_other_adds_up() {
        let slow = |cause, seconds| Slow { interface: InterfaceName::from("x"), cause, seconds };
        let all = [
            slow(SlowCause::SpanningTree, 30),
            slow(SlowCause::SpanningTree, 8),
            slow(SlowCause::Dhcp, 15),
            slow(SlowCause::Lacp, 3),
        ];
        assert_eq!(longer(&all).as_secs(), 48);
        assert_eq!(longer(&[]).as_secs(), 0);
    }

    #[test]
    fn a_partner_that_sends_seldom_takes_longer() {
        let bond = |options: Value| json!({ "name": "b", "type": "bond", "link-aggregation": { "mode": "802.3ad", "options": options } });
        assert_eq!(lacp(&bond(json!({})), &Value::Null), Some(30));
        assert_eq!(lacp(&bond(json!({ "lacp_rate": "fast" })), &Value::Null), Some(3));
        assert_eq!(
            lacp(&json!({ "name": "b", "link-aggregation": { "mode": "active-backup" } }), &Value::Null),
            None
        );
    }

    #[test]
    fn only_addresses_are_waited_for_until_the_partner_agrees() {
        let missing = |keys: &[&str], got: Value| {
            let interface = Path::root().key("interfaces").item("bond0");
            let path = keys.iter().fold(interface, |path, key| path.key(*key));
            Difference { path, want: json!("x"), got }
        };
        let address = missing(&["ipv4", "address"], Value::Null);
        let plan_with = |cause| Plan {
            slow: vec![Slow { interface: InterfaceName::from("bond0"), cause, seconds: 3 }],
            ..Plan::default()
        };
        let plan = plan_with(SlowCause::Lacp);
        assert!(plan.awaits_partner(std::slice::from_ref(&address)));
        assert!(!plan.awaits_partner(&[]));
        assert!(!plan.awaits_partner(&[address.clone(), missing(&["mtu"], json!(1500))]));
        assert!(!plan.awaits_partner(&[missing(&["ipv4", "address"], json!("other"))]));
        assert!(!plan.awaits_partner(&[missing(&["ipv6", "address"], Value::Null)]));
        assert!(!plan_with(SlowCause::Dhcp).awaits_partner(std::slice::from_ref(&address)));

        let state = |mode: &str| json!({ "interfaces": [{ "name": "bond0", "type": "bond", "link-aggregation": { "mode": mode } }] });
        let within = |mode: &str, missing: &[Difference]| partner_within(&state(mode), missing);
        assert_eq!(within("802.3ad", std::slice::from_ref(&address)), Some(Duration::from_secs(LACP_SLOW)));
        assert_eq!(within("802.3ad", &[]), None);
        assert_eq!(within("active-backup", &[address]), None);
    }

    #[test]
    fn a_lease_that_is_there_is_kept() {
        let by =
            |dhcp: bool| json!({ "name": "eth0", "state": "up", "ipv4": { "enabled": true, "dhcp": dhcp } });
        assert!(is_leased_anew(&by(true), &by(false)) && is_leased_anew(&by(true), &Value::Null));
        assert!(!is_leased_anew(&by(true), &by(true)) && !is_leased_anew(&by(false), &by(true)));
    }
}
