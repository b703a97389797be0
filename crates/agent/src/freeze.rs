//! A frozen host: a file stops the agent from making changes.

use std::fs;
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

use linesman_core::terminal::printable;
use linesman_daemon::clock;
use linesman_engine::atomic_file;
use serde::{Deserialize, Serialize};

/// Of the file. A newer one freezes, too.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct FreezeFile<'a> {
    version: u32,
    #[serde(flatten)]
    freeze: &'a Freeze,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freeze {
    pub since: String,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Freeze {
    fn printable(self) -> Self {
        Self {
            since: printable(&self.since),
            by: printable(&self.by),
            reason: self.reason.map(|reason| printable(&reason)),
        }
    }
}

impl std::fmt::Display for Freeze {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "frozen by {} since {}", self.by, self.since)?;
        match &self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

pub fn path(state_dir: &Path) -> PathBuf {
    state_dir.join("freeze.json")
}

/// A file that cannot be read still means: frozen. Anybody may have written it, and it is shown on terminals, in logs
/// and in the cluster.
pub fn read(state_dir: &Path) -> Option<Freeze> {
    match fs::read(path(state_dir)) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).map_or_else(
            |_| Freeze { since: "an unknown time".into(), by: "somebody".into(), reason: None },
            Freeze::printable,
        )),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => Some(Freeze {
            since: "an unknown time".into(),
            by: "somebody".into(),
            reason: Some(e.to_string()),
        }),
    }
}

pub fn freeze(state_dir: &Path, by: &str, reason: Option<&str>) -> Result<Freeze> {
    let freeze =
        Freeze { since: clock::rfc3339(clock::now()), by: by.into(), reason: reason.map(str::to_owned) };
    fs::create_dir_all(state_dir)?;
    let bytes = serde_json::to_vec(&FreezeFile { version: VERSION, freeze: &freeze })?;
    atomic_file::write(&path(state_dir), &bytes, 0o644)?;
    Ok(freeze)
}

/// True if the host was frozen.
pub fn unfreeze(state_dir: &Path) -> Result<bool> {
    match fs::remove_file(path(state_dir)) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frozen_until_unfrozen() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), None);
        let frozen = freeze(dir.path(), "ann", Some("cabling")).unwrap();
        assert_eq!(read(dir.path()), Some(frozen));
        assert!(unfreeze(dir.path()).unwrap());
        assert!(!unfreeze(dir.path()).unwrap());
        fs::write(path(dir.path()), "{").unwrap();
        assert!(read(dir.path()).is_some());
    }

    #[test]
    fn control_characters_in_the_file_are_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"{"since": "now", "by": "a\u001b[2J", "reason": "b\nc"}"#;
        fs::write(path(dir.path()), text).unwrap();
        let shown = read(dir.path()).unwrap().to_string();
        assert_eq!(shown, r"frozen by a\u{1b}[2J since now (b\nc)");
    }
}
