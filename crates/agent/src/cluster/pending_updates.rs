//! Status updates that wait until the API server answers. The latest one of an object replaces the earlier ones.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use linesman_daemon::backoff::Backoff;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::client::{ClusterClient, Error};

const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(15));
/// Updates that are sent at the same time, each of another object.
const AT_ONCE: usize = 4;

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
enum Command {
    Send(StatusUpdate),
    Withdraw(String),
}

#[derive(Debug)]
pub struct PendingUpdates {
    again: Rc<Notify>,
    send: mpsc::UnboundedSender<Command>,
    deliveries: mpsc::UnboundedReceiver<Delivery>,
}

impl PendingUpdates {
    pub fn start(client: ClusterClient) -> Self {
        let (send, commands) = mpsc::unbounded_channel();
        let (report, deliveries) = mpsc::unbounded_channel();
        let again = Rc::new(Notify::new());
        tokio::task::spawn_local(deliver(client, commands, report, again.clone()));
        Self { again, send, deliveries }
    }

    /// The API server answers again: what waits need not wait out its pause.
    pub fn try_now(&self) {
        self.again.notify_waiters();
    }

    pub fn send(&self, update: StatusUpdate) {
        self.send.send(Command::Send(update)).ok();
    }

    /// The cluster has what it should have of this policy: an update that still waits would be of the past.
    pub fn withdraw(&self, policy: &str) {
        let target = Target::Enactment { policy: policy.into(), attempt: 0 };
        self.send.send(Command::Withdraw(order(&target))).ok();
    }

    /// Waits for what became of updates: all that is known by now. Cancel safe.
    pub async fn deliveries(&mut self) -> Vec<Delivery> {
        let Some(first) = self.deliveries.recv().await else { return std::future::pending().await };
        let mut all = vec![first];
        while let Ok(next) = self.deliveries.try_recv() {
            all.push(next);
        }
        all
    }
}

async fn deliver(
    client: ClusterClient,
    mut commands: mpsc::UnboundedReceiver<Command>,
    report: mpsc::UnboundedSender<Delivery>,
    again: Rc<Notify>,
) {
    let mut waiting = Waiting::default();
    let mut sending = FuturesUnordered::new();
    let mut backoff = BACKOFF;
    let mut unreachable = false;
    let mut pause: Option<Instant> = None;
    loop {
        while pause.is_none() && sending.len() < AT_ONCE {
            let Some((key, update)) = waiting.begin() else { break };
            let client = &client;
            sending.push(async move {
                let sent = post(client, &update).await;
                (key, update, sent)
            });
        }
        tokio::select! {
            command = commands.recv() => match command {
                Some(Command::Send(update)) => waiting.add(update),
                Some(Command::Withdraw(key)) => waiting.withdraw(key),
                None => return,
            },
            Some((key, update, sent)) = sending.next() => {
                waiting.sending.remove(&key);
                match sent {
                    Ok(()) => {
                        waiting.withdrawn.remove(&key);
                        backoff.reset();
                        (unreachable, pause) = (false, None);
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
                        // Those that were sent together fail together: one pause for all.
                        if pause.is_none() {
                            pause = Some(Instant::now() + backoff.failed());
                        }
                        waiting.keep(key, update);
                    }
                }
            }
            () = sleep_until(pause) => pause = None,
            () = again.notified(), if pause.is_some() => pause = None,
        }
    }
}

async fn sleep_until(pause: Option<Instant>) {
    match pause {
        Some(pause) => tokio::time::sleep_until(pause).await,
        None => std::future::pending().await,
    }
}

/// At most one update of each object, in order of importance; one of an object that is being sent waits for that.
#[derive(Debug, Default)]
struct Waiting {
    updates: BTreeMap<String, StatusUpdate>,
    sending: BTreeSet<String>,
    /// Are being sent, and not to be sent again.
    withdrawn: BTreeSet<String>,
}

impl Waiting {
    fn add(&mut self, update: StatusUpdate) {
        let key = order(&update.target);
        self.withdrawn.remove(&key);
        self.updates.insert(key, update);
    }

    fn withdraw(&mut self, key: String) {
        self.updates.remove(&key);
        if self.sending.contains(&key) {
            self.withdrawn.insert(key);
        }
    }

    /// To be sent again, unless there is a later one.
    fn keep(&mut self, key: String, update: StatusUpdate) {
        if !self.withdrawn.remove(&key) {
            self.updates.entry(key).or_insert(update);
        }
    }

    fn begin(&mut self) -> Option<(String, StatusUpdate)> {
        let next = self.updates.keys().find(|key| !self.sending.contains(*key))?.clone();
        let update = self.updates.remove(&next)?;
        self.sending.insert(next.clone());
        Some((next, update))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn update(policy: &str, attempt: i64) -> StatusUpdate {
        let target = Target::Enactment { policy: policy.into(), attempt };
        StatusUpdate { target, uid: String::new(), status: Value::Null }
    }

    #[test]
    fn objects_are_sent_side_by_side_and_each_in_order() {
        let mut waiting = Waiting::default();
        waiting.add(StatusUpdate { target: Target::NodeState, ..update("", 0) });
        waiting.add(update("a", 1));
        waiting.add(update("b", 1));
        let (a, first) = waiting.begin().unwrap();
        assert_eq!(first, update("a", 1));
        waiting.add(update("a", 2));
        let (_, second) = waiting.begin().unwrap();
        assert_eq!(second, update("b", 1), "a is being sent");
        assert_eq!(waiting.begin().unwrap().1.target, Target::NodeState);
        assert!(waiting.begin().is_none());
        waiting.sending.remove(&a);
        waiting.keep(a, first);
        assert_eq!(waiting.begin().unwrap().1, update("a", 2), "the latest one replaces what failed");
    }

    #[test]
    fn what_the_cluster_need_not_hear_any_more_is_not_sent() {
        let mut waiting = Waiting::default();
        waiting.add(update("a", 1));
        waiting.withdraw(order(&update("a", 1).target));
        assert!(waiting.begin().is_none(), "it waited");
        waiting.add(update("a", 1));
        let (a, first) = waiting.begin().unwrap();
        waiting.withdraw(a.clone());
        waiting.sending.remove(&a);
        waiting.keep(a.clone(), first.clone());
        assert!(waiting.begin().is_none(), "it was being sent, and failed");
        waiting.add(first);
        assert!(waiting.begin().is_some());
    }
}
