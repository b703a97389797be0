//! The journal: what was intended, how to roll it back, how it ended. Outlives a power cut.
//!
//! One small record per change, rewritten as the change goes on, and its snapshot beside it, written
//! once. Both are fsynced and renamed into place, so that a reader sees a whole one or none.

mod phase;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use linesman_core::plan::Plan;
use linesman_core::probe::ProbeResult;
pub use phase::{Phase, TRANSITIONS, Transition};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::snapshot::Snapshot;
use crate::{Error, Result, atomic_file};
use linesman_core::outcome::Outcome;

/// Room set aside when a change begins, so that its outcome can be written on a disk that filled up since.
const RESERVE: usize = 256 * 1024;

/// How many finished changes are kept.
const KEEP: usize = 50;

/// Of records and snapshots. One that a newer linesman wrote is refused.
pub const VERSION: u32 = 1;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    #[serde(default)]
    pub version: u32,
    pub id: String,
    pub started: String,
    /// What people call it: a file, a policy.
    pub source: String,
    /// The policies that this change applies or reverts, all of them; none for a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    #[serde(default)]
    pub revert: bool,
    pub phase: Phase,
    /// NetworkManager's name for the checkpoint; good only within one life of NetworkManager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    pub boot: String,
    pub plan: Plan,
    pub desired: Value,
    /// What probes said before the change. None: nothing was probed, or an older version began it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<ProbeResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

impl Record {
    pub fn new(source: &str, plan: Plan, desired: Value) -> Self {
        let now = SystemTime::now();
        Self {
            version: VERSION,
            id: id_at(now),
            started: humantime::format_rfc3339_seconds(now).to_string(),
            source: source.to_string(),
            policies: Vec::new(),
            revert: false,
            phase: Phase::Prepared,
            checkpoint: None,
            boot: boot_id(),
            plan,
            desired,
            before: Vec::new(),
            outcome: None,
        }
    }

    /// Only along TRANSITIONS.
    pub fn turn(&mut self, next: Phase) {
        debug_assert!(self.phase.leads_to(&next), "{} -> {}", self.phase.as_str(), next.as_str());
        self.phase = next;
    }

    /// Whether this change applied the policy, or reverted it.
    pub fn concerns(&self, policy: &str, revert: bool) -> bool {
        self.revert == revert && self.policies.iter().any(|name| name == policy)
    }

    pub fn open(&self) -> bool {
        self.phase != Phase::Done
    }
}

/// Distinguishes this boot of the host from all others.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}

/// The file of a snapshot. It has the record as it began, too, should the record itself be damaged later.
#[derive(Serialize)]
struct SnapshotFile<'a> {
    #[serde(flatten)]
    snapshot: &'a Snapshot,
    record: Value,
}

#[derive(Deserialize)]
struct Begun {
    record: Record,
}

#[derive(Clone, Debug)]
pub struct Journal {
    dir: PathBuf,
}

impl Journal {
    pub fn new(state_dir: &Path) -> Self {
        Self { dir: state_dir.join("journal") }
    }

    /// For a change that begins now. It sorts after all others, though the clock may have been set back since.
    pub fn next_id(&self) -> String {
        let newest = self.record_files().iter().filter_map(|path| time_of(&id_of(path))).max();
        let later = newest.map_or(SystemTime::UNIX_EPOCH, |newest| newest + Duration::from_millis(1));
        id_at(later.max(SystemTime::now()))
    }

    /// Writes the snapshot first, then the record that points to it.
    pub fn begin(&self, record: &Record, snapshot: &Snapshot) -> Result<()> {
        self.write_first(record, snapshot).map_err(|error| Error::NotBegun(error.into()))
    }

    fn write_first(&self, record: &Record, snapshot: &Snapshot) -> Result<()> {
        fs::create_dir_all(&self.dir).map_err(|e| self.failed(e))?;
        self.prune();
        let reserve =
            || fs::write(self.reserve_path(&record.id), vec![0; RESERVE]).map_err(|e| self.failed(e));
        let written = self
            .store(&self.snapshot_path(&record.id), &SnapshotFile { snapshot, record: hidden(record) })
            .and_then(|()| reserve())
            .and_then(|()| self.store(&self.record_path(&record.id), &hidden(record)));
        if written.is_err() {
            // A full disk must not keep half a change around.
            for path in
                [self.record_path(&record.id), self.reserve_path(&record.id), self.snapshot_path(&record.id)]
            {
                fs::remove_file(path).ok();
            }
        }
        written
    }

    pub fn update(&self, record: &Record) -> Result<()> {
        let path = self.record_path(&record.id);
        let record_id = &record.id;
        let record = &hidden(record);
        match self.store(&path, record) {
            Err(_) if fs::remove_file(self.reserve_path(record_id)).is_ok() => self.store(&path, record),
            result => result,
        }
    }

    /// Ends a record; the snapshot with its secrets is not needed any more.
    pub fn finish(&self, record: &mut Record, outcome: Outcome) -> Result<()> {
        let ended = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        record.turn(Phase::Done);
        record.outcome = Some(Outcome { ended, ..outcome });
        self.update(record)?;
        fs::remove_file(self.snapshot_path(&record.id)).ok();
        fs::remove_file(self.reserve_path(&record.id)).ok();
        Ok(())
    }

    pub fn snapshot(&self, id: &str) -> Result<Snapshot> {
        self.load(&self.snapshot_path(id))
    }

    /// Keeps a snapshot that cannot be read for whoever looks into it, out of the way of later changes.
    pub fn set_snapshot_aside(&self, id: &str) {
        fs::rename(self.snapshot_path(id), self.dir.join(format!("{id}.snapshot.unreadable"))).ok();
    }

    /// All records, oldest first. One that cannot be read is passed over, unless its change was not finished.
    pub fn records(&self) -> Vec<Record> {
        self.record_files().iter().filter_map(|path| self.read(path)).collect()
    }

    /// Whether no change was ever recorded here, readable or not.
    pub fn is_empty(&self) -> bool {
        self.record_files().is_empty()
    }

    /// Records that only a newer linesman can read, oldest first.
    pub fn newer(&self) -> Vec<Error> {
        let newer = |path: &PathBuf| self.load::<Record>(path).err();
        let errors = self.record_files();
        errors.iter().filter_map(newer).filter(|e| matches!(e, Error::NewerFile { .. })).collect()
    }

    /// No journal is no change; one that may not be read is another matter.
    pub fn check_readable(&self) -> Result<()> {
        let unreadable = |file: &Path, source| Err(Error::Unreadable { file: file.to_path_buf(), source });
        match fs::read_dir(&self.dir) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return unreadable(&self.dir, e),
            Ok(_) => {}
        }
        // A damaged record is passed over; one that only root may read is not damaged.
        let denied = |path: &PathBuf| {
            let error = fs::File::open(path).err()?;
            (error.kind() == std::io::ErrorKind::PermissionDenied).then(|| (path.clone(), error))
        };
        self.record_files().iter().find_map(denied).map_or(Ok(()), |(path, e)| unreadable(&path, e))
    }

    /// Refuses what a newer linesman began and did not finish: nobody here knows how to roll it back.
    pub fn check_versions(&self) -> Result<()> {
        let newer =
            |path: &PathBuf| self.load::<Record>(path).err().filter(|e| matches!(e, Error::NewerFile { .. }));
        let unfinished = |path: &&PathBuf| self.is_unfinished(&id_of(path));
        self.record_files().iter().filter(unfinished).find_map(newer).map_or(Ok(()), Err)
    }

    fn record_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|e| Some(e.ok()?.path()))
            .filter(|p| p.to_str().is_some_and(|p| p.ends_with(".record.json")))
            .collect();
        paths.sort();
        paths
    }

    fn read(&self, path: &Path) -> Option<Record> {
        let error = match self.load(path) {
            Ok(record) => return Some(record),
            Err(error) => error,
        };
        tracing::warn!(file = %path.display(), %error, "cannot read a record of the journal");
        let id = id_of(path);
        let lost = self.is_unfinished(&id) && !matches!(error, Error::NewerFile { .. });
        lost.then(|| self.begun(&id))
    }

    /// The snapshot goes when a change ends.
    pub fn is_unfinished(&self, id: &str) -> bool {
        self.snapshot_path(id).exists()
    }

    /// An unfinished change whose record cannot be read. How far it came is unknown, so it is to be rolled back.
    fn begun(&self, id: &str) -> Record {
        let begun = self.load::<Begun>(&self.snapshot_path(id)).map(|begun| begun.record);
        let unknown = || Record::new("a change whose record cannot be read", Plan::default(), Value::Null);
        Record { id: id.into(), phase: Phase::Applying, ..begun.unwrap_or_else(|_| unknown()) }
    }

    /// The change that waits for a confirmation.
    pub fn pending(&self) -> Option<Record> {
        self.unfinished().into_iter().rev().find(|record| matches!(record.phase, Phase::Pending { .. }))
    }

    /// Whether there may be changes that were begun and never ended, by the names of files alone: only those have a
    /// snapshot. Cheap enough to ask at every event.
    pub fn may_be_unfinished(&self) -> bool {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().ends_with(".snapshot.json"))
    }

    /// Changes that were begun and never ended.
    pub fn unfinished(&self) -> Vec<Record> {
        self.records().into_iter().filter(Record::open).collect()
    }

    fn prune(&self) {
        let done: Vec<Record> = self.records().into_iter().filter(|r| !r.open()).collect();
        for record in done.iter().rev().skip(KEEP) {
            fs::remove_file(self.record_path(&record.id)).ok();
        }
    }

    fn record_path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.record.json"))
    }

    fn snapshot_path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.snapshot.json"))
    }

    fn reserve_path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.reserve"))
    }

    fn store(&self, path: &Path, value: &impl Serialize) -> Result<()> {
        let bytes = serde_json::to_vec(value).map_err(|e| self.failed(e))?;
        atomic_file::write(path, &bytes, 0o600).map_err(|e| self.failed(e))
    }

    fn load<T: DeserializeOwned>(&self, path: &Path) -> Result<T> {
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(default)]
            version: u32,
        }
        let unreadable = |e: std::io::Error| Error::Unreadable { file: path.to_path_buf(), source: e };
        let bytes = fs::read(path).map_err(unreadable)?;
        let Versioned { version } = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.into()))?;
        if version > VERSION {
            return Err(Error::NewerFile { file: path.to_path_buf(), found: version, known: VERSION });
        }
        serde_json::from_slice(&bytes).map_err(|e| unreadable(e.into()))
    }

    fn failed(&self, source: impl Into<std::io::Error>) -> Error {
        Error::Journal { dir: self.dir.display().to_string(), source: source.into() }
    }
}

/// Sorts by time.
fn id_at(time: SystemTime) -> String {
    let stamp = humantime::format_rfc3339_millis(time).to_string();
    let stamp: String = stamp.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    format!("{stamp}-{}", std::process::id())
}

fn time_of(id: &str) -> Option<SystemTime> {
    let (day, time) = id.split_once('-')?.0.split_once('T')?;
    let part = |text: &'static str, from: &str, range| Some(format!("{text}{}", from.get(range)?));
    let stamp = [
        part("", day, 0..4)?,
        part("-", day, 4..6)?,
        part("-", day, 6..8)?,
        part("T", time, 0..2)?,
        part(":", time, 2..4)?,
        part(":", time, 4..6)?,
        part(".", time, 6..9)?,
    ];
    humantime::parse_rfc3339(&format!("{}Z", stamp.concat())).ok()
}

fn id_of(record: &Path) -> String {
    let name = record.file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(".record.json").to_owned()
}

/// Secrets are in the snapshot, which goes when the change ends; what stays needs none.
fn hidden(record: &Record) -> Value {
    let mut written = serde_json::to_value(record).unwrap_or_default();
    linesman_core::secrets::hide(&mut written);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour behind, a new change would be taken for an old one, and be the first that is forgotten.
    #[test]
    fn a_change_comes_after_those_of_a_clock_that_was_ahead() {
        let (_dir, journal) = journal();
        let ahead = id_at(SystemTime::now() + Duration::from_secs(3600));
        assert_eq!(time_of(&ahead).map(id_at).as_ref(), Some(&ahead));
        assert!(journal.next_id() < ahead);
        journal.begin(&record(&ahead), &Snapshot::default()).unwrap();
        let next = journal.next_id();
        assert!(next > ahead, "{next} after {ahead}");
        journal.begin(&record(&next), &Snapshot::default()).unwrap();
        assert_eq!(journal.records().last().map(|record| record.id.clone()), Some(next));
        assert_eq!(time_of("state"), None);
    }

    fn journal() -> (tempfile::TempDir, Journal) {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path());
        (dir, journal)
    }

    fn record(id: &str) -> Record {
        Record { id: id.into(), ..Record::new("state.yaml", Plan::default(), Value::Null) }
    }

    #[test]
    fn a_change_is_open_until_it_is_finished() {
        let (_dir, journal) = journal();
        let mut record = record("1");
        journal.begin(&record, &Snapshot::default()).unwrap();
        assert_eq!(journal.unfinished().len(), 1);
        assert!(journal.snapshot("1").is_ok());
        journal.finish(&mut record, Outcome::committed()).unwrap();
        assert!(journal.unfinished().is_empty());
        assert_eq!(journal.records().len(), 1);
        assert!(journal.snapshot("1").is_err(), "the snapshot holds secrets and goes with the end");
    }

    #[test]
    fn half_a_record_is_none() {
        let (dir, journal) = journal();
        journal.begin(&record("1"), &Snapshot::default()).unwrap();
        fs::write(dir.path().join("journal/2.record.json"), b"{\"id\":").unwrap();
        assert_eq!(journal.records().len(), 1);
    }

    #[test]
    fn an_unfinished_change_is_known_though_its_record_is_damaged() {
        let (_dir, journal) = journal();
        let touched = Plan { touched: ["eth1".into()].into(), ..Plan::default() };
        journal.begin(&Record { plan: touched.clone(), ..record("1") }, &Snapshot::default()).unwrap();
        fs::write(journal.record_path("1"), "").unwrap();
        let found = journal.unfinished();
        assert_eq!(
            (found[0].id.as_str(), &found[0].phase, &found[0].plan),
            ("1", &Phase::Applying, &touched)
        );
        fs::write(journal.snapshot_path("1"), "").unwrap();
        assert_eq!(journal.unfinished().len(), 1, "nothing can be read, and still it was begun");
        let error = journal.snapshot("1").unwrap_err().to_string();
        assert!(error.starts_with("cannot read") && error.contains("1.snapshot.json"), "{error}");
        let damaged = ["", "{", "[]", r#"{"version": 1}"#];
        for text in damaged {
            fs::write(journal.snapshot_path("1"), text).unwrap();
            assert!(journal.snapshot("1").unwrap_err().is_lost_file(), "{text}");
        }
        let source = std::io::Error::from_raw_os_error(nix::libc::EIO);
        assert!(!Error::Unreadable { file: PathBuf::new(), source }.is_lost_file(), "it may be read later");
        journal.set_snapshot_aside("1");
        assert!(journal.unfinished().is_empty() && !journal.is_empty());
    }

    #[test]
    fn every_policy_of_a_change_is_known() {
        let (_dir, journal) = journal();
        let names = ["a", "b", "c", "d", "e"].map(String::from);
        let many = Record { policies: names.to_vec(), ..record("1") };
        journal.begin(&many, &Snapshot::default()).unwrap();
        let read = journal.records().remove(0);
        assert!(names.iter().all(|name| read.concerns(name, false) && !read.concerns(name, true)));
        assert!(!read.concerns("f", false));
    }

    #[test]
    fn what_a_newer_linesman_left_unfinished_is_refused() {
        let (_dir, journal) = journal();
        let newer = Record { version: VERSION + 1, ..record("1") };
        journal.begin(&newer, &Snapshot::default()).unwrap();
        let error = journal.check_versions().unwrap_err().to_string();
        assert!(error.contains("1.record.json") && error.contains("version 2"), "{error}");
        fs::remove_file(journal.snapshot_path("1")).unwrap();
        journal.check_versions().unwrap();
        assert!(journal.records().is_empty());
        assert_eq!(journal.newer().len(), 1, "whoever lists them can say that there are more");
    }

    #[test]
    fn only_the_newest_are_kept_and_open_ones_always() {
        let (_dir, journal) = journal();
        journal.begin(&record("000"), &Snapshot::default()).unwrap();
        for n in 1..=60 {
            let mut r = record(&format!("{n:03}"));
            journal.begin(&r, &Snapshot::default()).unwrap();
            journal.finish(&mut r, Outcome::committed()).unwrap();
        }
        let records = journal.records();
        assert_eq!(records.first().map(|r| r.id.as_str()), Some("000"));
        assert!(records.len() <= KEEP + 2, "{}", records.len());
        assert_eq!(records.last().map(|r| r.id.as_str()), Some("060"));
    }

    #[test]
    fn a_directory_that_is_not_writable_is_reported() {
        let journal = Journal::new(Path::new("/proc/none"));
        let error = journal.begin(&record("1"), &Snapshot::default()).unwrap_err().to_string();
        assert!(error.contains("no changes were made"), "{error}");
    }
}
