//! What a change itself makes slow on the path by which the host is reached: probes are given so much longer, unless
//! somebody says how long.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Plan;
use crate::compare::View;
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

/// Of a change that touches the path by which the host is reached; others slow nobody down.
pub(super) fn find(view: &View<'_>, plan: &Plan) -> Vec<Slow> {
    if plan.impact != Impact::OwnPath {
        return Vec::new();
    }
    let declared = interfaces(view.desired).iter().filter(|declared| !state::is_absent(declared));
    let touched =
        declared.filter(|declared| plan.touched.iter().any(|name| **name == *state::name(declared)));
    touched.flat_map(|declared| of_interface(declared, view)).collect()
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
    let is_bridge =
        state::kind(declared) == InterfaceKind::LinuxBridge || state::kind(now) == InterfaceKind::LinuxBridge;
    let ports = state::ports(declared).or_else(|| state::ports(now)).unwrap_or_default();
    // NetworkManager turns it on for a new bridge of which nobody says anything else.
    let is_on = stp("enabled").map_or(now.is_null(), |enabled| *enabled == true);
    (is_bridge && is_on && !ports.is_empty())
        .then(|| 2 * stp("forward-delay").and_then(Value::as_u64).unwrap_or(FORWARD_DELAY))
}

fn lacp(declared: &Value, now: &Value) -> Option<u64> {
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
    fn a_lease_that_is_there_is_kept() {
        let by =
            |dhcp: bool| json!({ "name": "eth0", "state": "up", "ipv4": { "enabled": true, "dhcp": dhcp } });
        assert!(is_leased_anew(&by(true), &by(false)) && is_leased_anew(&by(true), &Value::Null));
        assert!(!is_leased_anew(&by(true), &by(true)) && !is_leased_anew(&by(false), &by(true)));
    }
}
