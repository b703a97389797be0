//! Status updates that wait until the API server answers. The latest one of an object replaces the earlier ones.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use linesman_daemon::backoff::Backoff;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use super::client::{ClusterClient, Error};

const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(15));

/// A status of an object of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    pub target: Target,
    pub uid: String,
    pub status: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The enactment of this policy, about this attempt.
    Enactment {
        policy: String,
        attempt: i64,
    },
    NodeState,
}

impl Target {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Enactment { .. } => "enactment",
            Self::NodeState => "node-state",
        }
    }
}

/// What became of an update.
#[derive(Debug)]
pub enum Delivery {
    Published(Target),
    /// Nobody waits for it: the object is gone, or another one has its name.
    Obsolete(Target),
    /// It is no use to try again.
    Refused(Target, String),
}

#[derive(Debug)]
pub struct PendingUpdates {
    again: Rc<Notify>,
    send: mpsc::UnboundedSender<StatusUpdate>,
    deliveries: mpsc::UnboundedReceiver<Delivery>,
}

impl PendingUpdates {
    pub fn start(client: ClusterClient) -> Self {
        let (send, updates) = mpsc::unbounded_channel();
        let (report, deliveries) = mpsc::unbounded_channel();
        let again = Rc::new(Notify::new());
        tokio::task::spawn_local(deliver(client, updates, report, again.clone()));
        Self { again, send, deliveries }
    }

    /// The API server answers again: what waits need not wait out its pause.
    pub fn try_now(&self) {
        self.again.notify_waiters();
    }

    pub fn send(&self, update: StatusUpdate) {
        self.send.send(update).ok();
    }

    pub async fn delivery(&mut self) -> Delivery {
        match self.deliveries.recv().await {
            Some(delivery) => delivery,
            None => std::future::pending().await,
        }
    }
}

async fn deliver(
    client: ClusterClient,
    mut updates: mpsc::UnboundedReceiver<StatusUpdate>,
    report: mpsc::UnboundedSender<Delivery>,
    again: Rc<Notify>,
) {
    let mut waiting: BTreeMap<String, StatusUpdate> = BTreeMap::new();
    let mut backoff = BACKOFF;
    let mut unreachable = false;
    loop {
        let Some((key, update)) = waiting.pop_first() else {
            match updates.recv().await {
                Some(update) => waiting.insert(order(&update.target), update),
                None => return,
            };
            continue;
        };
        match post(&client, &update).await {
            Ok(()) => {
                backoff.reset();
                unreachable = false;
                report.send(Delivery::Published(update.target)).ok();
            }
            Err(Error::Gone) => {
                report.send(Delivery::Obsolete(update.target)).ok();
            }
            Err(Error::Refused(why)) => {
                report.send(Delivery::Refused(update.target, why)).ok();
            }
            Err(error) => {
                if !std::mem::replace(&mut unreachable, true) {
                    tracing::warn!("{error}; status updates wait");
                }
                waiting.entry(key).or_insert(update);
                tokio::time::timeout(backoff.failed(), again.notified()).await.ok();
            }
        }
        while let Ok(update) = updates.try_recv() {
            waiting.insert(order(&update.target), update);
        }
    }
}

/// Enactments go before the state of the node.
fn order(to: &Target) -> String {
    match to {
        Target::Enactment { policy, .. } => format!("1 {policy}"),
        Target::NodeState => "2".into(),
    }
}

async fn post(client: &ClusterClient, update: &StatusUpdate) -> Result<(), Error> {
    match &update.target {
        Target::Enactment { policy, .. } => {
            let name = linesman_api::names::enactment(&client.node, policy);
            ClusterClient::put_status(&client.enactments(), &name, Some(&update.uid), &update.status).await
        }
        Target::NodeState => client.publish_node_state(&update.status).await,
    }
}
