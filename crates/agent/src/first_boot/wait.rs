//! Early in a boot, drivers may still bring up NICs, and a host may not have its name yet: both are waited for, as long as
//! they could change the choice or are needed by the document, and not beyond a deadline.

use std::collections::BTreeMap;
use std::time::Duration;

use linesman_core::mac_address::MacAddress;
use linesman_day1::first_boot::{Record, Renamed, mentions, missing, renamed, uncertain, with_names};
use linesman_day1::index::Index;
use linesman_day1::select::{Choice, Identity, select};
use linesman_engine::netlink::LinkEvents;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::documents::{self, Document};
use super::{Options, Progress, identity};
use crate::Result;

/// Nobody reports a new host name.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Found {
    pub identity: Identity,
    pub choice: Choice,
    /// NICs that the files name with their MAC addresses.
    declared: BTreeMap<String, MacAddress>,
}

impl Found {
    /// Whether a name or a NIC that comes later could lead to another document.
    pub fn is_uncertain(&self) -> bool {
        uncertain(&self.choice, &self.identity)
    }

    /// NICs that the document calls otherwise than this host does: as its files declare their MAC addresses, and as it and
    /// this host called them when it was applied.
    pub fn other_names(&self, document: &Value, record: &Record) -> Vec<Renamed> {
        let called = record.applied.as_ref().map(|applied| applied.called.clone()).unwrap_or_default();
        let mut all = renamed(&self.declared, &self.identity.nics);
        let mut more = renamed(&called, &self.identity.nics);
        more.retain(|known| !self.declared.contains_key(&known.from));
        all.append(&mut more);
        all.retain(|renamed| mentions(document, &renamed.from));
        let known: Vec<String> = all.iter().map(|renamed| renamed.from.clone()).collect();
        let mut since = self.renamed_since_applied(record);
        since.retain(|one| !self.declared.contains_key(&one.from) && !known.contains(&one.from));
        all.append(&mut since);
        all
    }

    /// NICs of the applied document that have another name by now.
    pub fn renamed_since_applied(&self, record: &Record) -> Vec<Renamed> {
        record.applied.as_ref().map(|applied| renamed(&applied.nics, &self.identity.nics)).unwrap_or_default()
    }

    /// The NICs that a document with the names of this host mentions.
    pub fn nics_in(&self, document: &Value) -> BTreeMap<String, MacAddress> {
        let used = self.identity.nics.iter().filter(|nic| mentions(document, &nic.name));
        used.map(|nic| (nic.name.clone(), nic.mac.clone())).collect()
    }

    /// The NICs that a document calls otherwise, by its names.
    pub fn called_in(&self, document: &Value, renamed: &[Renamed]) -> BTreeMap<String, MacAddress> {
        let mac =
            |name: &str| self.identity.nics.iter().find(|nic| nic.name == name).map(|nic| nic.mac.clone());
        let used = renamed.iter().filter(|renamed| mentions(document, &renamed.from));
        used.filter_map(|Renamed { from, to }| Some((from.clone(), mac(to)?))).collect()
    }
}

/// Until the choice is certain and what its document needs is there, or the deadline is over.
pub async fn settle(
    options: &Options,
    record: &Record,
    stop: &mut watch::Receiver<bool>,
    say: &mut dyn FnMut(Progress),
) -> Result<Found> {
    let deadline = Instant::now() + options.wait;
    let mut events = LinkEvents::subscribe().await?;
    let mut said = String::new();
    loop {
        let identity = identity::read().await?;
        let (choice, declared) = match documents::index(&options.directory) {
            Ok(index) => (select(&index, &identity), nics_of(&index, &identity)),
            Err(unreadable) => (Choice::Ambiguous { reason: unreadable.to_string() }, BTreeMap::new()),
        };
        let found = Found { identity, choice, declared };
        let awaited = awaited(options, record, &found);
        if *stop.borrow() {
            return Err(linesman_engine::Error::Interrupted.into());
        }
        if awaited.is_empty() || Instant::now() >= deadline {
            return Ok(found);
        }
        if awaited != said {
            say(Progress::Line(format!("waiting for {awaited} (at most {} s)", options.wait.as_secs())));
            said = awaited;
        }
        let look_again = (Instant::now() + LOOK_AGAIN).min(deadline);
        tokio::select! {
            _ = timeout_at(look_again, events.changed()) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

/// In words; empty: nothing.
fn awaited(options: &Options, record: &Record, found: &Found) -> String {
    if uncertain(&found.choice, &found.identity) {
        return "the name of this host".to_owned();
    }
    let Choice::File { file, .. } = &found.choice else { return String::new() };
    // What is wrong with it is said later.
    let Ok(document) = Document::read(&options.directory, file) else { return String::new() };
    let nics = &found.identity.nics;
    let document = &document.policy.state;
    let renamed = found.other_names(document, record);
    let state = with_names(document, &renamed, nics);
    match missing(&state, nics).as_slice() {
        [] => String::new(),
        [one] => format!("the NIC {one}"),
        several => format!("the NICs {}", several.join(", ")),
    }
}

fn nics_of(index: &Index, identity: &Identity) -> BTreeMap<String, MacAddress> {
    let Choice::File { file, .. } = select(index, identity) else { return BTreeMap::new() };
    let host = index.hosts.iter().find(|host| host.file == file);
    host.map(|host| host.nics.clone()).unwrap_or_default()
}
