//! Which probes passed when this host was settled. One that fails right before a change, but is listed here, is waited
//! for: links may still come up after a rollback or at boot.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use linesman_core::probe::{ProbeResult, ProbeSpec};
use serde::{Deserialize, Serialize};

use crate::atomic_file;

const VERSION: u32 = 1;
/// More than anybody probes; the oldest are forgotten.
const KEEP: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    version: u32,
    /// Each as it is written in a policy.
    passed: Vec<String>,
}

/// The file of them. It only saves time and makes messages more precise: nothing fails without it.
#[derive(Debug)]
pub struct SettledProbes {
    path: PathBuf,
}

impl SettledProbes {
    pub fn of(state_dir: &Path) -> Self {
        Self { path: state_dir.join("settled-probes.json") }
    }

    pub fn read(&self) -> Vec<ProbeSpec> {
        let known = |content: Content| content.passed.iter().filter_map(|text| text.parse().ok()).collect();
        self.content().ok().map(known).unwrap_or_default()
    }

    /// Adds what passed.
    pub fn remember(&self, results: &[ProbeResult]) {
        self.update(results, false);
    }

    /// Adds what passed, and removes what did not: the host is settled without it.
    pub fn replace(&self, results: &[ProbeResult]) {
        self.update(results, true);
    }

    fn update(&self, results: &[ProbeResult], forget: bool) {
        let Ok(Content { passed: known, .. }) = self.content() else { return };
        let mut passed = known.clone();
        for result in results {
            let text = result.probe.spec.to_string();
            match result.status.passed() {
                true if !passed.contains(&text) => passed.push(text),
                false if forget => passed.retain(|known| *known != text),
                _ => {}
            }
        }
        passed.drain(..passed.len().saturating_sub(KEEP));
        if passed != known {
            self.write(&Content { version: VERSION, passed });
        }
    }

    /// An error if a newer linesman wrote it, which still needs it.
    fn content(&self) -> Result<Content, ()> {
        let empty = Content { version: VERSION, passed: Vec::new() };
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(empty),
            Err(e) => {
                tracing::warn!("cannot read {}: {e}", self.path.display());
                return Err(());
            }
        };
        match serde_json::from_slice::<Content>(&bytes) {
            Ok(content) if content.version <= VERSION => Ok(content),
            Ok(Content { version, .. }) => {
                tracing::warn!(
                    "{} has version {version}, of a newer linesman: not used",
                    self.path.display()
                );
                Err(())
            }
            Err(e) => {
                tracing::warn!("{} is damaged: {e}; it is written anew", self.path.display());
                Ok(empty)
            }
        }
    }

    fn write(&self, content: &Content) {
        let written = serde_json::to_vec(content).map_err(Into::into).and_then(|bytes| {
            fs::create_dir_all(self.path.parent().unwrap_or(Path::new("/")))?;
            atomic_file::write(&self.path, &bytes, 0o600)
        });
        if let Err(e) = written {
            tracing::warn!("cannot write {}: {e}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use linesman_core::probe::ProbeStatus;

    use super::*;

    fn result(text: &str, passes: bool) -> ProbeResult {
        let passed = ProbeStatus::Passed { took: Duration::ZERO, note: None };
        let status = if passes { passed } else { ProbeStatus::failed("silent") };
        ProbeResult { probe: text.parse().unwrap(), status, after: Duration::ZERO }
    }

    fn names(settled: &SettledProbes) -> Vec<String> {
        settled.read().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_passed_is_remembered_until_the_host_is_settled_without_it() {
        let dir = tempfile::tempdir().unwrap();
        let settled = SettledProbes::of(dir.path());
        assert!(settled.read().is_empty());
        settled.remember(&[result("gateway:v4", true), result("dns", true), result("gateway:v6", false)]);
        assert_eq!(names(&SettledProbes::of(dir.path())), ["gateway:v4", "dns"]);
        settled.remember(&[result("dns", false)]);
        assert_eq!(names(&settled), ["gateway:v4", "dns"], "a moment without it says nothing");
        settled.replace(&[result("dns", false), result("tcp:10.0.0.1:22", true)]);
        assert_eq!(names(&settled), ["gateway:v4", "tcp:10.0.0.1:22"]);
    }

    #[test]
    fn a_damaged_file_is_written_anew_and_that_of_a_newer_version_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (settled, path) = (SettledProbes::of(dir.path()), dir.path().join("settled-probes.json"));
        fs::write(&path, "half a f").unwrap();
        settled.remember(&[result("dns", true)]);
        assert_eq!(names(&settled), ["dns"]);
        let newer = r#"{"version":2,"passed":["telepathy"]}"#;
        fs::write(&path, newer).unwrap();
        settled.remember(&[result("dns", true)]);
        assert!(settled.read().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    }
}
