//! The enactments of this node, as the watch brings them.

use std::collections::BTreeMap;
use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use kube::api::DynamicObject;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event};
use linesman_api::labels;
use linesman_daemon::watch::watch;
use linesman_fleet::enactment::Bound;

use super::client::{ClusterClient, bound};

type Events = Pin<Box<dyn Stream<Item = Result<Event<DynamicObject>, kube::runtime::watcher::Error>> + Send>>;

pub struct Enactments {
    node: String,
    events: Events,
    known: BTreeMap<String, Bound>,
    /// What is being listed: nothing is gone before the list is complete.
    listing: BTreeMap<String, Bound>,
    pub synced: bool,
    listed: bool,
    /// The API server could not be reached the last time.
    pub api_server_error: Option<String>,
}

impl std::fmt::Debug for Enactments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enactments").field("known", &self.known).field("synced", &self.synced).finish()
    }
}

impl Enactments {
    pub fn watch(client: &ClusterClient) -> Self {
        let selector = format!("{}={}", labels::NODE, client.node);
        let events = watch(client.enactments(), Config::default().labels(&selector)).default_backoff();
        Self {
            node: client.node.clone(),
            events: events.boxed(),
            known: BTreeMap::new(),
            listing: BTreeMap::new(),
            synced: false,
            listed: false,
            api_server_error: None,
        }
    }

    pub fn all(&self) -> Vec<Bound> {
        self.known.values().cloned().collect()
    }

    pub fn get(&self, policy: &str) -> Option<&Bound> {
        self.known.get(policy)
    }

    /// What was read from the API server itself; the watch may be behind.
    pub fn read(&mut self, bound: Bound) {
        self.known.insert(bound.policy.clone(), bound);
    }

    /// Whether all of them were listed since this was asked last.
    pub fn take_listed(&mut self) -> bool {
        std::mem::take(&mut self.listed)
    }

    /// Waits for a change, also of whether the API server answers. Cancel safe.
    pub async fn changed(&mut self) {
        loop {
            let Some(event) = self.events.next().await else { return std::future::pending().await };
            match event {
                Ok(event) => {
                    // A list that begins is only a question; its first answer comes after it.
                    let answered = !matches!(event, Event::Init);
                    let back = answered && self.api_server_error.take().is_some();
                    if back {
                        tracing::info!("the API server answers again");
                    }
                    if self.update(event) || back {
                        return;
                    }
                }
                Err(error) => {
                    let why = error.to_string();
                    let known = self.api_server_error.replace(why.clone()).is_some();
                    if !known {
                        tracing::warn!("the API server does not answer: {why}; the network stays as it is");
                        return;
                    }
                }
            }
        }
    }

    fn update(&mut self, event: Event<DynamicObject>) -> bool {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => {
                if let Some(bound) = bound(&object, &self.node) {
                    self.listing.insert(bound.policy.clone(), bound);
                }
            }
            Event::InitDone => {
                self.known = std::mem::take(&mut self.listing);
                (self.synced, self.listed) = (true, true);
                return true;
            }
            Event::Apply(object) => {
                if let Some(bound) = bound(&object, &self.node) {
                    return self.known.insert(bound.policy.clone(), bound.clone()) != Some(bound);
                }
            }
            Event::Delete(object) => {
                if let Some(bound) = bound(&object, &self.node) {
                    return self.known.remove(&bound.policy).is_some();
                }
            }
        }
        false
    }
}
