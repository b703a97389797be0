//! The lab by hand, as a person would use it.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::{Command, Output};

/// One lab of that name; down again whatever happens.
struct ByHand(String);

impl ByHand {
    fn xtask(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("lab").args(arguments).env("LINESMAN_LAB", &self.0).output().unwrap()
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.xtask(arguments);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
        stdout
    }

    fn complains(&self, arguments: &[&str]) -> String {
        let output = self.xtask(arguments);
        assert!(!output.status.success());
        text(&output.stderr)
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        self.xtask(&["down"]);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn stays_up_between_commands_and_leaves_nothing() {
    let lab = ByHand(format!("xtask-test-{}", std::process::id()));
    assert!(lab.says(&["status"]).contains("No lab is up"));
    assert!(lab.complains(&["exec", "n1"]).contains("cargo xtask lab up"));

    let welcome = lab.says(&["up", "--nodes", "2", "--no-build"]);
    assert!(welcome.contains("10.9.0.11") && welcome.contains("10.9.0.12"), "{welcome}");
    assert!(lab.complains(&["up", "--no-build"]).contains("already up"));
    let status = lab.says(&["status"]);
    let rows: Vec<_> = status.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{status}");
    assert!(
        rows.iter().all(|row| row.contains(" yes ") && row.contains("connected") && row.contains(" 4.0")),
        "{status}"
    );

    assert_eq!(lab.says(&["exec", "n2", "--", "hostname"]), "n2\n");
    assert_eq!(lab.xtask(&["exec", "n1", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert!(lab.complains(&["exec", "n9", "--", "true"]).contains("the lab has n1, n2"));

    assert!(lab.says(&["down"]).contains("is down"));
    assert!(lab.says(&["down"]).contains("No lab was up"));
    let runs = std::fs::read_dir(linesman_lab::places::cache().join("run")).unwrap();
    assert!(!runs.filter_map(Result::ok).any(|run| run.file_name().to_string_lossy().starts_with(&lab.0)));
}

#[test]
fn virtual_machines_are_used_like_the_others() {
    let lab = ByHand(format!("xtask-vm-{}", std::process::id()));
    assert!(lab.says(&["up", "--vm", "--no-build"]).contains("10.9.0.11"));
    let status = lab.says(&["status"]);
    assert!(status.contains(" yes ") && status.contains("connected") && status.contains(" 4.0"), "{status}");
    assert_eq!(lab.says(&["exec", "n1", "--", "hostname"]), "n1\n");
    assert_eq!(lab.xtask(&["exec", "n1", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert!(lab.says(&["down"]).contains("is down"));
    let runs = std::fs::read_dir(linesman_lab::places::cache().join("run")).unwrap();
    assert!(!runs.filter_map(Result::ok).any(|run| run.file_name().to_string_lossy().starts_with(&lab.0)));
}

#[test]
fn a_cluster_is_reached_from_the_machine() {
    let lab = ByHand(format!("xtask-cluster-{}", std::process::id()));
    let welcome = lab.says(&["up", "--cluster", "--no-build"]);
    let exported = |name: &str| {
        let line = welcome.lines().find_map(|line| line.trim().strip_prefix(&format!("export {name}=")));
        line.and_then(|line| line.split(' ').next()).unwrap_or_else(|| panic!("{welcome}")).to_owned()
    };
    let (config, path) = (exported("KUBECONFIG"), exported("PATH").replace("$PATH:", ""));
    let nodes = Command::new(format!("{path}/kubectl"))
        .args([
            "--kubeconfig",
            &config,
            "--cache-dir",
            &format!("{config}.cache"),
            "get",
            "nodes",
            "--no-headers",
        ])
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(format!("{config}.cache"));
    assert!(text(&nodes.stdout).starts_with("n1") && text(&nodes.stdout).contains(" Ready "), "{nodes:?}");
    lab.says(&["down"]);
    assert!(!std::path::Path::new(&config).exists());
}
