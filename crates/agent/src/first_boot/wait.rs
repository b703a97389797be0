//! Early in a boot, drivers may still bring up NICs, and a host may not have its name yet: both are waited for, as long as
//! they could change the choice or are needed by the document, and not beyond a deadline.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use linesman_core::mac_address::MacAddress;
use linesman_core::policy::Policy;
use linesman_day1::first_boot::{Record, Renamed, mentions, missing, renamed, uncertain, with_names};
use linesman_day1::index::Index;
use linesman_day1::select::{Choice, Identity, Match, select};
use linesman_engine::netlink::LinkEvents;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::documents::{self, Document};
use super::{Options, Progress, identity};
use crate::Result;

/// Nobody reports a new host name.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// If no NIC has come or gone for so long, none is expected any more, unless the document needs it.
const SETTLED: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct Found {
    pub identity: Identity,
    pub choice: Choice,
    index: Index,
    /// NICs that the files name with their MAC addresses.
    declared: BTreeMap<String, MacAddress>,
}

impl Found {
    /// Whether a name or a NIC that comes later could lead to another document.
    pub fn is_uncertain(&self) -> bool {
        uncertain(&self.choice, &self.identity)
    }

    /// Why a document that was chosen before is neither withdrawn nor replaced by the cluster-wide one, if so: it is still
    /// there, and only what led to it is missing now. A NIC may be broken.
    pub fn is_inconclusive(&self, record: &Record, is_kept: bool) -> Option<String> {
        let selected = record.selected.as_ref().filter(|selected| !selected.provisional);
        if self.is_uncertain() {
            let before = match selected {
                Some(selected) => format!("{} was chosen before ({})", selected.file, selected.why),
                None if record.in_use && record.selected.is_none() => {
                    "there was a document for it".to_owned()
                }
                None => return None,
            };
            return Some(format!("this host has no name yet, and {before}; nothing is concluded from that"));
        }
        let selected = selected?;
        let file = &selected.file;
        let (Choice::None { reason } | Choice::File { why: Match::ClusterWide { reason }, .. }) =
            &self.choice
        else {
            return None;
        };
        let is_lost = !self.chose(file) && !is_kept && self.index.has_file(file);
        is_lost.then(|| {
            format!(
                "{file} was chosen before ({}) and is still there, but {reason}; nothing is concluded from that. If \
                 it is not for this host, remove it",
                selected.why
            )
        })
    }

    fn chose(&self, name: &str) -> bool {
        matches!(&self.choice, Choice::File { file, .. } if file == name)
    }

    /// What policies declare, with the names of this host.
    pub fn as_called_here(&self, policies: &[Policy], record: &Record) -> Vec<Policy> {
        let renamed = self.renamed_since_applied(record);
        let here = |policy: &Policy| Policy {
            state: with_names(&policy.state, &renamed, &self.identity.nics),
            ..policy.clone()
        };
        policies.iter().map(here).collect()
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
    let mut nics = (Vec::new(), Instant::now());
    loop {
        let identity = identity::read().await?;
        if nics.0 != identity.nics {
            nics = (identity.nics.clone(), Instant::now());
        }
        let (choice, index) = match documents::index(&options.directory) {
            Ok(index) => (select(&index, &identity), index),
            Err(unreadable) => (Choice::Ambiguous { reason: unreadable.to_string() }, Index::default()),
        };
        let declared = nics_of(&index, &choice);
        let found = Found { identity, choice, index, declared };
        let awaited = awaited(options, record, &found);
        let limit = match awaited {
            Awaited::MoreNics => deadline.min(nics.1 + SETTLED),
            _ => deadline,
        };
        if *stop.borrow() {
            return Err(linesman_engine::Error::Interrupted.into());
        }
        if awaited == Awaited::Nothing || Instant::now() >= limit {
            return Ok(found);
        }
        let awaited = awaited.to_string();
        if awaited != said {
            say(Progress::Line(format!("waiting for {awaited} (at most {} s)", options.wait.as_secs())));
            said = awaited;
        }
        let look_again = (Instant::now() + LOOK_AGAIN).min(limit);
        tokio::select! {
            _ = timeout_at(look_again, events.changed()) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Awaited {
    Nothing,
    HostName,
    /// Which are needed.
    Nics(Vec<String>),
    /// One that may lead to another document, or that an applied document has: not for long.
    MoreNics,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::HostName => f.write_str("the name of this host"),
            Self::Nics(nics) if nics.len() == 1 => write!(f, "the NIC {}", nics[0]),
            Self::Nics(nics) => write!(f, "the NICs {}", nics.join(", ")),
            Self::MoreNics => f.write_str("NICs that may still come"),
        }
    }
}

fn awaited(options: &Options, record: &Record, found: &Found) -> Awaited {
    if uncertain(&found.choice, &found.identity) {
        return Awaited::HostName;
    }
    let (file, is_own) = match &found.choice {
        Choice::File { file, why } => (file, !matches!(why, Match::ClusterWide { .. })),
        Choice::None { .. } if found.index.lists_macs() => return Awaited::MoreNics,
        Choice::None { .. } | Choice::Ambiguous { .. } => return Awaited::Nothing,
    };
    // What is wrong with it is said later.
    let Ok(document) = Document::read(&options.directory, file) else { return Awaited::Nothing };
    let is_applied = record.applied.as_ref().is_some_and(|applied| applied.hash == document.hash);
    if !is_own && !is_applied && found.index.lists_macs() {
        return Awaited::MoreNics;
    }
    let nics = &found.identity.nics;
    let document = &document.policy.state;
    let renamed = found.other_names(document, record);
    let state = with_names(document, &renamed, nics);
    match missing(&state, nics) {
        missing if missing.is_empty() => Awaited::Nothing,
        // It holds without, and boots must not wait for a NIC that is broken.
        _ if is_applied => Awaited::MoreNics,
        missing => Awaited::Nics(missing),
    }
}

fn nics_of(index: &Index, choice: &Choice) -> BTreeMap<String, MacAddress> {
    let Choice::File { file, .. } = choice else { return BTreeMap::new() };
    let host = index.hosts.iter().find(|host| host.file == *file);
    host.map(|host| host.nics.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_day1::first_boot::{Applied, Hash, Selected};
    use linesman_day1::index::IndexedHost;
    use linesman_day1::select::Nic;

    const MAC: &str = "52:54:00:00:00:0a";

    fn found(hostname: &str, macs: &[&str], files: &[&str]) -> Found {
        let hosts = files.iter().map(|file| IndexedHost {
            file: (*file).to_owned(),
            name: None,
            macs: vec![MAC.parse().unwrap()],
            nics: BTreeMap::new(),
        });
        let index = Index { hosts: hosts.collect(), ..Index::default() };
        let nics = macs.iter().enumerate();
        let nics = nics.map(|(at, mac)| Nic { name: format!("eth{at}"), mac: mac.parse().unwrap() });
        let identity = Identity { hostname: hostname.into(), nics: nics.collect() };
        let choice = select(&index, &identity);
        Found { identity, choice, index, declared: BTreeMap::new() }
    }

    fn chosen(file: &str) -> Record {
        let hash = Hash::of(b"");
        let selected =
            Selected { file: file.into(), hash, why: "the NIC eth7 has it".into(), provisional: false };
        Record { selected: Some(selected), ..Record::default() }
    }

    #[test]
    fn a_document_that_is_there_is_not_withdrawn_because_a_nic_is_missing() {
        let other = ["52:54:00:00:00:0b"];
        let gone = found("n1", &other, &["a.yml"]);
        let why = gone.is_inconclusive(&chosen("a.yml"), false).unwrap();
        assert!(
            why.starts_with("a.yml was chosen before (the NIC eth7 has it) and is still there, but "),
            "{why}"
        );
        assert_eq!(gone.is_inconclusive(&chosen("a.yml"), true), None, "it is applied as it is");
        assert_eq!(gone.is_inconclusive(&chosen("b.yml"), false), None, "the file is gone");
        assert_eq!(gone.is_inconclusive(&Record::default(), false), None);
        assert_eq!(found("n1", &[MAC], &["a.yml"]).is_inconclusive(&chosen("a.yml"), false), None);
        let unnamed = found("localhost", &other, &["a.yml"]);
        assert!(unnamed.is_inconclusive(&chosen("a.yml"), true).unwrap().contains("no name yet"));
        let unreadable = Record { in_use: true, ..Record::default() };
        assert!(unnamed.is_inconclusive(&unreadable, false).unwrap().contains("there was a document"));
        assert_eq!(unnamed.is_inconclusive(&Record::default(), false), None, "there was none");
    }

    #[test]
    fn nics_are_awaited_as_long_as_they_matter() {
        let dir = tempfile::tempdir().unwrap();
        let text = "interfaces: [{name: eth9, type: ethernet}]\n";
        std::fs::write(dir.path().join("a.yml"), text).unwrap();
        let options = Options { directory: dir.path().to_owned(), ..Options::default() };
        let never = Record::default();
        let without = Found { index: Index::default(), ..found("n1", &["52:54:00:00:00:0b"], &[]) };
        assert_eq!(awaited(&options, &never, &without), Awaited::Nothing);
        let of_others = found("n1", &["52:54:00:00:00:0b"], &["a.yml"]);
        assert_eq!(awaited(&options, &never, &of_others), Awaited::MoreNics);
        let own = found("n1", &[MAC], &["a.yml"]);
        assert_eq!(awaited(&options, &never, &own), Awaited::Nics(vec!["eth9".into()]));
        let (hash, none) = (Hash::of(text.as_bytes()), BTreeMap::new());
        let applied =
            Applied { file: "a.yml".into(), hash, nics: none.clone(), called: none, provisional: false };
        let applied = Record { applied: Some(applied), ..never };
        assert_eq!(awaited(&options, &applied, &own), Awaited::MoreNics, "it may be broken");
        assert_eq!(awaited(&options, &applied, &found("localhost", &[], &["a.yml"])), Awaited::HostName);
    }
}
