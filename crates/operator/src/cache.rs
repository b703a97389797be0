//! The cluster as the watches show it. Nothing else is put in, not even what this operator wrote itself: a claim that is seen here was
//! seen with all earlier ones, and decisions rely on that (docs/decisions/0013).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::IndexMap;
use linesman_api::policy::PolicyStatus;
use linesman_fleet::rollout::{EnactmentFacts, NodeFacts, PolicyFacts};

use crate::facts::{Agent, KnownNode, KnownPolicy, may_need_secrets};
use crate::reported_state::NodeReport;
use crate::watch::{Change, WatchEvent, Watched};

#[derive(Debug, Default)]
pub struct Cache {
    pub policies: IndexMap<String, PolicyFacts>,
    pub nodes: IndexMap<String, NodeFacts>,
    /// By the name of the object.
    pub enactments: IndexMap<String, EnactmentFacts>,
    /// Policies that cannot be read, by name: nothing is decided on them, and their enactments stay.
    pub unreadable: BTreeMap<String, UnreadablePolicy>,
    /// What writes to a policy need, beside what decisions need.
    pub policy_objects: HashMap<String, PolicyObject>,
    node_objects: HashMap<String, KnownNode>,
    agents: HashMap<String, Agent>,
    node_reports: HashMap<String, NodeReport>,
    /// Policies whose nodes may need Secrets.
    with_secrets: BTreeSet<String>,
    /// The newest versions that the watches have shown.
    pub latest: LatestVersions,
    /// Kinds of which the whole list is known.
    synced: BTreeSet<Watched>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyObject {
    pub version: String,
    pub finalizers: Vec<String>,
    pub status: PolicyStatus,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnreadablePolicy {
    /// Without a spec.
    pub facts: PolicyFacts,
    pub error: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LatestVersions {
    pub policies: u64,
    pub enactments: u64,
}

/// Whose rollout an event may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Affected {
    Nothing,
    /// This policy, and those that wait for it.
    Policy(String),
    AllPolicies,
}

impl Cache {
    pub fn apply(&mut self, event: WatchEvent) -> Affected {
        if event.is_list() {
            self.synced.insert(event.watched());
        }
        match event {
            WatchEvent::Policies(change) => self.apply_policy(change),
            WatchEvent::Enactments(change) => self.apply_enactment(change),
            WatchEvent::Nodes(change) => {
                let names = apply_to(&mut self.node_objects, change);
                self.update_nodes(names)
            }
            WatchEvent::Agents(change) => {
                let names = self.apply_agent(change);
                self.update_nodes(names)
            }
            WatchEvent::NodeStates(change) => {
                let names = apply_to(&mut self.node_reports, change);
                self.update_nodes(names)
            }
            // It is listed again. Until then nothing is decided: what is new of one kind and what is old of another, as
            // from before a restored backup, do not go together.
            WatchEvent::Failed { watched, .. } => {
                self.synced.remove(&watched);
                Affected::Nothing
            }
        }
    }

    /// Whether enough is known to decide anything.
    pub fn is_synced(&self) -> bool {
        let needed = |watched: &Watched| *watched != Watched::NodeStates || self.needs_node_states();
        Watched::ALL.iter().filter(|watched| needed(watched)).all(|watched| self.synced.contains(watched))
    }

    /// Whether any policy matches hosts by MAC address or refers to Secrets.
    pub fn needs_node_states(&self) -> bool {
        let by_mac =
            |policy: &PolicyFacts| policy.spec.hosts.iter().any(|host| host.matching.mac_address.is_some());
        !self.with_secrets.is_empty() || self.policies.values().any(by_mac)
    }

    /// NodeNetworkStates are not watched any more; what was known of them grows old.
    pub fn forget_node_states(&mut self) {
        self.synced.remove(&Watched::NodeStates);
        let names = self.node_reports.drain().map(|(name, _)| name).collect();
        self.update_nodes(names);
    }

    pub fn node_uid(&self, node: &str) -> Option<&str> {
        self.node_objects.get(node).map(|known| known.uid.as_str())
    }

    /// The policy by this name, whether or not its spec can be read.
    pub fn policy(&self, name: &str) -> Option<&PolicyFacts> {
        self.policies.get(name).or_else(|| self.unreadable.get(name).map(|unreadable| &unreadable.facts))
    }

    /// All of them.
    pub fn all_policies(&self) -> impl Iterator<Item = &PolicyFacts> {
        self.policies.values().chain(self.unreadable.values().map(|unreadable| &unreadable.facts))
    }

    fn apply_policy(&mut self, change: Change<KnownPolicy>) -> Affected {
        match change {
            Change::Put { name, version, object } => {
                self.latest.policies = self.latest.policies.max(version);
                if self.put_policy(&name, object) { Affected::AllPolicies } else { Affected::Policy(name) }
            }
            Change::Deleted { name, version } => {
                self.latest.policies = self.latest.policies.max(version);
                self.policies.swap_remove(&name);
                self.with_secrets.remove(&name);
                self.unreadable.remove(&name);
                self.policy_objects.remove(&name);
                Affected::AllPolicies
            }
            Change::Listed(all) => {
                self.latest.policies = newest(&all);
                self.policy_objects.clear();
                self.unreadable.clear();
                self.policies.clear();
                self.with_secrets.clear();
                for (name, _, object) in all {
                    self.put_policy(&name, object);
                }
                Affected::AllPolicies
            }
        }
    }

    /// Whether what decisions depend on changed.
    fn put_policy(&mut self, name: &str, known: KnownPolicy) -> bool {
        let KnownPolicy { facts, unreadable, version, finalizers, status } = known;
        self.policy_objects.insert(name.into(), PolicyObject { version, finalizers, status });
        self.with_secrets.remove(name);
        self.with_secrets.extend(may_need_secrets(&facts).then(|| name.to_owned()));
        match unreadable {
            Some(error) => {
                self.unreadable.insert(name.into(), UnreadablePolicy { facts, error });
                self.policies.swap_remove(name).is_some()
            }
            None => {
                self.unreadable.remove(name);
                put(&mut self.policies, name.into(), facts)
            }
        }
    }

    fn apply_enactment(&mut self, change: Change<EnactmentFacts>) -> Affected {
        match change {
            Change::Put { name, version, object } => {
                self.latest.enactments = self.latest.enactments.max(version);
                let policy = object.policy.clone();
                self.enactments.insert(name, object);
                Affected::Policy(policy)
            }
            Change::Deleted { name, version } => {
                self.latest.enactments = self.latest.enactments.max(version);
                let gone = self.enactments.swap_remove(&name);
                gone.map_or(Affected::Nothing, |gone| Affected::Policy(gone.policy))
            }
            Change::Listed(all) => {
                self.latest.enactments = newest(&all);
                self.enactments = all.into_iter().map(|(name, _, object)| (name, object)).collect();
                Affected::AllPolicies
            }
        }
    }

    /// The nodes whose agent may have changed.
    fn apply_agent(&mut self, change: Change<Agent>) -> Vec<String> {
        let before: Vec<Agent> = match &change {
            Change::Listed(_) => self.agents.values().cloned().collect(),
            Change::Put { name, .. } | Change::Deleted { name, .. } => {
                self.agents.get(name).cloned().into_iter().collect()
            }
        };
        let pods = apply_to(&mut self.agents, change);
        let after = pods.iter().filter_map(|pod| self.agents.get(pod)).cloned();
        before.into_iter().chain(after).map(|agent| agent.node).collect()
    }

    /// Facts of a node come from its object, its agent's Pod and its NodeNetworkState.
    fn update_nodes(&mut self, names: Vec<String>) -> Affected {
        let mut since = HashMap::new();
        for agent in self.agents.values() {
            let known = since.entry(agent.node.as_str()).or_insert(None);
            *known = agent.ready_since.max(*known);
        }
        let mut changed = false;
        for name in names {
            changed |= match self.node_objects.get(&name) {
                Some(known) => {
                    let agent_since = since.get(name.as_str()).copied().flatten();
                    let NodeReport { macs, sealing_key } =
                        self.node_reports.get(&name).cloned().unwrap_or_default();
                    let facts = NodeFacts { agent_since, macs, sealing_key, ..known.facts.clone() };
                    put(&mut self.nodes, name, facts)
                }
                None => self.nodes.swap_remove(&name).is_some(),
            };
        }
        if changed { Affected::AllPolicies } else { Affected::Nothing }
    }
}

/// Whether it differs from what was there.
fn put<T: PartialEq>(known: &mut IndexMap<String, T>, name: String, object: T) -> bool {
    let changed = known.get(&name) != Some(&object);
    if changed {
        known.insert(name, object);
    }
    changed
}

/// The names that were changed.
fn apply_to<T>(known: &mut HashMap<String, T>, change: Change<T>) -> Vec<String> {
    match change {
        Change::Put { name, object, .. } => {
            known.insert(name.clone(), object);
            vec![name]
        }
        Change::Deleted { name, .. } => {
            known.remove(&name);
            vec![name]
        }
        Change::Listed(all) => {
            let old: BTreeSet<String> = known.drain().map(|(name, _)| name).collect();
            known.extend(all.into_iter().map(|(name, _, object)| (name, object)));
            old.into_iter().chain(known.keys().cloned()).collect()
        }
    }
}

fn newest<T>(all: &[(String, u64, T)]) -> u64 {
    all.iter().map(|(_, version, _)| *version).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kube::runtime::watcher::Error::NoResourceVersion;

    use super::*;

    fn listed(watched: Watched) -> WatchEvent {
        match watched {
            Watched::Policies => WatchEvent::Policies(Change::Listed(Vec::new())),
            Watched::Enactments => WatchEvent::Enactments(Change::Listed(Vec::new())),
            Watched::Nodes => WatchEvent::Nodes(Change::Listed(Vec::new())),
            Watched::Agents => WatchEvent::Agents(Change::Listed(Vec::new())),
            Watched::NodeStates => WatchEvent::NodeStates(Change::Listed(Vec::new())),
        }
    }

    #[test]
    fn a_kind_whose_watch_failed_is_unknown_until_it_is_listed_again() {
        let needed = [Watched::Policies, Watched::Enactments, Watched::Nodes, Watched::Agents];
        let mut cache = Cache::default();
        for watched in needed {
            assert!(!cache.is_synced());
            cache.apply(listed(watched));
        }
        assert!(cache.is_synced());
        for watched in needed {
            cache.apply(WatchEvent::Failed { watched, error: NoResourceVersion });
            assert!(!cache.is_synced(), "{watched:?}");
            cache.apply(listed(watched));
            assert!(cache.is_synced(), "{watched:?}");
        }
    }
}
