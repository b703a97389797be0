//! What an agent remembers, on disk.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

#[derive(Clone, Debug)]
pub struct StateFile {
    path: PathBuf,
}

impl StateFile {
    /// The ledger.
    pub fn ledger(state_dir: &Path) -> Self {
        Self { path: state_dir.join("policies.json") }
    }

    /// The releases that this node accepted.
    pub fn accepted_releases(state_dir: &Path) -> Self {
        Self { path: state_dir.join("accepted-releases.json") }
    }

    /// The last request for the state of the node that was answered.
    pub fn refresh_requests(state_dir: &Path) -> Self {
        Self { path: state_dir.join("refresh-requests.json") }
    }

    /// What cannot be read is put aside: without it, policies that are in sync are found to be so.
    pub fn read<T: DeserializeOwned + Default>(&self) -> T {
        let Ok(bytes) = fs::read(&self.path) else { return T::default() };
        serde_json::from_slice(&bytes).unwrap_or_else(|e| {
            let aside = self.path.with_extension("unreadable");
            tracing::error!("cannot read {}: {e}; moved to {}", self.path.display(), aside.display());
            fs::rename(&self.path, aside).ok();
            T::default()
        })
    }

    /// Whole or not at all, and there after a power cut.
    pub fn write(&self, ledger: &impl Serialize) -> Result<()> {
        let failed = |e: &dyn std::fmt::Display| Error::StateFile {
            path: self.path.display().to_string(),
            why: e.to_string(),
        };
        let bytes = serde_json::to_vec(ledger).map_err(|e| failed(&e))?;
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(|e| failed(&e))?;
        let fresh = self.path.with_extension("new");
        let store = || -> std::io::Result<()> {
            // Policies may contain secrets.
            let mut file =
                fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&fresh, &self.path)?;
            File::open(dir)?.sync_all()
        };
        store().map_err(|e| failed(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::reconcile::Ledger;

    #[test]
    fn what_cannot_be_read_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let state_file = StateFile::ledger(dir.path());
        assert_eq!(state_file.read::<Ledger>(), Ledger::default());
        state_file.write(&Ledger::default()).unwrap();
        assert_eq!(state_file.read::<Ledger>(), Ledger::default());
        fs::write(dir.path().join("policies.json"), "[").unwrap();
        assert_eq!(state_file.read::<Ledger>(), Ledger::default());
        assert!(dir.path().join("policies.unreadable").exists());
    }
}
