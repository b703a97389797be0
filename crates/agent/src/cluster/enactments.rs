//! The enactments of this node, as they are heard of.

use std::collections::BTreeMap;
use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use kube::api::DynamicObject;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use linesman_api::labels;
use linesman_core::enact::Bound;

use super::door::{Door, bound};
use crate::say;

type Events = Pin<Box<dyn Stream<Item = Result<Event<DynamicObject>, kube::runtime::watcher::Error>> + Send>>;

pub struct Enactments {
    node: String,
    events: Events,
    known: BTreeMap<String, Bound>,
    /// What is being listed: nothing is gone before the list is complete.
    listing: BTreeMap<String, Bound>,
    pub synced: bool,
    /// The API server could not be reached the last time.
    pub silent: Option<String>,
}

impl std::fmt::Debug for Enactments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enactments").field("known", &self.known).field("synced", &self.synced).finish()
    }
}

impl Enactments {
    pub fn watch(door: &Door) -> Self {
        let selector = format!("{}={}", labels::NODE, door.node);
        let events = watcher(door.enactments(), Config::default().labels(&selector)).default_backoff();
        Self {
            node: door.node.clone(),
            events: events.boxed(),
            known: BTreeMap::new(),
            listing: BTreeMap::new(),
            synced: false,
            silent: None,
        }
    }

    pub fn all(&self) -> Vec<Bound> {
        self.known.values().cloned().collect()
    }

    pub fn get(&self, policy: &str) -> Option<&Bound> {
        self.known.get(policy)
    }

    /// Until there is news. Nothing is lost if the wait is given up.
    pub async fn changed(&mut self) {
        loop {
            let Some(event) = self.events.next().await else { return std::future::pending().await };
            match event {
                Ok(event) => {
                    if self.silent.take().is_some() {
                        say::info("the API server answers again");
                    }
                    if self.hear(event) {
                        return;
                    }
                }
                Err(error) => {
                    let why = error.to_string();
                    if self.silent.is_none() {
                        say::warning(format!(
                            "the API server does not answer: {why}; everything stays as it is"
                        ));
                    }
                    self.silent = Some(why);
                }
            }
        }
    }

    fn hear(&mut self, event: Event<DynamicObject>) -> bool {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => {
                if let Some(bound) = bound(&object, &self.node) {
                    self.listing.insert(bound.policy.clone(), bound);
                }
            }
            Event::InitDone => {
                self.known = std::mem::take(&mut self.listing);
                self.synced = true;
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
