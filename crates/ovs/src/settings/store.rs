//! The ledger on disk. What is lost there could never be removed from the database, so it is synced.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ledger::Ledger;

const VERSION: u64 = 1;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: std::io::Error },
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error(
        "{path} has version {found}, and this linesman reads version {VERSION}; install the linesman that wrote it"
    )]
    Newer { path: String, found: u64 },
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u64,
    content: T,
}

#[derive(Debug, Clone)]
pub(super) struct LedgerFile {
    path: PathBuf,
}

impl LedgerFile {
    pub fn new(state_dir: &Path) -> Self {
        Self { path: state_dir.join("ovs-keeper/settings.json") }
    }

    /// Damaged content is put aside: what it named stays as it is until it is set again.
    pub fn take(&self) -> Result<Ledger, Error> {
        let path = || self.path.display().to_string();
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Ledger::default()),
            Err(source) => return Err(Error::Read { path: path(), source }),
        };
        match serde_json::from_slice::<Versioned<serde_json::Value>>(&bytes) {
            Ok(Versioned { version, .. }) if version > VERSION => {
                return Err(Error::Newer { path: path(), found: version });
            }
            Ok(Versioned { content, .. }) => {
                if let Ok(ledger) = serde_json::from_value(content) {
                    return Ok(ledger);
                }
            }
            Err(_) => {}
        }
        let aside = self.path.with_extension("unreadable");
        fs::rename(&self.path, &aside).map_err(|source| Error::Read { path: path(), source })?;
        tracing::error!(
            "{} is damaged; moved to {}; settings that it names stay until they are set again",
            path(),
            aside.display()
        );
        Ok(Ledger::default())
    }

    pub fn write(&self, ledger: &Ledger) -> Result<(), Error> {
        let failed = |source| Error::Write { path: self.path.display().to_string(), source };
        let bytes = serde_json::to_vec(&Versioned { version: VERSION, content: ledger })
            .map_err(|error| failed(error.into()))?;
        self.replace(&bytes).map_err(failed)
    }

    fn replace(&self, bytes: &[u8]) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        let temporary = self.path.with_extension("new");
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)?;
        File::open(folder)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::key::{Column, Target};
    use crate::settings::ledger::Written;

    #[test]
    fn what_is_written_is_read_and_what_is_damaged_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let file = LedgerFile::new(folder.path());
        assert_eq!(file.take().unwrap(), Ledger::default());
        let target = Target::Database { column: Column::OtherConfig, name: "max-idle".into() };
        let written = [(target, Written { value: "1".into(), ..Written::default() })].into();
        let ledger = Ledger { written, ..Ledger::default() };
        file.write(&ledger).unwrap();
        assert_eq!(file.take().unwrap(), ledger);
        fs::write(&file.path, r#"{"version":2,"content":{}}"#).unwrap();
        assert!(file.take().unwrap_err().to_string().contains("install the linesman that wrote it"));
        for damaged in ["", "[", r#"{"version":1,"content":{"written":7}}"#] {
            fs::write(&file.path, damaged).unwrap();
            assert_eq!(file.take().unwrap(), Ledger::default());
            assert_eq!(fs::read_to_string(file.path.with_extension("unreadable")).unwrap(), damaged);
        }
    }
}
