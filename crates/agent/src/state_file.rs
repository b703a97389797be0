//! What an agent remembers, on disk.

use std::fs;
use std::io::ErrorKind;
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

    /// What the agent is about to do.
    pub fn attempts(state_dir: &Path) -> Self {
        Self { path: state_dir.join("attempts.json") }
    }

    /// The last request for the state of the node that was answered.
    pub fn refresh_requests(state_dir: &Path) -> Self {
        Self { path: state_dir.join("refresh-requests.json") }
    }

    /// The private key for the values of Secrets.
    pub fn sealing_key(state_dir: &Path) -> Self {
        Self { path: state_dir.join("sealing-key.json") }
    }

    /// What became of the document that this host was installed with.
    pub fn first_boot(state_dir: &Path) -> Self {
        Self { path: state_dir.join("first-boot.json") }
    }

    /// Refuses what a newer version of Linesman wrote, whichever file it is: that version still needs all of them.
    pub fn refuse_newer(state_dir: &Path) -> Result<()> {
        let all = [
            Self::ledger,
            Self::accepted_releases,
            Self::attempts,
            Self::refresh_requests,
            Self::sealing_key,
            Self::first_boot,
        ];
        all.iter().map(|file| file(state_dir)).find_map(|file| file.newer()).map_or(Ok(()), Err)
    }

    fn newer(&self) -> Option<Error> {
        newer(&self.path, &fs::read(&self.path).ok()?)
    }

    /// For the agent, which owns it: damaged content is put aside, and the agent starts without it. What a newer version of
    /// Linesman wrote is an error, since that version still needs it; so is a file that the disk does not give.
    pub fn take<T: DeserializeOwned + Default>(&self) -> Result<T> {
        let damage = match self.read() {
            Err(Error::DamagedStateFile { path, source }) => format!("{path} is damaged: {source}"),
            read => return read,
        };
        let aside = self.path.with_extension("unreadable");
        let moved = fs::rename(&self.path, &aside);
        let moved = moved.map_or_else(
            |e| format!("it cannot be moved: {e}"),
            |()| format!("moved to {}", aside.display()),
        );
        tracing::error!("{damage}; {moved}; starting without it");
        Ok(T::default())
    }

    pub fn read<T: DeserializeOwned + Default>(&self) -> Result<T> {
        let path = || self.path.display().to_string();
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(T::default()),
            Err(e) => return Err(Error::UnreadableStateFile { path: path(), source: e }),
        };
        if let Some(newer) = newer(&self.path, &bytes) {
            return Err(newer);
        }
        match serde_json::from_slice(&bytes) {
            Ok(Versioned { content, .. }) => Ok(content),
            Err(e) => Err(Error::DamagedStateFile { path: path(), source: e }),
        }
    }

    /// A file that comes back after a power cut only repeats what is known.
    pub fn remove(&self) {
        fs::remove_file(&self.path).ok();
    }

    pub fn write(&self, content: &impl Serialize) -> Result<()> {
        let failed =
            |e: std::io::Error| Error::StateFile { path: self.path.display().to_string(), source: e };
        let bytes =
            serde_json::to_vec(&Versioned { version: VERSION, content }).map_err(|e| failed(e.into()))?;
        fs::create_dir_all(self.path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        // Policies may contain secrets, and a key is one.
        atomic_file::write(&self.path, &bytes, 0o600).map_err(failed)
    }
}

fn newer(path: &Path, bytes: &[u8]) -> Option<Error> {
    let Header { version: found } = serde_json::from_slice(bytes).ok()?;
    let path = path.display().to_string();
    (found > VERSION).then_some(Error::NewerStateFile { path, found, known: VERSION })
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
        for damaged in ["[", "", r#"{"version": 1}"#] {
            fs::write(&state_file.path, damaged).unwrap();
            let error = state_file.read::<Ledger>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{} is damaged", state_file.path.display())), "{error}");
            assert_eq!(
                fs::read_to_string(&state_file.path).unwrap(),
                damaged,
                "whoever only looks leaves it alone"
            );
            assert_eq!(state_file.take::<Ledger>().unwrap(), Ledger::default());
            assert_eq!(fs::read_to_string(dir.path().join("policies.unreadable")).unwrap(), damaged);
            assert!(!state_file.path.exists());
        }
    }

    #[test]
    fn what_the_disk_does_not_give_is_not_taken_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let state_file = StateFile::ledger(dir.path());
        fs::create_dir(&state_file.path).unwrap();
        let error = state_file.take::<Ledger>().unwrap_err().to_string();
        assert!(error.contains("policies.json") && error.contains("Is a directory"), "{error}");
    }

    #[test]
    fn what_a_newer_version_wrote_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        for state_file in [StateFile::ledger(dir.path()), StateFile::accepted_releases(dir.path())] {
            StateFile::refuse_newer(dir.path()).unwrap();
            let newer = r#"{ "version": 2, "unknown": {} }"#;
            fs::write(&state_file.path, newer).unwrap();
            let error = state_file.read::<Ledger>().unwrap_err().to_string();
            let path = state_file.path.display().to_string();
            assert!(error.starts_with(&format!("{path} has version 2")), "{error}");
            assert!(error.contains("install the linesman that wrote it"), "{error}");
            assert_eq!(fs::read_to_string(&state_file.path).unwrap(), newer);
            assert_eq!(StateFile::refuse_newer(dir.path()).unwrap_err().to_string(), error);
            fs::remove_file(&state_file.path).unwrap();
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
