//! Load: the cluster as the watches tell it. Nothing else is put in, not even what this operator wrote itself: a claim that is
//! seen here was seen with all earlier ones, and decisions rely on that (docs/decisions/0013).

use std::collections::{BTreeSet, HashMap};

use linesman_api::policy::PolicyStatus;
use linesman_fleet::rollout::{EnactmentFacts, NodeFacts, PolicyFacts};

use crate::facts::{Agent, KnownNode, KnownPolicy};
use crate::shelf::Shelf;
use crate::watch::{Change, News};

#[derive(Debug, Default)]
pub struct World {
    pub policies: Shelf<PolicyFacts>,
    pub nodes: Shelf<NodeFacts>,
    /// By the name of the object.
    pub enactments: Shelf<EnactmentFacts>,
    /// What is to be known of a policy's object, beside what is decided on.
    pub papers: HashMap<String, Papers>,
    bare: HashMap<String, KnownNode>,
    agents: HashMap<String, Agent>,
    macs: HashMap<String, BTreeSet<String>>,
    /// The newest version that was heard of.
    pub heard: Heard,
    told: Told,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Papers {
    pub version: String,
    pub finalizers: Vec<String>,
    pub status: PolicyStatus,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heard {
    pub policies: u64,
    pub enactments: u64,
}

/// Which lists are complete.
#[derive(Debug, Default)]
struct Told {
    policies: bool,
    enactments: bool,
    nodes: bool,
    agents: bool,
    nics: bool,
}

/// Whose rollout news may concern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Concerns {
    Nobody,
    /// This policy, and others that wait for it.
    Policy(String),
    Everybody,
}

impl World {
    pub fn take(&mut self, news: News) -> Concerns {
        match news {
            News::Policies(change) => self.policy(change),
            News::Enactments(change) => self.enactment(change),
            News::Nodes(change) => {
                self.told.nodes |= matches!(change, Change::All(_));
                let names = taken(&mut self.bare, change);
                self.compose(names)
            }
            News::Agents(change) => {
                self.told.agents |= matches!(change, Change::All(_));
                let names = self.agents_at(change);
                self.compose(names)
            }
            News::Nics(change) => {
                self.told.nics |= matches!(change, Change::All(_));
                let names = taken(&mut self.macs, change);
                self.compose(names)
            }
            News::Trouble(what, _) => {
                self.doubt(&what);
                Concerns::Nobody
            }
        }
    }

    /// After trouble it is listed anew. Until then nothing is decided: what is new of one kind and what is old of
    /// another, as from before a restored backup, do not go together.
    fn doubt(&mut self, what: &str) {
        let told = match what {
            "nodenetworkconfigurationpolicies" => &mut self.told.policies,
            "nodenetworkconfigurationenactments" => &mut self.told.enactments,
            "nodes" => &mut self.told.nodes,
            "pods" => &mut self.told.agents,
            _ => &mut self.told.nics,
        };
        *told = false;
    }

    /// Whether enough is known to decide anything.
    pub fn is_complete(&self) -> bool {
        let Told { policies, enactments, nodes, agents, nics } = self.told;
        policies && enactments && nodes && agents && (nics || !self.wants_nics())
    }

    /// Whether any policy tells hosts apart by their NICs.
    pub fn wants_nics(&self) -> bool {
        let by_mac =
            |policy: &PolicyFacts| policy.spec.hosts.iter().any(|host| host.matching.mac_address.is_some());
        self.policies.row().iter().any(by_mac)
    }

    /// Nobody looks at NICs any more; what was known of them grows old.
    pub fn forget_nics(&mut self) {
        self.told.nics = false;
        let names = self.macs.drain().map(|(name, _)| name).collect();
        self.compose(names);
    }

    pub fn uid(&self, node: &str) -> Option<&str> {
        self.bare.get(node).map(|known| known.uid.as_str())
    }

    fn policy(&mut self, change: Change<KnownPolicy>) -> Concerns {
        match change {
            Change::Put { name, version, thing } => {
                self.heard.policies = self.heard.policies.max(version);
                let (facts, papers) = apart(thing);
                let is_new = self.policies.put(name.clone(), facts);
                self.papers.insert(name.clone(), papers);
                if is_new { Concerns::Everybody } else { Concerns::Policy(name) }
            }
            Change::Gone { name, version } => {
                self.heard.policies = self.heard.policies.max(version);
                self.policies.remove(&name);
                self.papers.remove(&name);
                Concerns::Everybody
            }
            Change::All(all) => {
                self.told.policies = true;
                self.heard.policies = newest(&all);
                self.papers.clear();
                let mut policies = Vec::new();
                for (name, _, thing) in all {
                    let (facts, papers) = apart(thing);
                    self.papers.insert(name.clone(), papers);
                    policies.push((name, facts));
                }
                self.policies.replace(policies);
                Concerns::Everybody
            }
        }
    }

    fn enactment(&mut self, change: Change<EnactmentFacts>) -> Concerns {
        match change {
            Change::Put { name, version, thing } => {
                self.heard.enactments = self.heard.enactments.max(version);
                let policy = thing.policy.clone();
                self.enactments.put(name, thing);
                Concerns::Policy(policy)
            }
            Change::Gone { name, version } => {
                self.heard.enactments = self.heard.enactments.max(version);
                self.enactments.remove(&name).map_or(Concerns::Nobody, |gone| Concerns::Policy(gone.policy))
            }
            Change::All(all) => {
                self.told.enactments = true;
                self.heard.enactments = newest(&all);
                self.enactments.replace(all.into_iter().map(|(name, _, thing)| (name, thing)).collect());
                Concerns::Everybody
            }
        }
    }

    /// Nodes whose agent may have changed.
    fn agents_at(&mut self, change: Change<Agent>) -> Vec<String> {
        let before: Vec<Agent> = match &change {
            Change::All(_) => self.agents.values().cloned().collect(),
            Change::Put { name, .. } | Change::Gone { name, .. } => {
                self.agents.get(name).cloned().into_iter().collect()
            }
        };
        let pods = taken(&mut self.agents, change);
        let after = pods.iter().filter_map(|pod| self.agents.get(pod)).cloned();
        before.into_iter().chain(after).map(|agent| agent.node).collect()
    }

    /// A node as its object, its agent and its state together say.
    fn compose(&mut self, names: Vec<String>) -> Concerns {
        let mut since = HashMap::new();
        for agent in self.agents.values() {
            let known = since.entry(agent.node.as_str()).or_insert(None);
            *known = agent.ready_since.max(*known);
        }
        let mut changed = false;
        for name in names {
            changed |= match self.bare.get(&name) {
                Some(known) => {
                    let agent_since = since.get(name.as_str()).copied().flatten();
                    let macs = self.macs.get(&name).cloned().unwrap_or_default();
                    self.nodes.put(name, NodeFacts { agent_since, macs, ..known.facts.clone() })
                }
                None => self.nodes.remove(&name).is_some(),
            };
        }
        if changed { Concerns::Everybody } else { Concerns::Nobody }
    }
}

/// The names that were changed.
fn taken<T>(known: &mut HashMap<String, T>, change: Change<T>) -> Vec<String> {
    match change {
        Change::Put { name, thing, .. } => {
            known.insert(name.clone(), thing);
            vec![name]
        }
        Change::Gone { name, .. } => {
            known.remove(&name);
            vec![name]
        }
        Change::All(all) => {
            let old: BTreeSet<String> = known.drain().map(|(name, _)| name).collect();
            known.extend(all.into_iter().map(|(name, _, thing)| (name, thing)));
            old.into_iter().chain(known.keys().cloned()).collect()
        }
    }
}

fn newest<T>(all: &[(String, u64, T)]) -> u64 {
    all.iter().map(|(_, version, _)| *version).max().unwrap_or_default()
}

fn apart(known: KnownPolicy) -> (PolicyFacts, Papers) {
    let KnownPolicy { facts, version, finalizers, status } = known;
    (facts, Papers { version, finalizers, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_trouble_nothing_is_known_until_it_is_listed_anew() {
        let mut world = World::default();
        world.take(News::Policies(Change::All(Vec::new())));
        world.take(News::Enactments(Change::All(Vec::new())));
        world.take(News::Nodes(Change::All(Vec::new())));
        assert!(!world.is_complete());
        world.take(News::Agents(Change::All(Vec::new())));
        assert!(world.is_complete());
        for (what, again) in [
            ("nodenetworkconfigurationpolicies", News::Policies(Change::All(Vec::new()))),
            ("nodenetworkconfigurationenactments", News::Enactments(Change::All(Vec::new()))),
            ("nodes", News::Nodes(Change::All(Vec::new()))),
            ("pods", News::Agents(Change::All(Vec::new()))),
        ] {
            world.take(News::Trouble(what.into(), String::new()));
            assert!(!world.is_complete(), "{what}");
            world.take(again);
            assert!(world.is_complete(), "{what}");
        }
    }
}
