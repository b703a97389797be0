//! The record on disk, and the flag by which other programs see that the host's bridges are declared.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use linesman_core::mac_address::MacAddress;
use linesman_core::outcome::Outcome;
use linesman_core::plan::Plan;
use linesman_daemon::clock;
use linesman_day1::first_boot::{Applied, Cause, DocumentState, Hash, Record, Selected, known_as};
use linesman_day1::select::Choice;
use linesman_engine::atomic_file;
use linesman_engine::transaction::Settings;

use super::documents::Document;
use super::wait::Found;
use super::{Options, act};
use crate::{Error, Result, StateFile};

/// OpenShift's: if it is there, configure-ovs leaves br-ex alone; if it has the content of the document, its other script
/// takes the document for applied.
pub const FLAG: &str = "applied";

/// The document that was applied last, as it was: its files may have changed since.
const KEPT: &str = "first-boot.yml";

/// The NICs of a document: as this host calls them, and as the document does where that differs.
#[derive(Debug, Clone)]
pub struct Nics {
    pub names: BTreeMap<String, MacAddress>,
    pub called: BTreeMap<String, MacAddress>,
}

#[derive(Debug)]
pub struct RecordFile {
    pub record: Record,
    state_file: StateFile,
    flag: PathBuf,
    state_dir: PathBuf,
    dry_run: bool,
    provisional: bool,
}

/// Where the record is missing or damaged, the document that was kept tells that one was applied.
fn known_from(state_dir: &Path) -> Option<Applied> {
    let bytes = fs::read(state_dir.join(KEPT)).ok()?;
    let (nics, called) = (BTreeMap::new(), BTreeMap::new());
    Some(Applied { file: String::new(), hash: Hash::of(&bytes), nics, called, provisional: false })
}

impl RecordFile {
    pub fn take(settings: &Settings, options: &Options) -> Result<Self> {
        let state_file = StateFile::first_boot(&settings.state_dir);
        let mut record: Record = match state_file.read() {
            // It would be put aside.
            Err(Error::DamagedStateFile { .. }) if options.dry_run => Record::default(),
            Err(Error::DamagedStateFile { .. }) => state_file.take()?,
            read => read?,
        };
        if record == Record::default() {
            record.applied = known_from(&settings.state_dir);
        }
        let (flag, state_dir) = (options.directory.join(FLAG), settings.state_dir.clone());
        let (dry_run, provisional) = (options.dry_run, false);
        Ok(Self { record, state_file, flag, state_dir, dry_run, provisional })
    }

    /// The document that was applied last, in a transaction; none if it was not kept.
    pub fn kept(&self) -> Option<Document> {
        let kept = Document::read(&self.state_dir, KEPT).ok()?;
        let applied = self.record.applied.as_ref()?;
        Some(Document { file: applied.file.clone(), ..kept })
    }

    pub fn is_applied(&self, document: &Document) -> bool {
        self.record.applied.as_ref().is_some_and(|applied| applied.hash == document.hash)
    }

    pub fn store(&self) -> Result<()> {
        if self.dry_run { Ok(()) } else { self.state_file.write(&self.record) }
    }

    /// A document is in use as soon as it is selected: what the host gets instead of it would be guessed. The same goes for
    /// one that cannot be read, and while it is open which one it is.
    pub fn select(&mut self, found: &Found, document: Option<&Document>, options: &Options) -> Result<()> {
        self.provisional = found.is_uncertain();
        // Others configure this host until the next attempt.
        let fell_back = options.fall_back && !self.record.in_use && self.record.succeeded == Some(false);
        if let (Some(document), Choice::File { file, why }) = (document, &found.choice)
            && document.file == *file
        {
            let (hash, why) = (document.hash.clone(), why.to_string());
            let selected = Selected { file: file.clone(), hash, why, provisional: self.provisional };
            if self.record.selected.as_ref().is_none_or(|known| known.hash != selected.hash) {
                self.record.succeeded = None;
            }
            self.record.selected = Some(selected);
        }
        if fell_back { Ok(()) } else { self.use_it(document) }
    }

    /// First on record, so that a flag which is there without its document is known to be ours.
    fn use_it(&mut self, document: Option<&Document>) -> Result<()> {
        self.record.in_use = true;
        let stored = self.store();
        // A disk that is full is no reason to leave the host to others.
        match document {
            Some(document) => self.raise_flag(&document.bytes)?,
            None if self.flag.exists() => {}
            None => self.raise_flag(&[])?,
        }
        stored
    }

    /// Before the host is touched.
    pub fn begin(&mut self, document: &Document) -> Result<()> {
        self.use_it(Some(document))?;
        let message = "an attempt to apply it was interrupted";
        self.record.succeeded = Some(false);
        self.record.turn(DocumentState::Failed, message, clock::now());
        self.store()
    }

    pub fn applied(
        &mut self,
        document: &Document,
        nics: Nics,
        found: &Found,
        outcome: &Outcome,
        options: &Options,
    ) {
        self.record.succeeded = Some(outcome.succeeded());
        if outcome.succeeded() {
            self.hold(document, nics, found);
            self.keep_document(document);
            return self.record.turn(DocumentState::Applied, "", clock::now());
        }
        let message = self.fallen_back(crate::act::reason(outcome), options);
        self.record.turn(DocumentState::Failed, message, clock::now());
    }

    /// A document that never was applied leaves the host to others, if that is wanted.
    pub fn falls_back(&self, options: &Options) -> bool {
        options.fall_back && self.record.applied.is_none()
    }

    pub fn fallen_back(&mut self, reason: String, options: &Options) -> String {
        if !self.falls_back(options) {
            return reason;
        }
        self.lower_flag();
        format!("{reason}; other programs configure this host instead")
    }

    pub fn compared(
        &mut self,
        document: &Document,
        nics: Nics,
        found: &Found,
        plan: &Plan,
        cause: &Cause,
        options: &Options,
    ) {
        let (state, message) = match (plan.is_empty(), cause) {
            (true, _) => {
                let is_first = self.record.applied.is_none();
                self.hold(document, nics, found);
                // What brought the host up is what brings it up again with other names, and this may be a part of it only.
                if is_first {
                    self.keep_document(document);
                }
                self.record.succeeded = Some(true);
                (DocumentState::Applied, "this host is already as the document declares".to_owned())
            }
            (false, Cause::Adopted(adopted)) => {
                let adopted: Vec<String> =
                    adopted.iter().map(|a| format!("{} (policy {})", a.interface, a.policy)).collect();
                let message = format!("policies declare its interfaces by now: {}", adopted.join(", "));
                (DocumentState::Superseded, message)
            }
            (false, _) => (DocumentState::NotLive, act::not_live(plan, cause, options)),
        };
        self.record.turn(state, message, clock::now());
    }

    /// It holds as it was applied; an edit that failed and was undone is no failure any more.
    pub fn keep(&mut self) {
        self.record.succeeded = Some(true);
        if self.record.state != Some(DocumentState::Applied) {
            self.record.turn(DocumentState::Applied, "", clock::now());
        }
    }

    fn hold(&mut self, document: &Document, nics: Nics, found: &Found) {
        let (file, hash) = (document.file.clone(), document.hash.clone());
        self.record.applied = Some(Applied {
            file,
            hash,
            nics: self.known_nics(nics.names, found),
            called: nics.called,
            provisional: self.provisional,
        });
    }

    /// What was applied is there by the names of today.
    pub fn followed(&mut self, nics: Nics, found: &Found) {
        let names = self.known_nics(nics.names, found);
        if let Some(applied) = &mut self.record.applied {
            applied.nics = names;
            applied.called.extend(nics.called);
        }
    }

    /// Also NICs of earlier documents: what these brought stays on the host.
    fn known_nics(&self, now: BTreeMap<String, MacAddress>, found: &Found) -> BTreeMap<String, MacAddress> {
        let before =
            self.record.applied.as_ref().map(|applied| known_as(&applied.nics, &found.identity.nics));
        let mut all = before.unwrap_or_default();
        all.extend(now);
        all
    }

    fn keep_document(&self, document: &Document) {
        let path = self.state_dir.join(KEPT);
        if let Err(error) = atomic_file::write(&path, &document.bytes, 0o600) {
            tracing::warn!("cannot write {}: {error}", path.display());
        }
    }

    /// Its network stays; who made br-ex is open again.
    pub fn withdraw(&mut self, reason: &str) -> Result<()> {
        let message = format!("{reason}; the network of this host stays as it is");
        let since = Record { state: self.record.state, since: self.record.since, ..Record::default() };
        self.record = since;
        self.record.turn(DocumentState::Withdrawn, message, clock::now());
        if !self.dry_run {
            drop(fs::remove_file(self.state_dir.join(KEPT)));
        }
        self.remove_flag()
    }

    fn raise_flag(&self, content: &[u8]) -> Result<()> {
        if self.dry_run || fs::read(&self.flag).is_ok_and(|now| now == content) {
            return Ok(());
        }
        atomic_file::write(&self.flag, content, 0o600).map_err(|error| self.failed(error))
    }

    fn lower_flag(&mut self) {
        self.record.in_use = false;
        if let Err(error) = self.remove_flag() {
            tracing::warn!("{error}; configure-ovs does not take over");
        }
    }

    fn remove_flag(&self) -> Result<()> {
        if self.dry_run {
            return Ok(());
        }
        match fs::remove_file(&self.flag) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::StateFile { path: self.flag.display().to_string(), source }
    }
}
