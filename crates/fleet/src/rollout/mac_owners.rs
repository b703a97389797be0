//! Whose a MAC address is. Nodes report their NICs themselves, so one could claim the address of another and receive its part of a
//! policy: an address that several nodes claim matches none of them, and one that was matched stays with its node.

use std::collections::{BTreeMap, BTreeSet};

use linesman_api::policy::PolicySpec;

use super::facts::{NodeFacts, Situation};
use super::overlay::OverlayError;
use linesman_core::mac_address::MacAddress;

/// Of the addresses that the hosts of one policy are matched by.
#[derive(Debug, Default)]
pub struct MacOwners<'a> {
    /// The nodes that report it.
    claimed: BTreeMap<MacAddress, BTreeSet<&'a str>>,
    /// The node that an enactment was matched to by it, of any policy.
    matched: BTreeMap<MacAddress, BTreeSet<&'a str>>,
}

impl<'a> MacOwners<'a> {
    pub fn of(situation: &Situation<'a>) -> Self {
        let mut owners = Self::default();
        let wanted: BTreeSet<MacAddress> = addresses(&situation.policy.spec).collect();
        if wanted.is_empty() {
            return owners;
        }
        for node in &situation.nodes {
            for mac in node.macs.iter().filter(|mac| wanted.contains(*mac)) {
                owners.claimed.entry(mac.clone()).or_default().insert(&node.name);
            }
        }
        let there: BTreeSet<&str> = situation.nodes.iter().map(|node| node.name.as_str()).collect();
        for enactment in situation.enactments.iter().filter(|e| there.contains(e.node.as_str())) {
            let matched = enactment.spec.as_ref().and_then(|spec| spec.matched_mac.as_ref()?.parse().ok());
            if let Some(mac) = matched.filter(|mac| wanted.contains(mac)) {
                owners.matched.entry(mac).or_default().insert(&enactment.node);
            }
        }
        owners
    }

    /// Why this node is not matched by an address that it reports.
    pub fn dispute(&self, spec: &PolicySpec, node: &NodeFacts) -> Option<OverlayError> {
        let claimed = |mac: &MacAddress| node.macs.contains(mac);
        addresses(spec).filter(claimed).find_map(|mac| self.dispute_of(mac, &node.name))
    }

    fn dispute_of(&self, mac: MacAddress, node: &str) -> Option<OverlayError> {
        let matched = self.matched.get(&mac).into_iter().flatten().copied();
        let others: Vec<&str> = matched.filter(|owner| *owner != node).collect();
        if let [owner, ..] = others[..] {
            return Some(OverlayError::MacTaken { mac, owner: owner.into() });
        }
        let is_matched = self.matched.contains_key(&mac);
        let others = self.claimed.get(&mac).into_iter().flatten().filter(|other| **other != node);
        let others: Vec<String> = others.map(ToString::to_string).collect();
        (!is_matched && !others.is_empty())
            .then_some(OverlayError::MacShared { mac, others: others.join(", ") })
    }
}

fn addresses(spec: &PolicySpec) -> impl Iterator<Item = MacAddress> {
    spec.hosts.iter().filter_map(|host| host.matching.mac_address.as_ref()?.parse().ok())
}

/// The address by which a host of the policy matches this node.
pub fn matched_mac(spec: &PolicySpec, node: &NodeFacts) -> Option<MacAddress> {
    addresses(spec).find(|mac| node.macs.contains(mac))
}

#[cfg(test)]
mod tests {
    use linesman_api::enactment::EnactmentSpec;
    use linesman_api::time::Time;
    use serde_json::json;

    use super::super::facts::{EnactmentFacts, PolicyFacts, Settings};
    use super::*;

    const MAC: &str = "52:54:00:00:00:01";

    fn node(name: &str) -> NodeFacts {
        NodeFacts { name: name.into(), macs: [MAC.parse().unwrap()].into(), ..NodeFacts::default() }
    }

    /// What keeps each of these nodes, which all report the address, from being matched by it.
    fn disputes(names: &[&str], matched: Option<&str>) -> Vec<Option<String>> {
        let spec = json!({ "hosts": [{ "match": { "macAddress": MAC }, "desiredState": {} }] });
        let policy = PolicyFacts { spec: serde_json::from_value(spec).unwrap(), ..PolicyFacts::default() };
        let nodes: Vec<NodeFacts> = names.iter().map(|name| node(name)).collect();
        let enactments: Vec<EnactmentFacts> = matched
            .into_iter()
            .map(|node| EnactmentFacts {
                node: node.into(),
                spec: Some(EnactmentSpec { matched_mac: Some(MAC.into()), ..EnactmentSpec::default() }),
                ..EnactmentFacts::default()
            })
            .collect();
        let situation = Situation {
            policy: &policy,
            policies: vec![&policy],
            nodes: nodes.iter().collect(),
            enactments: enactments.iter().collect(),
            set_aside: BTreeMap::new(),
            unavailable: Default::default(),
            settings: Settings::default(),
            now: Time(0),
        };
        let owners = MacOwners::of(&situation);
        nodes.iter().map(|node| owners.dispute(&policy.spec, node).map(|error| error.to_string())).collect()
    }

    #[test]
    fn an_address_that_several_nodes_report_matches_none_of_them() {
        assert_eq!(disputes(&["w1"], None), [None]);
        let shared = disputes(&["w1", "w2"], None);
        assert!(shared.iter().all(Option::is_some), "{shared:?}");
        assert!(shared[0].as_ref().unwrap().contains("w2"), "{shared:?}");
    }

    #[test]
    fn an_address_that_was_matched_stays_with_its_node() {
        let [owner, other] = &disputes(&["w1", "w2"], Some("w1"))[..] else { panic!() };
        assert_eq!(*owner, None);
        assert!(other.as_ref().unwrap().contains("belongs to node w1"), "{other:?}");
        assert!(disputes(&["w2"], Some("gone")).iter().all(Option::is_none), "its node was deleted");
    }
}
