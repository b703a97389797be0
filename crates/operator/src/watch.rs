//! Watches of the cluster, each reduced to facts on the way in.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use futures_util::stream::{BoxStream, SelectAll, StreamExt, select_all};
use k8s_openapi::Resource as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::runtime::WatchStreamExt;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Config, Event};
use kube::{Api, Client, Resource, ResourceExt};
use linesman_api::objects::{Enactment, Policy};
use linesman_api::{kinds, labels};
use linesman_daemon::watch::watch;
use linesman_fleet::rollout::EnactmentFacts;
use serde::de::DeserializeOwned;

use crate::facts::{self, Agent, KnownNode, KnownPolicy};
use crate::nics::Nics;

/// A watch that says nothing for so long is begun anew: its connection may be dead.
const WATCH: u32 = 120;
const SOON: Duration = Duration::from_millis(200);
const SELDOM: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub enum News {
    Policies(Change<KnownPolicy>),
    Enactments(Change<EnactmentFacts>),
    Nodes(Change<KnownNode>),
    Agents(Change<Agent>),
    Nics(Change<BTreeSet<String>>),
    /// What is watched, and what went wrong; it is tried again.
    Trouble(String, String),
}

impl News {
    /// The kind that it is about.
    pub fn about(&self) -> String {
        let kind = match self {
            Self::Policies(_) => kinds::POLICY.plural,
            Self::Enactments(_) => kinds::ENACTMENT.plural,
            Self::Nodes(_) => Node::URL_PATH_SEGMENT,
            Self::Agents(_) => Pod::URL_PATH_SEGMENT,
            Self::Nics(_) => kinds::NODE_STATE.plural,
            Self::Trouble(kind, _) => kind,
        };
        kind.into()
    }
}

#[derive(Debug)]
pub enum Change<T> {
    /// The version is `metadata.resourceVersion`.
    Put {
        name: String,
        version: u64,
        thing: T,
    },
    Gone {
        name: String,
        version: u64,
    },
    /// All that there is.
    All(Vec<(String, u64, T)>),
}

type Stream = BoxStream<'static, News>;

pub struct Watches {
    client: Client,
    streams: SelectAll<Stream>,
    nics: Option<Stream>,
}

impl Watches {
    pub fn new(client: Client, namespace: &str) -> Self {
        let agents = Config::default().labels(&format!("{}={}", labels::COMPONENT, labels::AGENT));
        let streams = select_all([
            changes(Api::<Policy>::all(client.clone()), Config::default(), News::Policies, |policy| {
                Some(facts::policy(policy))
            }),
            changes(
                Api::<Enactment>::all(client.clone()),
                Config::default(),
                News::Enactments,
                facts::enactment,
            ),
            changes(Api::<Node>::all(client.clone()), Config::default(), News::Nodes, |node| {
                Some(facts::node(&node))
            }),
            changes(Api::<Pod>::namespaced(client.clone(), namespace), agents, News::Agents, |pod| {
                facts::agent(&pod)
            }),
        ]);
        Self { client, streams, nics: None }
    }

    /// NodeNetworkStates are big, so they are looked at only while somebody wants a MAC address. Whether that is new.
    pub fn want_nics(&mut self, wanted: bool) -> bool {
        let is_new = wanted != self.nics.is_some();
        if is_new {
            let api = || Api::<Nics>::all(self.client.clone());
            self.nics = wanted
                .then(|| changes(api(), Config::default(), News::Nics, |nics| Some(facts::macs(&nics))));
        }
        is_new
    }

    pub async fn next(&mut self) -> Option<News> {
        match &mut self.nics {
            None => self.streams.next().await,
            Some(nics) => tokio::select! {
                news = self.streams.next() => news,
                news = nics.next() => news,
            },
        }
    }
}

/// How long a watch that failed waits.
struct Pauses(Duration);

impl Iterator for Pauses {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let pause = self.0;
        self.0 = (pause * 2).min(SELDOM);
        Some(pause)
    }
}

impl Backoff for Pauses {
    fn reset(&mut self) {
        self.0 = SOON;
    }
}

fn changes<K, T: Send + 'static>(
    api: Api<K>,
    config: Config,
    news: fn(Change<T>) -> News,
    facts: fn(K) -> Option<T>,
) -> Stream
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let mut all = Vec::new();
    let mut read = move |event: Result<Event<K>, watcher::Error>| match event {
        Ok(event) => change(&mut all, event, facts).map(news),
        Err(error) => Some(News::Trouble(K::plural(&()).into_owned(), reason(&error))),
    };
    watch(api, config.timeout(WATCH))
        .backoff(Pauses(SOON))
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
            Some(Change::Put { name, version, thing: facts(object)? })
        }
        Event::Delete(object) => Some(Change::Gone { name: object.name_any(), version: version(&object) }),
        Event::Init => {
            all.clear();
            None
        }
        Event::InitApply(object) => {
            let (name, version) = (object.name_any(), version(&object));
            all.extend(facts(object).map(|thing| (name, version, thing)));
            None
        }
        Event::InitDone => Some(Change::All(std::mem::take(all))),
    }
}

/// Of one kind they grow with every write; none that is not a number is.
fn version<K: Resource>(object: &K) -> u64 {
    number(object.meta().resource_version.as_deref().unwrap_or_default())
}

pub fn number(version: &str) -> u64 {
    version.parse().unwrap_or_default()
}

fn reason(error: &watcher::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
