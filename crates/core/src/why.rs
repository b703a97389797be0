//! Which policy set what on an interface, and whether it is so. Pure.

use serde::Serialize;
use serde_json::Value;

use crate::compose::about;
use crate::path::Path;
use crate::policy::Policy;
use crate::secrets::shown;
use crate::state;
use crate::verify::verify;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    pub interface: String,
    pub exists: bool,
    /// What it is, in a few words.
    pub summary: String,
    pub claims: Vec<Claim>,
    /// What other policies build on it.
    pub users: Vec<String>,
}

/// One thing that a policy says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    pub policy: String,
    pub path: String,
    pub wants: Value,
    /// What is there instead; absent where it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
}

/// `asked` is an interface, or one of its properties: `br1.ipv4.address`. A name may itself have dots (`eth0.7`): the
/// longest one that is known counts.
pub fn why(asked: &str, kept: &[Policy], observed: &Value) -> Answer {
    let known = |name: &str| {
        let named = |state: &Value| state::interfaces(state).iter().any(|i| state::name(i) == name);
        named(observed) || kept.iter().any(|p| named(&p.state))
    };
    let cuts = asked.match_indices('.').map(|(at, _)| at).rev();
    let cut = if known(asked) { None } else { cuts.into_iter().find(|at| known(&asked[..*at])) };
    let (interface, property) = match cut {
        Some(at) => (&asked[..at], &asked[at + 1..]),
        None => (asked, ""),
    };
    let there = state::interfaces(observed).iter().find(|i| state::name(i) == interface);
    let mut claims: Vec<Claim> = kept.iter().flat_map(|p| of_policy(p, interface, observed)).collect();
    claims.retain(|claim| property.is_empty() || claim.path.starts_with(property));
    Answer {
        interface: interface.into(),
        exists: there.is_some(),
        summary: there.map(summary).unwrap_or_default(),
        claims,
        users: kept.iter().flat_map(|p| users(p, interface)).collect(),
    }
}

fn summary(interface: &Value) -> String {
    let addresses: Vec<String> = state::addresses(interface).map(|address| address.to_string()).collect();
    let addresses = if addresses.is_empty() { String::new() } else { format!(", {}", addresses.join(" ")) };
    format!("({}) is {}{addresses}", state::kind(interface), state::condition(interface))
}

fn of_policy(policy: &Policy, interface: &str, observed: &Value) -> Vec<Claim> {
    let part = about(&policy.state, interface);
    let wrong = verify(&part, observed, observed);
    let mut claims = Vec::new();
    for entry in state::interfaces(&part) {
        leaves(&Path::root(), entry, &mut |path, wants| {
            let whole = Path::interface(interface).to_string();
            let full = format!("{whole}.{path}");
            let found = wrong.iter().find(|d| {
                let place = d.path.to_string();
                place == full || place == whole || place.starts_with(&format!("{full}["))
            });
            claims.push(Claim {
                policy: policy.name.clone(),
                path: path.to_string(),
                wants: shown(path, wants),
                found: found.map(|d| shown(path, &d.got)),
            });
        });
    }
    for route in state::list(&part, &["routes", "config"]) {
        let found = wrong.iter().find(|d| d.path.to_string().starts_with("routes") && d.want == *route);
        let via = state::text(route, "next-hop-address").unwrap_or("the link");
        claims.push(Claim {
            policy: policy.name.clone(),
            path: format!("route {}", state::text(route, "destination").unwrap_or("?")),
            wants: format!("via {via}").into(),
            found: found.map(|d| d.got.clone()),
        });
    }
    claims
}

/// Every single value, lists as a whole.
fn leaves(path: &Path, value: &Value, visit: &mut dyn FnMut(&Path, &Value)) {
    match value {
        Value::Null => {}
        Value::Object(map) => {
            for (key, value) in map {
                if !(path.is_root() && key == "name") {
                    leaves(&path.key(key), value, visit);
                }
            }
        }
        leaf => visit(path, leaf),
    }
}

fn users(policy: &Policy, interface: &str) -> Vec<String> {
    let by = |how: &str, i: &Value| format!("{} as its {how} (policy {})", state::name(i), policy.name);
    let interfaces = state::interfaces(&policy.state).iter().filter(|i| !state::is_absent(i));
    let mut users = Vec::new();
    for other in interfaces.filter(|i| state::name(i) != interface) {
        if state::ports(other).is_some_and(|ports| ports.contains(&interface)) {
            users.push(by("port", other));
        }
        if state::base(other).is_some_and(|(_, base)| base == interface) {
            users.push(by("base", other));
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy(name: &str, state: Value) -> Policy {
        Policy { name: name.into(), state, capture: None, options: crate::policy::Options::default() }
    }

    fn kept() -> Vec<Policy> {
        vec![
            policy(
                "storage",
                json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up", "mtu": 9000 }] }),
            ),
            policy(
                "vlans",
                json!({ "interfaces": [{ "name": "br1.7", "type": "vlan", "vlan": { "base-iface": "br1", "id": 7 } }] }),
            ),
        ]
    }

    fn observed() -> Value {
        json!({ "interfaces": [{ "name": "br1", "type": "linux-bridge", "state": "up", "mtu": 1500,
            "ipv4": { "enabled": true, "address": [{ "ip": "10.0.0.1", "prefix-length": 24 }] } }] })
    }

    #[test]
    fn shows_which_policy_set_a_property_and_whether_it_is_in_sync() {
        let answer = why("br1", &kept(), &observed());
        assert_eq!(answer.summary, "(linux-bridge) is up, 10.0.0.1/24");
        let mtu = answer.claims.iter().find(|c| c.path == "mtu").unwrap();
        assert_eq!((mtu.policy.as_str(), mtu.found.clone()), ("storage", Some(json!(1500))));
        assert_eq!(answer.claims.iter().find(|c| c.path == "type").unwrap().found, None);
        assert_eq!(answer.users, ["br1.7 as its base (policy vlans)"]);
    }

    #[test]
    fn a_property_and_a_name_with_a_dot_are_distinguished() {
        assert_eq!(why("br1.mtu", &kept(), &observed()).claims.len(), 1);
        let vlan = why("br1.7", &kept(), &observed());
        assert_eq!((vlan.interface.as_str(), vlan.exists), ("br1.7", false));
        assert_eq!(why("br1.7.vlan.id", &kept(), &observed()).claims.len(), 1);
        assert!(why("eth9", &kept(), &observed()).claims.is_empty());
    }
}
