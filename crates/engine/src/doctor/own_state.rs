//! The journal, its folder, and the units.

use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::doctor::{StateDir, Unfinished, Unit};

use crate::Error;
use crate::journal::{Journal, Phase};
use crate::transaction::Settings;

/// Whether the process named in a pid file is there.
pub(super) fn lives(pid_file: impl AsRef<Path>) -> bool {
    let pid = fs::read_to_string(pid_file).ok().and_then(|text| text.trim().parse::<u32>().ok());
    pid.is_some_and(|pid| Path::new(&format!("/proc/{pid}")).exists())
}

pub(super) fn under_way(settings: &Settings) -> bool {
    lives(settings.run_dir.join("transaction.lock"))
}

/// A change that somebody works on right now is not unfinished.
pub(super) fn unfinished(settings: &Settings) -> Vec<Unfinished> {
    let under_way = under_way(settings);
    let records = Journal::new(&settings.state_dir).unfinished().into_iter();
    let changes = records.map(|record| {
        let waits = match record.phase {
            Phase::Pending { checkpoint, .. } => Some(checkpoint),
            _ => None,
        };
        Unfinished { id: record.id, source: record.source, waits }
    });
    changes.filter(|change| change.waits.is_some() || !under_way).collect()
}

pub(super) fn newer_record(settings: &Settings) -> Option<String> {
    match Journal::new(&settings.state_dir).check_versions() {
        Err(Error::NewerFile { file, .. }) => Some(file.display().to_string()),
        _ => None,
    }
}

pub(super) fn state_dir(dir: &Path) -> StateDir {
    let existing: PathBuf = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/")).to_owned();
    let trial = existing.join(format!(".linesman-doctor-{}", std::process::id()));
    let unwritable = fs::write(&trial, [0; 4096]).err().map(|e| e.to_string());
    fs::remove_file(&trial).ok();
    let free = nix::sys::statvfs::statvfs(&existing);
    let free_bytes = free.map_or(0, |free| free.blocks_free().saturating_mul(free.fragment_size()));
    StateDir { path: dir.display().to_string(), unwritable, free_bytes }
}

const UNITS: [&str; 2] = ["linesman-recover-boot.service", "linesman-recover.service"];

/// Enabled units are links in the folder of what wants them.
pub(super) fn units() -> Option<Vec<Unit>> {
    Path::new("/run/systemd/system").is_dir().then(|| {
        let enabled = |name: &str| {
            ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
                .iter()
                .any(|dir| fs::symlink_metadata(format!("{dir}/NetworkManager.service.wants/{name}")).is_ok())
        };
        UNITS.iter().map(|name| Unit { name: (*name).to_owned(), enabled: enabled(name) }).collect()
    })
}
