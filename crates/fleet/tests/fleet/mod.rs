//! A small model of a fleet: an API server with versions, two operators that may look at old news, agents that die.

use std::collections::{BTreeMap, BTreeSet};

use linesman_api::condition::{Condition, Truth};
use linesman_api::enactment::{EnactmentStatus, Stage};
use linesman_api::options::OnDelete;
use linesman_api::policy::{IntOrPercent, Rollout};
use linesman_api::time::Time;
use linesman_fleet::rollout::*;
use proptest::prelude::*;
use serde_json::json;

pub const NODES: [&str; 7] = ["cp1", "cp2", "cp3", "w1", "w2", "w3", "w4"];
pub const POLICIES: [&str; 2] = ["blue", "red"];

#[derive(Debug, Clone)]
pub enum Event {
    /// An operator hears the news, each kind up to some writes ago; never older than what it knew.
    Hear {
        operator: usize,
        enactments: usize,
        nodes: usize,
        policies: usize,
    },
    /// An operator hears of one write more.
    HearOne {
        operator: usize,
    },
    /// It decides and acts on what it knows, and crashes after so many writes.
    Act {
        operator: usize,
        policy: usize,
        writes: usize,
    },
    /// Its clock is wrong by so many seconds.
    Skew {
        operator: usize,
        seconds: i64,
    },
    Begin {
        node: usize,
        policy: usize,
    },
    End {
        node: usize,
        well: bool,
    },
    /// It could not change anything, and waits.
    Retry {
        node: usize,
    },
    /// It has waited, and asks for its release before it begins again.
    Attempt {
        node: usize,
    },
    /// Somebody changes what is applied, and the agent asks for a release to correct it.
    Drift {
        node: usize,
        policy: usize,
    },
    AgentDies {
        node: usize,
    },
    AgentReturns {
        node: usize,
    },
    Ready {
        node: usize,
        ready: bool,
    },
    Cordon {
        node: usize,
        cordoned: bool,
    },
    /// Only workers come and go.
    Remove {
        node: usize,
    },
    Join {
        node: usize,
    },
    Relabel {
        node: usize,
        fast: bool,
    },
    Pass {
        seconds: u64,
    },
    Edit {
        policy: usize,
        edit: Edit,
    },
}

#[derive(Debug, Clone)]
pub enum Edit {
    Content(u8),
    Patience(u8),
    AtATime(u8),
    Percent(u8),
    Rollout { paused: bool, abort: bool, undo: bool },
    Canary(usize),
    MaxFailures(u8),
    OnlyFast(bool),
}

pub fn event() -> impl Strategy<Value = Event> {
    let (operator, node, policy) = (0..2usize, 0..NODES.len(), 0..POLICIES.len());
    let old = || prop_oneof![3 => Just(0usize), 1 => 0..8usize];
    prop_oneof![
        8 => (operator.clone(), old(), old(), old()).prop_map(|(operator, enactments, nodes, policies)| {
            Event::Hear { operator, enactments, nodes, policies }
        }),
        12 => (operator.clone(), policy.clone(), prop_oneof![3 => Just(99usize), 1 => 0..4usize])
            .prop_map(|(operator, policy, writes)| Event::Act { operator, policy, writes }),
        1 => (operator, -200i64..200).prop_map(|(operator, seconds)| Event::Skew { operator, seconds }),
        12 => (node.clone(), policy.clone()).prop_map(|(node, policy)| Event::Begin { node, policy }),
        12 => (node.clone(), prop::bool::weighted(0.85)).prop_map(|(node, well)| Event::End { node, well }),
        3 => node.clone().prop_map(|node| Event::Retry { node }),
        3 => node.clone().prop_map(|node| Event::Attempt { node }),
        3 => (node.clone(), policy.clone()).prop_map(|(node, policy)| Event::Drift { node, policy }),
        2 => node.clone().prop_map(|node| Event::AgentDies { node }),
        2 => node.clone().prop_map(|node| Event::AgentReturns { node }),
        2 => (node.clone(), prop::bool::weighted(0.7)).prop_map(|(node, ready)| Event::Ready { node, ready }),
        1 => (node.clone(), prop::bool::weighted(0.3)).prop_map(|(node, cordoned)| Event::Cordon { node, cordoned }),
        1 => node.clone().prop_map(|node| Event::Remove { node }),
        2 => node.clone().prop_map(|node| Event::Join { node }),
        1 => (node, any::<bool>()).prop_map(|(node, fast)| Event::Relabel { node, fast }),
        4 => (1..150u64).prop_map(|seconds| Event::Pass { seconds }),
        3 => (policy, edit()).prop_map(|(policy, edit)| Event::Edit { policy, edit }),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let seldom = || prop::bool::weighted(0.2);
    prop_oneof![
        4 => (0..3u8).prop_map(Edit::Content),
        1 => (1..3u8).prop_map(Edit::Patience),
        1 => (1..5u8).prop_map(Edit::AtATime),
        1 => (1..251u8).prop_map(Edit::Percent),
        3 => (seldom(), seldom(), seldom())
            .prop_map(|(paused, abort, undo)| Edit::Rollout { paused, abort: abort && !undo, undo }),
        1 => (0..NODES.len()).prop_map(Edit::Canary),
        1 => (1..5u8).prop_map(Edit::MaxFailures),
        1 => seldom().prop_map(Edit::OnlyFast),
    ]
}

type Key = (String, String);

#[derive(Debug, Clone, Default)]
struct Operator {
    enactments: usize,
    nodes: usize,
    policies: usize,
    skew: i64,
}

/// A release that an agent accepted and has not finished.
#[derive(Debug, Clone)]
struct Work {
    policy: String,
    attempt: i64,
    /// None: what was applied is reverted.
    state: Option<serde_json::Value>,
    /// It changes nothing at the moment.
    retrying: bool,
}

/// What is remembered about a release, to judge it.
#[derive(Debug, Clone, Copy)]
struct Release {
    claimed: usize,
    limit: usize,
}

#[derive(Debug, Clone)]
pub struct Fleet {
    pub now: Time,
    pub policies: Vec<PolicyFacts>,
    pub nodes: BTreeMap<String, NodeFacts>,
    pub enactments: BTreeMap<Key, EnactmentFacts>,
    /// What each node has of each policy, whatever the operators know.
    pub applied: BTreeMap<Key, serde_json::Value>,
    /// What an agent is doing.
    running: BTreeMap<String, Work>,
    operators: [Operator; 2],
    revision: usize,
    enactment_history: Vec<Vec<EnactmentFacts>>,
    node_history: Vec<Vec<NodeFacts>>,
    policy_history: Vec<Vec<PolicyFacts>>,
    claims: BTreeMap<Key, usize>,
    releases: BTreeMap<Key, Release>,
    /// Nobody waits for these any more.
    given_up: BTreeSet<(Key, i64)>,
}

impl Fleet {
    pub fn new() -> Self {
        let mut fleet = Self {
            now: Time(1_000_000),
            policies: POLICIES.iter().map(|name| policy_of(name)).collect(),
            nodes: NODES.iter().map(|name| (name.to_string(), node_of(name))).collect(),
            enactments: BTreeMap::new(),
            applied: BTreeMap::new(),
            running: BTreeMap::new(),
            operators: Default::default(),
            revision: 0,
            enactment_history: Vec::new(),
            node_history: Vec::new(),
            policy_history: Vec::new(),
            claims: BTreeMap::new(),
            releases: BTreeMap::new(),
            given_up: BTreeSet::new(),
        };
        fleet.remember();
        fleet
    }

    fn remember(&mut self) {
        self.revision += 1;
        self.enactment_history.push(self.enactments.values().cloned().collect());
        self.node_history.push(self.nodes.values().cloned().collect());
        self.policy_history.push(self.policies.clone());
    }

    pub fn happen(&mut self, event: &Event) {
        match event {
            Event::Hear { operator, enactments, nodes, policies } => {
                let newest = self.enactment_history.len() - 1;
                let operator = &mut self.operators[*operator];
                operator.enactments = operator.enactments.max(newest.saturating_sub(*enactments));
                operator.nodes = operator.nodes.max(newest.saturating_sub(*nodes));
                operator.policies = operator.policies.max(newest.saturating_sub(*policies));
            }
            Event::HearOne { operator } => {
                let newest = self.enactment_history.len() - 1;
                let operator = &mut self.operators[*operator];
                operator.enactments = newest.min(operator.enactments + 1);
            }
            Event::Act { operator, policy, writes } => {
                self.act(*operator, *policy, *writes);
            }
            Event::Skew { operator, seconds } => self.operators[*operator].skew = *seconds,
            Event::Begin { node, policy } => self.begin(NODES[*node], POLICIES[*policy]),
            Event::End { node, well } => self.end(NODES[*node], *well),
            Event::Retry { node } => self.retry(NODES[*node]),
            Event::Attempt { node } => self.attempt(NODES[*node]),
            Event::Drift { node, policy } => self.drift(NODES[*node], POLICIES[*policy]),
            Event::AgentDies { node } => self.on(NODES[*node], |n| n.agent_since = None),
            Event::AgentReturns { node } => {
                let now = self.now;
                self.on(NODES[*node], |n| n.agent_since = Some(now));
            }
            Event::Ready { node, ready } => self.on(NODES[*node], |n| n.ready = *ready),
            Event::Cordon { node, cordoned } => self.on(NODES[*node], |n| n.cordoned = *cordoned),
            Event::Remove { node } if NODES[*node].starts_with('w') => {
                self.nodes.remove(NODES[*node]);
                self.running.remove(NODES[*node]);
                self.applied.retain(|(_, on), _| on != NODES[*node]);
                self.remember();
            }
            Event::Remove { .. } => {}
            Event::Join { node } => {
                let name = NODES[*node];
                self.nodes.entry(name.into()).or_insert_with(|| node_of(name));
                self.remember();
            }
            Event::Relabel { node, fast } => self.on(NODES[*node], |n| {
                n.labels.insert("fast".into(), fast.to_string());
            }),
            Event::Pass { seconds } => self.now = self.now.plus(*seconds),
            Event::Edit { policy, edit } => self.edit(*policy, edit),
        }
    }

    fn on(&mut self, name: &str, change: impl Fn(&mut NodeFacts)) {
        if let Some(node) = self.nodes.get_mut(name) {
            change(node);
            self.remember();
        }
    }

    fn edit(&mut self, policy: usize, edit: &Edit) {
        let policy = &mut self.policies[policy];
        policy.generation += 1;
        let spec = &mut policy.spec;
        let rollout = spec.rollout.get_or_insert_with(Rollout::default);
        match edit {
            Edit::Content(n) => spec.desired_state = Some(content(&policy.name, *n)),
            Edit::Patience(n) => spec.patience = Some((*n).into()),
            Edit::AtATime(n) => spec.max_unavailable = Some(IntOrPercent::Int((*n).into())),
            Edit::Percent(n) => spec.max_unavailable = Some(IntOrPercent::Text(format!("{n}%"))),
            Edit::Rollout { paused, abort, undo } => {
                (rollout.paused, rollout.abort, rollout.undo) = (*paused, *abort, *undo);
            }
            Edit::Canary(node) => rollout.canary = vec![NODES[*node].into()],
            Edit::MaxFailures(n) => rollout.max_failures = Some((*n).into()),
            Edit::OnlyFast(only) => {
                spec.node_selector =
                    only.then(|| ("fast".to_string(), "true".to_string())).into_iter().collect();
            }
        }
        self.remember();
    }

    /// Whether anything was written.
    pub fn act(&mut self, operator: usize, policy: usize, writes: usize) -> bool {
        let Operator { enactments, nodes, policies, skew } = self.operators[operator].clone();
        let now = Time(self.now.0.saturating_add_signed(skew));
        let decision = self.decide(policy, (enactments, nodes, policies), now);
        let limit = decision.status.max_unavailable.unwrap() as usize;
        let failed = decision.nodes.iter().filter(|(_, phase)| matches!(phase, NodePhase::Failed(_))).count();
        let rollout = self.policy_history[policies][policy].spec.rollout.clone().unwrap_or_default();
        let mut wrote = false;
        for action in decision.actions.iter().take(writes) {
            if !self.write(POLICIES[policy], action, limit) {
                break;
            }
            wrote = true;
            if let Action::Enactment { node, step: Step::Release { .. }, .. } = action {
                let most = rollout.max_failures.map_or(limit, |most| usize::try_from(most).unwrap());
                assert!(failed < most, "{node} is released after {failed} failures");
                self.check_held(&(POLICIES[policy].to_string(), node.clone()), limit, failed);
            }
        }
        wrote
    }

    /// Failed nodes keep their slots, but one: whoever claimed last sees all claims before.
    fn check_held(&self, released: &Key, limit: usize, failed: usize) {
        let flying = self.flying(&released.0);
        if flying.iter().all(|key| self.releases[*key].claimed <= self.releases[released].claimed) {
            let held = failed.min(limit - 1);
            assert!(flying.len() + held <= limit, "{failed} failed, in flight of {limit}: {flying:?}");
        }
    }

    /// By what was known at these points of history. The order in which things are listed must not matter.
    pub fn decide(&self, policy: usize, seen: (usize, usize, usize), now: Time) -> Decision {
        let (mut enactments, mut nodes) =
            (self.enactment_history[seen.0].clone(), self.node_history[seen.1].clone());
        let policies = &self.policy_history[seen.2];
        let settings = Settings { release_for: 300 };
        let decide = |enactments: &[EnactmentFacts], nodes: &[NodeFacts]| {
            decide(&Situation {
                set_aside: Default::default(),
                unavailable: Default::default(),
                policy: &policies[policy],
                policies: policies.iter().collect(),
                nodes: nodes.iter().collect(),
                enactments: enactments.iter().collect(),
                settings,
                now,
            })
        };
        let decision = decide(&enactments, &nodes);
        assert_eq!(decision, decide(&enactments, &nodes));
        enactments.reverse();
        nodes.reverse();
        let again = decide(&enactments, &nodes);
        let sorted = |decision: &Decision| {
            let mut words: Vec<String> = decision.actions.iter().map(|a| format!("{a:?}")).collect();
            words.sort();
            words
        };
        assert_eq!(sorted(&decision), sorted(&again));
        assert_eq!(decision.status, again.status);
        decision
    }

    pub fn decide_now(&self, policy: usize) -> Decision {
        let newest = self.enactment_history.len() - 1;
        self.decide(policy, (newest, newest, newest), self.now)
    }

    /// Refused when the enactment is no longer what was seen.
    fn write(&mut self, policy: &str, action: &Action, limit: usize) -> bool {
        let (node, version, step) = match action {
            Action::Enactment { node, version, step } => (node, version, step),
            Action::Finalizer { keep } => {
                self.policies.iter_mut().filter(|p| p.name == policy).for_each(|p| p.finalizer = *keep);
                self.remember();
                return true;
            }
        };
        let key: Key = (policy.to_string(), node.clone());
        if self.enactments.get(&key).map(|e| e.version.clone()) != *version {
            return false;
        }
        self.revision += 1;
        let entry = self.enactments.entry(key.clone()).or_insert_with(|| EnactmentFacts {
            policy: policy.into(),
            node: node.clone(),
            ..EnactmentFacts::default()
        });
        entry.version = self.revision.to_string();
        let (before, after) =
            (until(entry), step.spec().map(|spec| spec.release_expires.unwrap_or_default()));
        match step {
            Step::Release { .. } => {
                assert!(after > Some(before), "a release that its agent takes for an old one")
            }
            _ => {
                assert!(after.is_none_or(|after| after == before), "when the last release ended is forgotten")
            }
        }
        match step {
            Step::Delete => {
                self.enactments.remove(&key);
            }
            Step::SetStatus(mark) => entry.status.conditions = mark.conditions(),
            step => entry.spec = step.spec().cloned(),
        }
        match step {
            Step::Claim(_) => {
                self.claims.insert(key, self.revision);
            }
            Step::Expire(spec) => {
                self.given_up.insert((key, spec.attempt));
            }
            Step::Release { .. } => {
                let claimed = self.claims[&key];
                self.releases.insert(key, Release { claimed, limit });
            }
            _ => {}
        }
        self.remember();
        true
    }

    fn begin(&mut self, node: &str, policy: &str) {
        let ended = self.running.get(node).is_some_and(|work| work.retrying && !self.is_valid(node, work));
        if !self.is_there(node) || (self.running.contains_key(node) && !ended) {
            return;
        }
        let key = (policy.to_string(), node.to_string());
        let Some(enactment) = self.enactments.get(&key) else { return };
        if NodeProgress::of(enactment) != (NodeProgress::Released { until: until(enactment) }) {
            return;
        }
        let spec = enactment.spec.clone().unwrap();
        // Whatever its clock says: that a release expired is the operator's to write.
        let state = spec.desired_state.filter(|_| !spec.revert);
        let work = Work { policy: policy.into(), attempt: spec.attempt, state, retrying: false };
        self.running.insert(node.into(), work);
        self.answer(node, &["Progressing"]);
    }

    fn is_there(&self, node: &str) -> bool {
        self.nodes.get(node).is_some_and(|n| n.agent_since.is_some())
    }

    /// As the API server has it.
    fn is_valid(&self, node: &str, work: &Work) -> bool {
        let enactment = self.enactments.get(&(work.policy.clone(), node.to_string()));
        let spec = enactment.and_then(|e| e.spec.as_ref());
        spec.is_some_and(|spec| spec.stage == Stage::Released && spec.attempt == work.attempt)
    }

    fn drift(&mut self, node: &str, policy: &str) {
        let there = self.is_there(node);
        let key = (policy.to_string(), node.to_string());
        let Some(enactment) = self.enactments.get_mut(&key).filter(|_| there) else { return };
        if NodeProgress::of(enactment) == NodeProgress::Available {
            enactment.status.requests_release = Some("Drifted".into());
            enactment.version = (self.revision + 1).to_string();
            self.remember();
        }
    }

    fn retry(&mut self, node: &str) {
        if let Some(work) = self.running.get_mut(node) {
            work.retrying = true;
            self.answer(node, &["Failing", "Progressing"]);
        }
    }

    fn attempt(&mut self, node: &str) {
        let Some(work) = self.running.get(node).filter(|work| work.retrying && self.is_there(node)) else {
            return;
        };
        if self.is_valid(node, work) {
            self.running.entry(node.into()).and_modify(|work| work.retrying = false);
            self.answer(node, &["Progressing"]);
        } else {
            self.running.remove(node);
        }
    }

    fn end(&mut self, node: &str, well: bool) {
        if self.running.get(node).is_some_and(|work| work.retrying) {
            return;
        }
        if let Some(work) = self.running.get(node).cloned().filter(|_| well && self.is_there(node)) {
            let key = (work.policy, node.to_string());
            match work.state {
                Some(state) => self.applied.insert(key, state),
                None => self.applied.remove(&key),
            };
        }
        self.answer(node, if well { &["Available"] } else { &["Failing"] });
        if self.is_there(node) {
            self.running.remove(node);
        }
    }

    /// Reaches the cluster only from a node that is there; late is fine.
    fn answer(&mut self, node: &str, conditions: &[&str]) {
        let there = self.is_there(node);
        let Some(work) = self.running.get(node).cloned().filter(|_| there) else { return };
        let Work { policy, attempt, .. } = work;
        let Some(enactment) = self.enactments.get_mut(&(policy, node.to_string())) else { return };
        let conditions = conditions.iter().map(|kind| Condition::new(kind, Truth::True, "", "")).collect();
        enactment.status =
            EnactmentStatus { attempt: Some(attempt), conditions, ..EnactmentStatus::default() };
        enactment.version = (self.revision + 1).to_string();
        self.remember();
    }

    /// What is written, and what each operator knows of it.
    pub fn picture(&self) -> String {
        let known = self.operators.each_ref().map(|operator| &self.enactment_history[operator.enactments]);
        format!("{:?} {known:?} {:?}", self.enactments, self.running)
    }

    /// All that an operator knows of the nodes, from here on.
    pub fn cordon_for(&mut self, operator: usize, cordoned: &str) {
        let node = |node: &NodeFacts| NodeFacts { cordoned: node.name == cordoned, ..node.clone() };
        let nodes = self.nodes.values().map(node).collect();
        self.node_history.push(nodes);
        self.enactment_history.push(self.enactments.values().cloned().collect());
        self.policy_history.push(self.policies.clone());
        let newest = self.node_history.len() - 1;
        let known = &mut self.operators[operator];
        (known.nodes, known.policies, known.enactments) = (newest, newest, newest);
    }

    pub fn in_flight(&self, policy: &str) -> usize {
        self.flying(policy).len()
    }

    fn flying(&self, policy: &str) -> Vec<&Key> {
        let of =
            |(key, e): &(&Key, &EnactmentFacts)| key.0 == policy && NodeProgress::of(e).until().is_some();
        self.enactments.iter().filter(of).map(|(key, _)| key).collect()
    }

    /// What must hold at any moment, whoever knew what.
    pub fn check(&self) {
        let mut touched = BTreeSet::new();
        for policy in POLICIES {
            let flying = self.flying(policy);
            let last = flying.iter().map(|key| self.releases[*key]).max_by_key(|release| release.claimed);
            if let Some(Release { limit, .. }) = last {
                assert!(flying.len() <= limit, "{} of {limit} in flight: {flying:?}", flying.len());
            }
            touched.extend(flying.iter().map(|(_, node)| node).filter(|node| node.starts_with("cp")));
        }
        for (node, work) in self.running.iter().filter(|(_, work)| !work.retrying) {
            // It takes longer than it may, or is lost: it had a release when it began.
            let given_up = ((work.policy.clone(), node.clone()), work.attempt);
            let known = self.is_valid(node, work) || self.given_up.contains(&given_up);
            assert!(known, "{node} changes its host without a release");
        }
        assert!(touched.len() <= 1, "the control plane lost its majority: {touched:?}");
    }

    /// Everybody is well again and nobody interferes; what happens then?
    pub fn settle(&mut self) {
        let now = self.now;
        for node in self.nodes.values_mut() {
            (node.ready, node.cordoned) = (true, false);
            node.agent_since.get_or_insert(now);
        }
        self.operators = Default::default();
        self.remember();
        for _ in 0..400 {
            let mut busy = false;
            for policy in 0..POLICIES.len() {
                self.happen(&Event::Hear { operator: 0, enactments: 0, nodes: 0, policies: 0 });
                busy |= self.act(0, policy, 99);
                self.check();
            }
            for (node, name) in NODES.iter().enumerate() {
                busy |= self.running.contains_key(*name);
                self.attempt(name);
                self.end(name, true);
                for policy in 0..POLICIES.len() {
                    self.happen(&Event::Begin { node, policy });
                }
            }
            if !busy && self.running.is_empty() {
                let wakes = (0..POLICIES.len()).filter_map(|policy| self.decide_now(policy).wake);
                match wakes.min() {
                    Some(wake) => self.now = wake,
                    None => return,
                }
            }
        }
        panic!("it never came to rest");
    }
}

fn until(enactment: &EnactmentFacts) -> Time {
    enactment.spec.as_ref().and_then(|spec| spec.release_expires).unwrap_or_default()
}

fn policy_of(name: &str) -> PolicyFacts {
    let mut policy = PolicyFacts {
        name: name.into(),
        uid: format!("uid-{name}"),
        generation: 1,
        ..PolicyFacts::default()
    };
    policy.spec.desired_state = Some(content(name, 0));
    policy.spec.on_delete = (name == "red").then_some(OnDelete::Revert);
    policy
}

fn content(name: &str, version: u8) -> serde_json::Value {
    json!({ "interfaces": [{ "name": name, "type": "dummy", "mtu": 1500 + u32::from(version) }] })
}

fn node_of(name: &str) -> NodeFacts {
    let role =
        name.starts_with("cp").then(|| ("node-role.kubernetes.io/control-plane".to_string(), String::new()));
    NodeFacts {
        name: name.into(),
        labels: role.into_iter().collect(),
        ready: true,
        agent_since: Some(Time(1)),
        ..NodeFacts::default()
    }
}
