//! Golden cases: `cases/doctor/NAME/signs.yaml`, what was seen on a host, and `findings.txt`, what doctor says.
//! `UPDATE_GOLDEN=1` writes what is said now.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use linesman_core::doctor::{Level, Signs, examine};

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/doctor");
    let mut cases: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

fn signs(case: &Path) -> Signs {
    let text = fs::read_to_string(case.join("signs.yaml")).unwrap();
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", case.display()))
}

#[test]
fn findings_are_as_written() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let (golden, now) = (case.join("findings.txt"), examine(&signs(&case)).render(false));
        if update {
            fs::write(&golden, &now).unwrap();
        }
        let then = fs::read_to_string(&golden).unwrap_or_default();
        if then != now {
            wrong.push(format!("{}\n--- golden\n{then}--- now\n{now}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{} case(s) differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn whatever_is_wrong_has_a_remedy() {
    for case in cases() {
        let report = examine(&signs(&case));
        for finding in report.findings.iter().filter(|finding| finding.level > Level::Ok) {
            assert!(
                finding.remedy.as_ref().is_some_and(|remedy| !remedy.is_empty()),
                "{}: {finding:?}",
                case.display()
            );
        }
    }
}

#[test]
fn the_verdict_follows_the_name_of_the_case() {
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let expected = match name.split('-').next().unwrap() {
            "ready" => Level::Ok,
            "warning" => Level::Warning,
            _ => Level::Problem,
        };
        assert_eq!(examine(&signs(&case)).verdict, expected, "{name}");
    }
}
