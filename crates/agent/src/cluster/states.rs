//! The NodeNetworkState of this node: written when something changed, and on request.

use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Api;
use kube::api::ObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event};
use linesman_api::labels::FORCE_REFRESH;
use linesman_api::node_state::{FirstBootStatus, NodeStateStatus};
use linesman_api::objects::{NodeState, NodeStateMeta};
use linesman_api::time::Time;
use linesman_daemon::watch::watch_renewed;
use linesman_fleet::report::{AgentFacts, BUDGET, Glob, report, update};
use serde_json::Value;
use tokio::time::Instant;

use super::client::{ClusterClient, Error, within, written};
use super::pace::Pace;
use crate::state_file::StateFile;

type Events = Pin<Box<dyn Stream<Item = Result<Event<NodeStateMeta>, watcher::Error>> + Send>>;

pub struct States {
    client: ClusterClient,
    events: Events,
    /// The value of the label.
    asked: Option<String>,
    /// Its value when a report was last requested: on disk, since a request may come while no agent runs.
    answered: Option<String>,
    state_file: StateFile,
    filter: Vec<Glob>,
    facts: AgentFacts,
    /// What the cluster knows.
    known: Option<NodeStateStatus>,
    compared: bool,
    listed: bool,
    forced: bool,
    complained: bool,
    pace: Pace,
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("States").field("asked", &self.asked).field("forced", &self.forced).finish()
    }
}

impl States {
    pub fn watch(
        client: &ClusterClient,
        state_file: StateFile,
        filter: Vec<Glob>,
        facts: AgentFacts,
    ) -> crate::Result<Self> {
        let api: Api<NodeStateMeta> = Api::all(client.client());
        let own = Config::default().fields(&format!("metadata.name={}", client.node));
        Ok(Self {
            client: client.clone(),
            events: watch_renewed(api, own, client.renewal.clone()).default_backoff().boxed(),
            asked: None,
            answered: state_file.take()?,
            state_file,
            filter,
            facts,
            known: None,
            compared: false,
            listed: false,
            forced: false,
            complained: false,
            pace: Pace::default(),
        })
    }

    /// Waits for a request for a report, or until one that came too soon may be written. Cancel safe.
    pub async fn asked_or_due(&mut self) {
        let held = self.pace.held;
        let due = async move {
            match held {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.requested() => {}
            () = due => self.pace.held = None,
        }
    }

    /// Waits for a request for a report, or until the object is gone. Cancel safe.
    async fn requested(&mut self) {
        loop {
            let Some(event) = self.events.next().await else { return std::future::pending().await };
            match event {
                Ok(Event::Delete(_)) => {
                    (self.known, self.forced) = (None, true);
                    return;
                }
                Ok(Event::Apply(object) | Event::InitApply(object)) => {
                    self.asked = object.metadata.labels.and_then(|mut labels| labels.remove(FORCE_REFRESH));
                    match &self.asked {
                        Some(_) if self.asked != self.answered => {
                            self.forced = true;
                            return;
                        }
                        // Once the label is removed, the same value is a new request.
                        None if self.answered.is_some() => self.note_answered(),
                        _ => {}
                    }
                }
                Ok(Event::InitDone) => {
                    if std::mem::replace(&mut self.listed, true) {
                        // The API server was away, and may have been restored from a backup.
                        (self.known, self.compared) = (None, false);
                        return;
                    }
                }
                Ok(_) => {}
                Err(error) => self.log_refusal(&error),
            }
        }
    }

    /// A missing permission is logged here; that the API server does not answer, by the watch of the enactments.
    fn log_refusal(&mut self, error: &watcher::Error) {
        use watcher::Error::{InitialListFailed, WatchStartFailed};
        if let InitialListFailed(kube::Error::Api(status)) | WatchStartFailed(kube::Error::Api(status)) =
            error
            && status.code == 403
            && !std::mem::replace(&mut self.complained, true)
        {
            tracing::warn!("requests for the state of this node cannot be watched: {}", status.message);
        }
    }

    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// What became of the document of this node is on disk, written by another process.
    pub fn note_first_boot(&mut self, status: Option<FirstBootStatus>) {
        self.facts.first_boot = status;
    }

    /// The status to write for this state; none if the cluster has it, or if it is too soon.
    pub async fn status_update(&mut self, seen: &Value, now: Time) -> Option<Value> {
        if !std::mem::replace(&mut self.compared, true) && self.known.is_none() {
            self.known = self.written().await;
        }
        let report = report(seen, &self.filter, BUDGET);
        let known = self.known.as_ref().filter(|_| !self.forced);
        let Some(status) = update(known, report, &self.facts, now) else {
            self.pace.held = None;
            return None;
        };
        if !self.pace.may_write(Instant::now(), self.forced) {
            return None;
        }
        if std::mem::take(&mut self.forced) && self.asked != self.answered {
            self.note_answered();
        }
        let value = serde_json::to_value(&status).ok()?;
        self.known = Some(status);
        Some(value)
    }

    fn note_answered(&mut self) {
        self.answered = self.asked.clone();
        if let Err(e) = self.state_file.write(&self.answered) {
            tracing::warn!("{e}; the state of this node may be published once more than needed");
        }
    }

    /// What the cluster knows, or is about to.
    pub fn current(&self) -> Option<&Value> {
        self.known.as_ref()?.current_state.as_ref()
    }

    /// What an earlier run of this agent wrote: a settled node writes nothing after a restart.
    async fn written(&self) -> Option<NodeStateStatus> {
        let object = within(self.client.states().get_opt(&self.client.node)).await.ok()??;
        Some(object.status)
    }
}

impl ClusterClient {
    /// The object is made when it is missing; it goes with its node.
    pub async fn publish_node_state(&self, status: &Value) -> Result<(), Error> {
        match Self::put_status(&self.states(), &self.node, None, status).await {
            Err(Error::Gone) => {
                let owner = OwnerReference {
                    api_version: "v1".into(),
                    kind: "Node".into(),
                    name: self.node.clone(),
                    uid: self.node_uid().await?,
                    ..OwnerReference::default()
                };
                let metadata = ObjectMeta {
                    name: Some(self.node.clone()),
                    owner_references: Some(vec![owner]),
                    ..ObjectMeta::default()
                };
                let object = NodeState { metadata, ..NodeState::default() };
                within(self.states().create(&written(), &object)).await?;
                Self::put_status(&self.states(), &self.node, None, status).await
            }
            result => result,
        }
    }
}
