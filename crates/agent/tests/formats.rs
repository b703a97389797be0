//! State files that released versions wrote can be read by this one, and by the next one what this one writes.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use linesman_agent::{StateFile, freeze};
use linesman_core::policy::{Drift, OnDelete};
use linesman_core::reconcile::{Ledger, PolicyState};
use linesman_fleet::enactment::AcceptedReleases;
use serde_json::{Value, json};

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(version)
}

/// The files with members that a later version may add.
fn with_more(dir: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(dir).unwrap() {
        let file = file.unwrap().path();
        let mut content: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        content["later"] = json!({ "more": [1] });
        for entry in content["content"].as_object_mut().into_iter().flat_map(|entries| entries.values_mut()) {
            entry["later"] = json!([1]);
        }
        fs::write(copy.path().join(file.file_name().unwrap()), content.to_string()).unwrap();
    }
    copy
}

#[test]
fn version_1_is_read_with_and_without_what_a_later_version_adds() {
    let later = with_more(&recorded("v1"));
    for dir in [recorded("v1"), later.path().to_owned()] {
        let ledger: Ledger = StateFile::ledger(&dir).read().unwrap();
        assert_eq!(ledger.0.keys().collect::<Vec<_>>(), ["captured", "cuts", "storage", "upper"]);
        let storage = ledger.get("storage").unwrap();
        assert!(storage.is_applied());
        assert_eq!(
            (storage.policy.options.on_delete, storage.policy.options.drift),
            (OnDelete::Revert, Drift::Correct)
        );
        assert_eq!(storage.revert_state["interfaces"][0]["state"], "absent");
        assert_eq!(storage.corrections.0.len(), 1);
        assert!(
            matches!(&ledger.get("cuts").unwrap().policy_state, PolicyState::RolledBack { reason } if reason.contains("LM2003"))
        );
        assert!(matches!(
            ledger.get("upper").unwrap().policy_state,
            PolicyState::Waiting { attempts: 1, .. }
        ));
        assert!(ledger.get("captured").unwrap().policy.capture.is_some());

        let releases: AcceptedReleases = StateFile::accepted_releases(&dir).read().unwrap();
        let release = &releases.0["storage"];
        assert!(release.ended && release.published && release.policy.is_some());
        assert_eq!(release.conditions.len(), 5);

        assert_eq!(StateFile::refresh_requests(&dir).read::<String>().unwrap(), "7");
        assert_eq!(freeze::read(&dir).unwrap().reason.as_deref(), Some("cabling"));
        StateFile::refuse_newer(&dir).unwrap();
    }
}
