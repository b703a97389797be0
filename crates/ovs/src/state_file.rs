//! What the keeper remembers, on disk.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tracing::warn;

/// Of the format of every state file.
const VERSION: u64 = 1;

#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}")]
pub struct Error {
    path: String,
    source: std::io::Error,
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u64,
    content: T,
}

#[derive(Clone, Debug)]
pub struct StateFile {
    path: PathBuf,
}

impl StateFile {
    fn named(state_dir: &Path, name: &str) -> Self {
        Self { path: state_dir.join("ovs-keeper").join(name) }
    }

    /// The last entry of the journal that was shown.
    pub fn journal_position(state_dir: &Path) -> Self {
        Self::named(state_dir, "journal-position.json")
    }

    /// Restarts of the units.
    pub fn history(state_dir: &Path) -> Self {
        Self::named(state_dir, "units.json")
    }

    /// What cannot be read is put aside: none of it is worth more than a keeper that works.
    pub fn take<T: DeserializeOwned>(&self) -> Option<T> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => {
                warn!("cannot read {}: {error}; starting without it", self.path.display());
                return None;
            }
        };
        match serde_json::from_slice(&bytes) {
            Ok(Versioned { version: VERSION, content }) => Some(content),
            Ok(Versioned { version, .. }) => {
                self.put_aside(&format!("has version {version}, and this linesman reads version {VERSION}"))
            }
            Err(error) => self.put_aside(&format!("is damaged: {error}")),
        }
    }

    fn put_aside<T>(&self, why: &str) -> Option<T> {
        let aside = self.path.with_extension("unreadable");
        fs::rename(&self.path, &aside).ok();
        warn!("{} {why}; moved to {}; starting without it", self.path.display(), aside.display());
        None
    }

    /// In one step for whoever reads it, also if the keeper is killed. It is not synced: it is written for every batch of
    /// log entries, and what a power cut takes is shown again.
    pub fn replace(&self, content: &impl Serialize) -> Result<(), Error> {
        let failed = |source: std::io::Error| Error { path: self.path.display().to_string(), source };
        let bytes =
            serde_json::to_vec(&Versioned { version: VERSION, content }).map_err(|e| failed(e.into()))?;
        let temporary = self.path.with_extension("new");
        let write = || fs::write(&temporary, &bytes);
        let written = write().or_else(|error| match error.kind() {
            ErrorKind::NotFound => {
                fs::create_dir_all(self.path.parent().unwrap_or(Path::new("/")))?;
                write()
            }
            _ => Err(error),
        });
        written.and_then(|()| fs::rename(&temporary, &self.path)).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_damaged_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let file = StateFile::history(dir.path());
        assert_eq!(file.take::<u64>(), None);
        file.replace(&7).unwrap();
        assert_eq!(file.take::<u64>(), Some(7));
        for damaged in ["", "[", r#"{"version":2,"content":7}"#] {
            fs::write(&file.path, damaged).unwrap();
            assert_eq!(file.take::<u64>(), None);
            assert_eq!(fs::read_to_string(file.path.with_extension("unreadable")).unwrap(), damaged);
            assert!(!file.path.exists());
        }
    }
}
