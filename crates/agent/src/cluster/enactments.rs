//! The enactments of this node, as the watch brings them.

use std::collections::BTreeMap;

use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event};
use linesman_api::enactment::EnactmentSpec;
use linesman_api::objects::Enactment;
use linesman_api::{labels, names};
use linesman_daemon::watch::watch_renewed;
use linesman_fleet::enactment::{Bound, Unreadable};
use tokio::time::Instant;

use super::client::{ClusterClient, NodeEnactment, of_node};
use super::feed::Feed;
use super::reachability::{Reachability, is_answer};

type Watched = Result<Event<Enactment>, watcher::Error>;

/// By policy.
type Known = BTreeMap<String, NodeEnactment>;

pub struct Enactments {
    node: String,
    events: Feed<Watched>,
    known: Known,
    /// What is being listed: nothing is gone before the list is complete.
    listing: Known,
    pub synced: bool,
    listed: bool,
    pub api_server: Reachability,
}

impl std::fmt::Debug for Enactments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enactments").field("known", &self.known).field("synced", &self.synced).finish()
    }
}

impl Enactments {
    pub fn watch(client: &ClusterClient) -> Self {
        let selector = format!("{}={}", labels::NODE, labels::node_value(&client.node));
        let config = Config::default().labels(&selector);
        let events = watch_renewed(client.enactments(), config, client.renewal.clone()).default_backoff();
        Self {
            node: client.node.clone(),
            events: Feed::read(events),
            known: BTreeMap::new(),
            listing: BTreeMap::new(),
            synced: false,
            listed: false,
            api_server: Reachability::default(),
        }
    }

    pub fn all(&self) -> Vec<Bound> {
        let readable = self.known.values().filter_map(|known| match known {
            NodeEnactment::Readable(bound) => Some(bound.clone()),
            NodeEnactment::Unreadable(_) => None,
        });
        readable.collect()
    }

    pub fn spec(&self, policy: &str) -> Option<&EnactmentSpec> {
        match self.known.get(policy)? {
            NodeEnactment::Readable(bound) => Some(&bound.spec),
            NodeEnactment::Unreadable(_) => None,
        }
    }

    pub fn unreadable(&self) -> Vec<Unreadable> {
        let unreadable = self.known.values().filter_map(|known| match known {
            NodeEnactment::Readable(_) => None,
            NodeEnactment::Unreadable(unreadable) => Some(unreadable.clone()),
        });
        unreadable.collect()
    }

    /// The policies that have an enactment here, readable or not.
    pub fn policies(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    pub fn has(&self, policy: &str) -> bool {
        self.known.contains_key(policy)
    }

    /// What was read from the API server itself; the watch may be behind.
    pub fn read(&mut self, bound: Bound) {
        self.known.insert(bound.policy.clone(), NodeEnactment::Readable(bound));
    }

    /// Whether all of them were listed since this was asked last.
    pub fn take_listed(&mut self) -> bool {
        std::mem::take(&mut self.listed)
    }

    /// Waits for a change, also of whether the API server answers. Cancel safe.
    pub async fn changed(&mut self) {
        loop {
            let first = self.events.next().await;
            if self.note(first) | self.catch_up() {
                return;
            }
        }
    }

    /// Takes in what is here already. True if something changed.
    pub fn catch_up(&mut self) -> bool {
        let mut changed = false;
        while let Some(event) = self.events.next_now() {
            changed |= self.note(event);
        }
        changed
    }

    /// True if something changed, also whether the API server answers.
    fn note(&mut self, event: Watched) -> bool {
        match event {
            Ok(event) => {
                // A list that begins is only a question; its first answer comes after it.
                let answered = !matches!(event, Event::Init);
                let back = answered && self.api_server.answered();
                if back {
                    tracing::info!("the API server answers again");
                }
                self.update(event) || back
            }
            Err(error) => {
                let is_answer = is_answer(&error);
                let what = if is_answer { "refuses" } else { "does not answer" };
                let why = format!("the API server {what}: {error}");
                let new = self.api_server.failed(why.clone(), is_answer, Instant::now());
                if new {
                    tracing::warn!("{why}; the network stays as it is");
                }
                new
            }
        }
    }

    fn update(&mut self, event: Event<Enactment>) -> bool {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => {
                self.listing.extend(self.read_object(object));
            }
            Event::InitDone => {
                self.known = std::mem::take(&mut self.listing);
                (self.synced, self.listed) = (true, true);
                return true;
            }
            Event::Apply(object) => {
                if let Some((policy, enactment)) = self.read_object(object) {
                    return self.known.insert(policy, enactment.clone()) != Some(enactment);
                }
            }
            Event::Delete(object) => {
                let policy =
                    names::policy_of(object.metadata.name.as_deref().unwrap_or_default(), &self.node);
                return policy.is_some_and(|policy| self.known.remove(policy).is_some());
            }
        }
        false
    }

    fn read_object(&self, object: Enactment) -> Option<(String, NodeEnactment)> {
        let enactment = of_node(object, &self.node)?;
        let policy = match &enactment {
            NodeEnactment::Readable(bound) => bound.policy.clone(),
            NodeEnactment::Unreadable(Unreadable { policy, error, .. }) => {
                tracing::warn!(policy, error, "cannot read the enactment; the network stays as it is");
                policy.clone()
            }
        };
        Some((policy, enactment))
    }
}
