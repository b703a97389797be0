//! What an agent remembers, on disk.

use std::fs;
use std::path::{Path, PathBuf};

use linesman_engine::atomic_file;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Of the format of every state file.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u64,
    content: T,
}

#[derive(Deserialize)]
struct Header {
    version: u64,
}

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

    /// What cannot be read is put aside: without it, policies that are in sync are found to be so. What a newer version of
    /// Linesman wrote is an error, since that version still needs it.
    pub fn read<T: DeserializeOwned + Default>(&self) -> Result<T> {
        let Ok(bytes) = fs::read(&self.path) else { return Ok(T::default()) };
        if let Ok(Header { version }) = serde_json::from_slice(&bytes)
            && version > VERSION
        {
            let path = self.path.display().to_string();
            return Err(Error::NewerStateFile { path, found: version, known: VERSION });
        }
        match serde_json::from_slice(&bytes) {
            Ok(Versioned { content, .. }) => Ok(content),
            Err(e) => {
                let aside = self.path.with_extension("unreadable");
                tracing::error!("cannot read {}: {e}; moved to {}", self.path.display(), aside.display());
                fs::rename(&self.path, aside).ok();
                Ok(T::default())
            }
        }
    }

    pub fn write(&self, content: &impl Serialize) -> Result<()> {
        let failed = |e: &dyn std::fmt::Display| Error::StateFile {
            path: self.path.display().to_string(),
            why: e.to_string(),
        };
        let bytes = serde_json::to_vec(&Versioned { version: VERSION, content }).map_err(|e| failed(&e))?;
        fs::create_dir_all(self.path.parent().unwrap_or(Path::new("."))).map_err(|e| failed(&e))?;
        // Policies may contain secrets.
        atomic_file::write(&self.path, &bytes, 0o600).map_err(|e| failed(&e))
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
        assert_eq!(state_file.read::<Ledger>().unwrap(), Ledger::default());
        state_file.write(&Ledger::default()).unwrap();
        assert_eq!(state_file.read::<Ledger>().unwrap(), Ledger::default());
        fs::write(dir.path().join("policies.json"), "[").unwrap();
        assert_eq!(state_file.read::<Ledger>().unwrap(), Ledger::default());
        assert!(dir.path().join("policies.unreadable").exists());
    }

    #[test]
    fn what_a_newer_version_wrote_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        for state_file in [StateFile::ledger(dir.path()), StateFile::accepted_releases(dir.path())] {
            let newer = r#"{ "version": 2, "unknown": {} }"#;
            fs::write(&state_file.path, newer).unwrap();
            let error = state_file.read::<Ledger>().unwrap_err().to_string();
            let path = state_file.path.display().to_string();
            assert!(error.starts_with(&format!("{path} has version 2")), "{error}");
            assert!(error.contains("install the linesman that wrote it"), "{error}");
            assert_eq!(fs::read_to_string(&state_file.path).unwrap(), newer);
        }
    }

    #[test]
    fn a_file_carries_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let state_file = StateFile::accepted_releases(dir.path());
        state_file.write(&Ledger::default()).unwrap();
        assert_eq!(fs::read_to_string(&state_file.path).unwrap(), r#"{"version":1,"content":{}}"#);
    }
}
