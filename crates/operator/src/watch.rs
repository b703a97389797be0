//! Watches of the cluster, each reduced to facts on the way in.

use std::fmt::Debug;
use std::time::Duration;

use futures_util::stream::{BoxStream, SelectAll, StreamExt, select_all};
use k8s_openapi::Resource as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event};
use kube::{Api, Client, Resource, ResourceExt};
use linesman_api::objects::{Enactment, Policy};
use linesman_api::{kinds, labels};
use linesman_daemon::backoff::Backoff;
use linesman_daemon::watch::watch;
use linesman_fleet::rollout::EnactmentFacts;
use serde::de::DeserializeOwned;

use crate::facts::{self, Agent, KnownNode, KnownPolicy};
use crate::reported_state::{NodeReport, ReportedState};

/// A watch without events for this long, in seconds, is started again: its connection may be dead.
const WATCH: u32 = 120;
/// Before a failed watch is started again.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(5));

#[derive(Debug)]
pub enum WatchEvent {
    Policies(Change<KnownPolicy>),
    Enactments(Change<EnactmentFacts>),
    Nodes(Change<KnownNode>),
    Agents(Change<Agent>),
    NodeStates(Change<NodeReport>),
    /// The watch is started again by itself.
    Failed {
        watched: Watched,
        error: watcher::Error,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watched {
    Policies,
    Enactments,
    Nodes,
    Agents,
    NodeStates,
}

impl Watched {
    pub const ALL: [Self; 5] =
        [Self::Policies, Self::Enactments, Self::Nodes, Self::Agents, Self::NodeStates];

    /// As in the path of the API.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Policies => kinds::POLICY.plural,
            Self::Enactments => kinds::ENACTMENT.plural,
            Self::Nodes => Node::URL_PATH_SEGMENT,
            Self::Agents => Pod::URL_PATH_SEGMENT,
            Self::NodeStates => kinds::NODE_STATE.plural,
        }
    }
}

impl WatchEvent {
    pub fn watched(&self) -> Watched {
        match self {
            Self::Policies(_) => Watched::Policies,
            Self::Enactments(_) => Watched::Enactments,
            Self::Nodes(_) => Watched::Nodes,
            Self::Agents(_) => Watched::Agents,
            Self::NodeStates(_) => Watched::NodeStates,
            Self::Failed { watched, .. } => *watched,
        }
    }

    /// Whether this is the whole list of its kind.
    pub fn is_list(&self) -> bool {
        match self {
            Self::Policies(change) => change.is_list(),
            Self::Enactments(change) => change.is_list(),
            Self::Nodes(change) => change.is_list(),
            Self::Agents(change) => change.is_list(),
            Self::NodeStates(change) => change.is_list(),
            Self::Failed { .. } => false,
        }
    }
}

#[derive(Debug)]
pub enum Change<T> {
    /// The version is `metadata.resourceVersion`.
    Put {
        name: String,
        version: u64,
        object: T,
    },
    Deleted {
        name: String,
        version: u64,
    },
    /// Everything there is.
    Listed(Vec<(String, u64, T)>),
}

impl<T> Change<T> {
    fn is_list(&self) -> bool {
        matches!(self, Self::Listed(_))
    }
}

type Stream = BoxStream<'static, WatchEvent>;

pub struct Watches {
    client: Client,
    streams: SelectAll<Stream>,
    node_states: Option<Stream>,
}

impl Watches {
    pub fn new(client: Client, namespace: &str) -> Self {
        let agents = Config::default().labels(&format!("{}={}", labels::COMPONENT, labels::AGENT));
        let streams = select_all([
            changes(
                Watched::Policies,
                Api::<Policy>::all(client.clone()),
                Config::default(),
                WatchEvent::Policies,
                |policy| Some(facts::policy(policy)),
            ),
            changes(
                Watched::Enactments,
                Api::<Enactment>::all(client.clone()),
                Config::default(),
                WatchEvent::Enactments,
                facts::enactment,
            ),
            changes(
                Watched::Nodes,
                Api::<Node>::all(client.clone()),
                Config::default(),
                WatchEvent::Nodes,
                |node| Some(facts::node(&node)),
            ),
            changes(
                Watched::Agents,
                Api::<Pod>::namespaced(client.clone(), namespace),
                agents,
                WatchEvent::Agents,
                |pod| facts::agent(&pod),
            ),
        ]);
        Self { client, streams, node_states: None }
    }

    /// NodeNetworkStates are big, so they are watched only while a policy matches by MAC address or refers to Secrets. Whether that
    /// changed.
    pub fn watch_node_states(&mut self, wanted: bool) -> bool {
        let changed = wanted != self.node_states.is_some();
        if changed {
            let api = || Api::<ReportedState>::all(self.client.clone());
            self.node_states = wanted.then(|| {
                changes(Watched::NodeStates, api(), Config::default(), WatchEvent::NodeStates, |state| {
                    Some(state.report)
                })
            });
        }
        changed
    }

    pub async fn next(&mut self) -> Option<WatchEvent> {
        match &mut self.node_states {
            None => self.streams.next().await,
            Some(node_states) => tokio::select! {
                event = self.streams.next() => event,
                event = node_states.next() => event,
            },
        }
    }
}

fn changes<K, T: Send + 'static>(
    watched: Watched,
    api: Api<K>,
    config: Config,
    event: fn(Change<T>) -> WatchEvent,
    facts: fn(K) -> Option<T>,
) -> Stream
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let mut all = Vec::new();
    let mut read = move |seen: Result<Event<K>, watcher::Error>| match seen {
        Ok(seen) => change(&mut all, seen, facts).map(event),
        Err(error) => Some(WatchEvent::Failed { watched, error }),
    };
    watch(api, config.timeout(WATCH))
        .backoff(BACKOFF)
        .filter_map(move |event| std::future::ready(read(event)))
        .boxed()
}

fn change<K: Resource, T>(
    all: &mut Vec<(String, u64, T)>,
    event: Event<K>,
    facts: fn(K) -> Option<T>,
) -> Option<Change<T>> {
    match event {
        Event::Apply(object) => {
            let (name, version) = (object.name_any(), version(&object));
            Some(Change::Put { name, version, object: facts(object)? })
        }
        Event::Delete(object) => Some(Change::Deleted { name: object.name_any(), version: version(&object) }),
        Event::Init => {
            all.clear();
            None
        }
        Event::InitApply(object) => {
            let (name, version) = (object.name_any(), version(&object));
            all.extend(facts(object).map(|object| (name, version, object)));
            None
        }
        Event::InitDone => Some(Change::Listed(std::mem::take(all))),
    }
}

/// Within one kind versions grow with every write.
fn version<K: Resource>(object: &K) -> u64 {
    number(object.meta().resource_version.as_deref().unwrap_or_default())
}

pub fn number(version: &str) -> u64 {
    version.parse().unwrap_or_default()
}

/// Whether the API server does not know the kind.
pub fn is_unknown_kind(error: &watcher::Error) -> bool {
    let not_found = |error: &kube::Error| matches!(error, kube::Error::Api(status) if status.code == 404);
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => not_found(error),
        watcher::Error::WatchError(status) => status.code == 404,
        _ => false,
    }
}
