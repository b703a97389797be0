//! Writes to the API server: the NodeOpenVSwitch, the condition of the Node, its start-up taint, and events. Nothing waits for it.

use std::future::Future;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, ObjectReference};
use k8s_openapi::api::events::v1::Event as KubeEvent;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use linesman_api::conditions::NODE_OPEN_VSWITCH_READY;
use linesman_api::kinds::NODE_OPEN_VSWITCH;
use linesman_api::names::{KEEPER_MANAGER, OVS_START_UP_TAINT};
use linesman_api::objects::NodeOpenVSwitch;
use linesman_api::open_vswitch::OpenVSwitchStatus;
use linesman_api::time::Time;
use linesman_daemon::backoff::Backoff;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::build::{is_ready, summary};
use super::events::Event;

/// For each request.
const LIMIT: Duration = Duration::from_secs(5);
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(15));
/// Between two writes of a status: a daemon that flaps must not flood the API server.
const PACE: Duration = Duration::from_secs(1);
/// What waits for an API server that does not answer; older ones are dropped, the status says the same.
const EVENTS: usize = 64;
/// Kubernetes keeps events of objects without a namespace here.
const NAMESPACE: &str = "default";
const CONTROLLER: &str = "linesman.dev/ovs-keeper";
/// Bytes that Kubernetes accepts.
const NOTE: usize = 1024;

/// What the publisher needs to know.
#[derive(Clone)]
pub struct Settings {
    pub client: Client,
    pub node: String,
    /// Removes the taint `linesman.dev/open-vswitch-not-ready` when Open vSwitch is ready.
    pub remove_taint: bool,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("node", &self.node).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("the API server does not answer")]
    NoAnswer,
    #[error(transparent)]
    Kube(#[from] kube::Error),
    #[error("the status cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// What is to be in the cluster.
#[derive(Debug, Clone, Default)]
struct Wanted {
    status: Option<OpenVSwitchStatus>,
    events: Vec<(u64, Event)>,
    next_event: u64,
}

/// Delivers the latest of what it is given, as soon as the API server takes it.
#[derive(Debug)]
pub struct Publisher {
    wanted: watch::Sender<Wanted>,
}

impl Publisher {
    /// `known` is in the cluster already.
    pub fn start(settings: Settings, known: Option<OpenVSwitchStatus>) -> Self {
        let (wanted, receiver) = watch::channel(Wanted::default());
        tokio::spawn(deliver(settings, known, receiver));
        Self { wanted }
    }

    pub fn publish(&self, status: OpenVSwitchStatus, events: Vec<Event>) {
        self.wanted.send_modify(|wanted| {
            wanted.status = Some(status);
            for event in events {
                wanted.next_event += 1;
                wanted.events.push((wanted.next_event, event));
            }
            let old = wanted.events.len().saturating_sub(EVENTS);
            wanted.events.drain(..old);
        });
    }
}

/// What the status of this node is in the cluster: a keeper that was restarted writes nothing that is there.
pub async fn published(client: &Client, node: &str) -> kube::Result<Option<OpenVSwitchStatus>> {
    let api: Api<NodeOpenVSwitch> = Api::all(client.clone());
    Ok(api.get_opt(node).await?.map(|object| object.status))
}

async fn deliver(settings: Settings, known: Option<OpenVSwitchStatus>, mut wanted: watch::Receiver<Wanted>) {
    let mut cluster = Cluster { settings, known, ready: None, uid: None, sent: 0 };
    let mut backoff = BACKOFF;
    let mut complained = false;
    while wanted.changed().await.is_ok() {
        loop {
            let latest = wanted.borrow_and_update().clone();
            match cluster.write(&latest).await {
                Ok(()) => break,
                Err(error) => {
                    if !std::mem::replace(&mut complained, true) {
                        tracing::warn!("the status of Open vSwitch is not published: {error}; trying again");
                    }
                    tokio::time::sleep(backoff.failed()).await;
                }
            }
        }
        if std::mem::take(&mut complained) {
            tracing::info!("the status of Open vSwitch is published");
        }
        backoff.reset();
        tokio::time::sleep_until(Instant::now() + PACE).await;
    }
}

struct Cluster {
    settings: Settings,
    /// What the API server has.
    known: Option<OpenVSwitchStatus>,
    ready: Option<Value>,
    uid: Option<String>,
    /// The last event that was written.
    sent: u64,
}

impl Cluster {
    async fn write(&mut self, wanted: &Wanted) -> Result<(), Error> {
        let Some(status) = &wanted.status else { return Ok(()) };
        if self.known.as_ref() != Some(status) {
            self.status(status).await?;
            self.known = Some(status.clone());
        }
        self.condition(status).await?;
        if self.settings.remove_taint && is_ready(status) {
            self.remove_taint().await?;
            self.settings.remove_taint = false;
        }
        let sent = self.sent;
        for (number, event) in wanted.events.iter().filter(|(number, _)| *number > sent) {
            self.event(event).await?;
            self.sent = *number;
        }
        Ok(())
    }

    /// Applied: what an earlier version of the keeper wrote and this one does not is gone.
    async fn status(&mut self, status: &OpenVSwitchStatus) -> Result<(), Error> {
        let api: Api<NodeOpenVSwitch> = Api::all(self.settings.client.clone());
        let node = self.settings.node.as_str();
        let params = PatchParams::apply(KEEPER_MANAGER).force();
        let mut object = json!({ "apiVersion": NODE_OPEN_VSWITCH.api_version(), "kind": NODE_OPEN_VSWITCH.kind,
                                 "metadata": { "name": node } });
        if self.uid.is_none() {
            let owner = self.owner().await?;
            let mut owned = object.clone();
            owned["metadata"]["ownerReferences"] = json!([owner]);
            let created = within(api.patch(node, &params, &Patch::Apply(&owned))).await?;
            self.uid = created.metadata.uid;
        }
        object["status"] = serde_json::to_value(status)?;
        match within(api.patch_status(node, &params, &Patch::Apply(&object))).await {
            // Somebody has deleted it.
            Err(Error::Kube(kube::Error::Api(error))) if error.code == 404 => {
                self.uid = None;
                Err(Error::Kube(kube::Error::Api(error)))
            }
            result => result.map(drop),
        }
    }

    /// The object goes with its Node.
    async fn owner(&self) -> Result<Value, Error> {
        let nodes: Api<Node> = Api::all(self.settings.client.clone());
        let uid = within(nodes.get_metadata(&self.settings.node)).await?.metadata.uid;
        Ok(json!({ "apiVersion": "v1", "kind": "Node", "name": self.settings.node, "uid": uid }))
    }

    async fn condition(&mut self, status: &OpenVSwitchStatus) -> Result<(), Error> {
        let (ready, reason, message) = summary(status);
        let available = linesman_api::condition::find(&status.conditions, "Available");
        let since = available.and_then(|condition| condition.last_transition_time).unwrap_or(Time(0));
        let condition = json!({
            "type": NODE_OPEN_VSWITCH_READY, "status": if ready { "True" } else { "False" },
            "reason": reason.as_str(), "message": message, "lastTransitionTime": since, "lastHeartbeatTime": since,
        });
        if self.ready.as_ref() == Some(&condition) {
            return Ok(());
        }
        let nodes: Api<Node> = Api::all(self.settings.client.clone());
        // By type: the others are not touched.
        let patch = Patch::Strategic(json!({ "status": { "conditions": [condition] } }));
        within(nodes.patch_status(&self.settings.node, &params(), &patch)).await?;
        self.ready = Some(condition);
        Ok(())
    }

    async fn remove_taint(&self) -> Result<(), Error> {
        let nodes: Api<Node> = Api::all(self.settings.client.clone());
        let node = within(nodes.get(&self.settings.node)).await?;
        let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
        let kept: Vec<_> = taints.iter().filter(|taint| taint.key != OVS_START_UP_TAINT).collect();
        if kept.len() == taints.len() {
            return Ok(());
        }
        // Taints are one list: only if nobody has written the Node since.
        let version = node.metadata.resource_version;
        let patch =
            Patch::Merge(json!({ "metadata": { "resourceVersion": version }, "spec": { "taints": kept } }));
        within(nodes.patch(&self.settings.node, &params(), &patch)).await.map(drop)
    }

    async fn event(&self, event: &Event) -> Result<(), Error> {
        let api: Api<KubeEvent> = Api::namespaced(self.settings.client.clone(), NAMESPACE);
        let object = object(&self.settings.node, self.uid.as_deref(), event);
        match within(api.create(&PostParams::default(), &object)).await {
            // An event that is refused says nothing that the status does not.
            Err(Error::Kube(kube::Error::Api(status))) if (400..500).contains(&status.code) => {
                tracing::warn!("the event cannot be written: {}", status.message);
                Ok(())
            }
            result => result.map(drop),
        }
    }
}

fn params() -> PatchParams {
    PatchParams { field_manager: Some(KEEPER_MANAGER.into()), ..PatchParams::default() }
}

async fn within<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Error> {
    Ok(tokio::time::timeout(LIMIT, request).await.map_err(|_| Error::NoAnswer)??)
}

fn object(node: &str, uid: Option<&str>, event: &Event) -> KubeEvent {
    let regarding = ObjectReference {
        api_version: Some(NODE_OPEN_VSWITCH.api_version()),
        kind: Some(NODE_OPEN_VSWITCH.kind.into()),
        name: Some(node.into()),
        uid: uid.map(str::to_owned),
        ..ObjectReference::default()
    };
    KubeEvent {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", node.get(..200).unwrap_or(node))),
            namespace: Some(NAMESPACE.into()),
            ..ObjectMeta::default()
        },
        action: Some("Keep".into()),
        event_time: Some(MicroTime(Timestamp::now())),
        note: Some(super::build::cut(&event.message, NOTE)),
        reason: Some(event.reason.as_str().into()),
        regarding: Some(regarding),
        reporting_controller: Some(CONTROLLER.into()),
        reporting_instance: Some(node.chars().take(128).collect()),
        type_: Some(if event.warning { "Warning" } else { "Normal" }.into()),
        ..KubeEvent::default()
    }
}
