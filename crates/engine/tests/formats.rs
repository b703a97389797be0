//! Records and snapshots that released versions wrote can be read by this one, and by the next one what this one writes.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::outcome::Verdict;
use linesman_engine::journal::{Journal, Phase};
use serde_json::{Value, json};

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(version)
}

/// The files with members that a later version may add.
fn with_more(dir: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("journal")).unwrap();
    for file in fs::read_dir(dir.join("journal")).unwrap() {
        let file = file.unwrap().path();
        let mut content: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        for section in [
            &["later"][..],
            &["plan", "later"],
            &["outcome", "later"],
            &["hostname", "later"],
            &["record", "later"],
        ] {
            if let [outer, inner] = section {
                if content[*outer].is_object() {
                    content[*outer][*inner] = json!([1]);
                }
            } else {
                content[section[0]] = json!({ "more": 1 });
            }
        }
        fs::write(copy.path().join("journal").join(file.file_name().unwrap()), content.to_string()).unwrap();
    }
    copy
}

#[test]
fn version_1_is_read_with_and_without_what_a_later_version_adds() {
    let later = with_more(&recorded("v1"));
    for dir in [recorded("v1"), later.path().to_owned()] {
        let journal = Journal::new(&dir);
        journal.check_versions().unwrap();
        assert!(journal.newer().is_empty());
        let records = journal.records();
        let verdicts: Vec<Option<Verdict>> =
            records.iter().map(|record| record.outcome.as_ref().map(|outcome| outcome.verdict)).collect();
        assert_eq!(verdicts, [Some(Verdict::Committed), Some(Verdict::RolledBack), None, None], "{dir:?}");
        let unfinished = journal.unfinished();
        assert_eq!(unfinished[0].phase, Phase::Applying);
        assert!(
            matches!(&unfinished[1].phase, Phase::Pending { checkpoint, .. } if checkpoint.ends_with("/6"))
        );
        for record in &unfinished {
            assert!(record.plan.touched.contains("eth2"));
            assert!(
                record.before.is_empty(),
                "version 1 had no baseline: nothing is held against its rollback"
            );
            let snapshot = journal.snapshot(&record.id).unwrap();
            assert!(snapshot.state["interfaces"].as_array().unwrap().iter().any(|i| i["name"] == "eth2"));
            assert!(!snapshot.profiles.is_empty() && snapshot.ovs.is_some());
        }
    }
}
