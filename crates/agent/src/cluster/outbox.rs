//! What is to be told to the cluster, told as soon as it listens. The latest word about an object replaces the earlier ones.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use super::door::{Door, Error};
use crate::say;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(15);

/// A status of an object of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    pub to: To,
    pub uid: String,
    pub status: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    /// The enactment of this policy, about this attempt.
    Enactment {
        policy: String,
        attempt: i64,
    },
    NodeState,
}

impl To {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Enactment { .. } => "enactment",
            Self::NodeState => "node-state",
        }
    }
}

/// What became of a letter.
#[derive(Debug)]
pub enum Receipt {
    Told(To),
    /// Nobody waits for it: the object is gone, or another one has its name.
    Void(To),
    /// It is no use to try again.
    Refused(To, String),
}

#[derive(Debug)]
pub struct Outbox {
    again: Rc<Notify>,
    send: mpsc::UnboundedSender<Letter>,
    receipts: mpsc::UnboundedReceiver<Receipt>,
}

impl Outbox {
    pub fn open(door: Door) -> Self {
        let (send, letters) = mpsc::unbounded_channel();
        let (report, receipts) = mpsc::unbounded_channel();
        let again = Rc::new(Notify::new());
        tokio::task::spawn_local(deliver(door, letters, report, again.clone()));
        Self { again, send, receipts }
    }

    /// The API server answers again: what waits need not wait out its pause.
    pub fn try_now(&self) {
        self.again.notify_waiters();
    }

    pub fn send(&self, letter: Letter) {
        self.send.send(letter).ok();
    }

    pub async fn receipt(&mut self) -> Receipt {
        match self.receipts.recv().await {
            Some(receipt) => receipt,
            None => std::future::pending().await,
        }
    }
}

async fn deliver(
    door: Door,
    mut letters: mpsc::UnboundedReceiver<Letter>,
    report: mpsc::UnboundedSender<Receipt>,
    again: Rc<Notify>,
) {
    let mut waiting: BTreeMap<String, Letter> = BTreeMap::new();
    let mut pause = FIRST_WAIT;
    let mut silent = false;
    loop {
        let Some((key, letter)) = waiting.pop_first() else {
            match letters.recv().await {
                Some(letter) => waiting.insert(address(&letter.to), letter),
                None => return,
            };
            continue;
        };
        match post(&door, &letter).await {
            Ok(()) => {
                (pause, silent) = (FIRST_WAIT, false);
                report.send(Receipt::Told(letter.to)).ok();
            }
            Err(Error::Gone) => {
                report.send(Receipt::Void(letter.to)).ok();
            }
            Err(Error::Refused(why)) => {
                report.send(Receipt::Refused(letter.to, why)).ok();
            }
            Err(error) => {
                if !std::mem::replace(&mut silent, true) {
                    say::warning(format!("{error}; what is to be told waits"));
                }
                waiting.entry(key).or_insert(letter);
                tokio::time::timeout(pause, again.notified()).await.ok();
                pause = (pause * 2).min(LONGEST_WAIT);
            }
        }
        while let Ok(letter) = letters.try_recv() {
            waiting.insert(address(&letter.to), letter);
        }
    }
}

/// Answers go before the state of the node.
fn address(to: &To) -> String {
    match to {
        To::Enactment { policy, .. } => format!("1 {policy}"),
        To::NodeState => "2".into(),
    }
}

async fn post(door: &Door, letter: &Letter) -> Result<(), Error> {
    match &letter.to {
        To::Enactment { policy, .. } => {
            let name = linesman_api::names::enactment(&door.node, policy);
            Door::put_status(&door.enactments(), &name, Some(&letter.uid), &letter.status).await
        }
        To::NodeState => door.tell_state(&letter.status).await,
    }
}
