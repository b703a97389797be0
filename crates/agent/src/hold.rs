//! Hands off this host: a file that everybody heeds.

use std::fs;
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub since: String,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl std::fmt::Display for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "held by {} since {}", self.by, self.since)?;
        match &self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

fn path(state_dir: &Path) -> PathBuf {
    state_dir.join("hold.json")
}

/// A file that cannot be read still means: hands off.
pub fn read(state_dir: &Path) -> Option<Hold> {
    match fs::read(path(state_dir)) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap_or(Hold {
            since: "an unknown time".into(),
            by: "somebody".into(),
            reason: None,
        })),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => {
            Some(Hold { since: "an unknown time".into(), by: "somebody".into(), reason: Some(e.to_string()) })
        }
    }
}

pub fn hold(state_dir: &Path, by: &str, reason: Option<&str>) -> Result<Hold> {
    let hold = Hold { since: clock::written(clock::now()), by: by.into(), reason: reason.map(str::to_owned) };
    fs::create_dir_all(state_dir)?;
    let fresh = path(state_dir).with_extension("new");
    fs::write(&fresh, serde_json::to_vec(&hold)?)?;
    fs::rename(fresh, path(state_dir))?;
    Ok(hold)
}

/// True if it was held.
pub fn release(state_dir: &Path) -> Result<bool> {
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
    fn held_until_released() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), None);
        let held = hold(dir.path(), "ann", Some("cabling")).unwrap();
        assert_eq!(read(dir.path()), Some(held));
        assert!(release(dir.path()).unwrap());
        assert!(!release(dir.path()).unwrap());
        fs::write(path(dir.path()), "{").unwrap();
        assert!(read(dir.path()).is_some());
    }
}
