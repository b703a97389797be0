//! The kernel lets no VLAN or MAC-VLAN have a larger MTU than its base, and gives the ports of a bond the bond's, and IPVLANs
//! their base's: who declares one of them declares the others. Written into the document, so that the plan shows it, profiles
//! hold it and it is verified.

use serde_json::{Value, json};

use crate::compare::View;
use crate::facts::Facts;
use crate::interface_kind::InterfaceKind;
use crate::state::{self, interfaces, is_up, kind, name};

/// `desired` with the MTUs that follow from it, of interfaces that have a profile on disk: what others made, they keep.
pub(super) fn with_followers(desired: &Value, observed: &Value, facts: &Facts) -> Value {
    let view = View::new(desired, observed, observed);
    let declared = view.declared.iter().filter(|declared| is_up(&declared.want));
    let mut lead: Vec<(String, u64)> =
        declared.filter_map(|d| Some((name(&d.want).to_owned(), mtu(&d.want)?))).collect();
    let mut document = desired.clone();
    while let Some((leader, mtu)) = lead.pop() {
        for follower in followers(&view, &leader, mtu) {
            if is_ours(follower, facts) && add(&mut document, &view, follower, mtu) {
                lead.push((name(follower).to_owned(), mtu));
            }
        }
    }
    document
}

fn mtu(interface: &Value) -> Option<u64> {
    interface.get("mtu").and_then(Value::as_u64)
}

/// What stands on `leader` and follows it; and the ports that a bond has and keeps.
fn followers<'v>(view: &'v View<'_>, leader: &'v str, wanted: u64) -> impl Iterator<Item = &'v Value> {
    let bond = view.now(leader, InterfaceKind::Bond).filter(|now| kind(now) == InterfaceKind::Bond);
    let had = bond.and_then(state::ports).unwrap_or_default();
    let keeps = view.declares(leader).and_then(state::ports);
    let keeps: Option<Vec<&str>> =
        keeps.map(|ports| ports.into_iter().map(|port| view.device(port)).collect());
    interfaces(view.observed).iter().filter(move |candidate| {
        let is_port = had.contains(&name(candidate))
            && keeps.as_ref().is_none_or(|ports| ports.contains(&name(candidate)));
        let section = state::base(candidate).filter(|(_, base)| *base == leader).map(|(section, _)| section);
        let is_lowered = matches!(section, Some("vlan" | "mac-vlan" | "mac-vtap"));
        let is_given = is_port || section == Some("ipvlan");
        is_up(candidate)
            && mtu(candidate).is_some_and(|now| (is_given && now != wanted) || (is_lowered && now > wanted))
    })
}

fn is_ours(interface: &Value, facts: &Facts) -> bool {
    facts
        .profiles
        .iter()
        .any(|profile| profile.on_disk && profile.active_on.as_deref() == Some(name(interface)))
}

/// False if the document states an MTU of its own, which is judged elsewhere, or takes the interface away.
fn add(document: &mut Value, view: &View<'_>, follower: &Value, mtu: u64) -> bool {
    let Some(entries) = document.get_mut("interfaces").and_then(Value::as_array_mut) else { return false };
    let is_meant =
        |entry: &&mut Value| view.device(name(entry)) == name(follower) && !kind(entry).is_userspace();
    match entries.iter_mut().find(is_meant) {
        Some(entry) if is_up(entry) && entry.get("mtu").is_none_or(Value::is_null) => {
            entry["mtu"] = mtu.into()
        }
        Some(_) => return false,
        None => {
            entries.push(json!({"name": name(follower), "type": kind(follower), "state": "up", "mtu": mtu}))
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ProfileFact;
    use crate::plan::plan;

    fn host() -> Value {
        json!({ "interfaces": [
            { "name": "eth1", "type": "ethernet", "state": "up", "mtu": 9000, "controller": "bond0" },
            { "name": "eth2", "type": "ethernet", "state": "up", "mtu": 9000, "controller": "bond0" },
            { "name": "bond0", "type": "bond", "state": "up", "mtu": 9000,
              "link-aggregation": { "mode": "active-backup", "port": ["eth1", "eth2"] } },
            { "name": "storage", "type": "vlan", "state": "up", "mtu": 9000, "vlan": { "base-iface": "bond0", "id": 5 } },
            { "name": "small", "type": "vlan", "state": "up", "mtu": 1280, "vlan": { "base-iface": "bond0", "id": 6 } },
            { "name": "theirs", "type": "vlan", "state": "up", "mtu": 9000, "vlan": { "base-iface": "bond0", "id": 7 } },
            { "name": "guests", "type": "mac-vlan", "state": "up", "mtu": 9000,
              "mac-vlan": { "base-iface": "storage", "mode": "bridge" } } ] })
    }

    fn facts() -> Facts {
        let named = |name: &str| ProfileFact {
            interface: Some(name.into()),
            active_on: Some(name.into()),
            on_disk: true,
            autoconnect: true,
            ..ProfileFact::default()
        };
        let profiles = ["eth1", "eth2", "bond0", "storage", "small", "guests"].map(named).to_vec();
        Facts { profiles, ..Facts::default() }
    }

    fn followed(desired: &Value) -> Vec<(String, u64)> {
        let filled = with_followers(desired, &host(), &facts());
        let all = interfaces(&filled).iter();
        all.filter_map(|entry| Some((name(entry).to_owned(), mtu(entry)?))).collect()
    }

    fn bond(mtu: u64) -> Value {
        json!({ "name": "bond0", "type": "bond", "state": "up", "mtu": mtu })
    }

    #[test]
    fn a_lower_bond_lowers_its_ports_and_what_stands_on_it() {
        let desired = json!({ "interfaces": [bond(1400)] });
        let names: Vec<String> =
            followed(&desired).into_iter().map(|(name, mtu)| format!("{name} {mtu}")).collect();
        assert_eq!(names, ["bond0 1400", "eth1 1400", "eth2 1400", "storage 1400", "guests 1400"]);
        let filled = with_followers(&desired, &host(), &facts());
        let text = plan(&filled, &host(), &facts()).unwrap().render(false);
        assert!(text.contains("~ vlan storage\n    ~ mtu: 9000 -> 1400"), "{text}");
    }

    #[test]
    fn a_higher_bond_raises_its_ports_alone() {
        assert_eq!(followed(&json!({ "interfaces": [bond(9200)] })).len(), 3);
    }

    #[test]
    fn an_ipvlan_has_the_mtu_of_its_base() {
        let mut observed = host();
        observed["interfaces"].as_array_mut().unwrap().push(json!({ "name": "guests", "type": "ipvlan",
            "state": "up", "mtu": 9000, "ipvlan": { "base-iface": "bond0", "mode": "l2" } }));
        for mtu in [1400, 9100] {
            let filled = with_followers(&json!({ "interfaces": [bond(mtu)] }), &observed, &facts());
            let guests =
                interfaces(&filled).iter().find(|i| name(i) == "guests" && kind(i) == InterfaceKind::Ipvlan);
            assert_eq!(guests.map(|i| i["mtu"].clone()), Some(json!(mtu)));
        }
    }

    #[test]
    fn what_a_document_states_or_removes_is_left_to_it() {
        let gone = json!({ "name": "storage", "type": "vlan", "state": "absent" });
        let same = json!({ "name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400 });
        let desired = json!({ "interfaces": [bond(1400), gone, same] });
        let names: Vec<String> = followed(&desired).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["bond0", "eth1", "eth2"]);
        let too_large = json!({ "interfaces": [bond(1400), { "name": "storage", "type": "vlan", "state": "up", "mtu": 9000 }] });
        let filled = with_followers(&too_large, &host(), &facts());
        assert!(plan(&filled, &host(), &facts()).is_err());
    }

    #[test]
    fn a_port_that_leaves_the_bond_keeps_its_own() {
        let desired = json!({ "interfaces": [{ "name": "bond0", "type": "bond", "state": "up", "mtu": 9200,
            "link-aggregation": { "mode": "active-backup", "port": ["eth1"] } }] });
        assert_eq!(
            followed(&desired).into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["bond0", "eth1"]
        );
    }
}
