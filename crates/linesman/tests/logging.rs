//! A warning that nobody can see is a defect: it arrives, with its fields, from every kind of process.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use serde_json::Value;

const AGENT: &[&str] = &["agent", "--standalone", "--listen", "nowhere"];
const OPERATOR: &[&str] = &["operator", "--listen", "nowhere"];

fn command(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linesman"));
    for name in ["RUST_LOG", "JOURNAL_STREAM", "LINESMAN_LOG_FORMAT"] {
        command.env_remove(name);
    }
    command.args(arguments).envs(environment.iter().copied()).stdin(Stdio::null());
    command
}

fn stderr(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let output = command(arguments, environment).output().expect("it was built");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A state directory whose journal holds a record that is no JSON.
fn broken_journal(name: &str) -> String {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(dir.join("journal")).unwrap();
    std::fs::write(dir.join("journal/1.record.json"), "{").unwrap();
    dir.to_string_lossy().into_owned()
}

#[test]
fn a_command_warns_of_an_unreadable_journal_and_names_the_file() {
    let dir = broken_journal("command");
    let text = stderr(&["--state-dir", &dir, "history"], &[]);
    assert!(text.starts_with("warning: cannot read a record of the journal"), "{text}");
    assert!(text.contains(&format!("file={dir}/journal/1.record.json")), "{text}");
    assert!(text.contains("error="), "{text}");
}

/// What is written when standard error is the stream that JOURNAL_STREAM names.
fn journal(arguments: &[&str], name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let file = std::fs::File::create(&path).unwrap();
    let metadata = file.metadata().unwrap();
    let stream = format!("{}:{}", metadata.dev(), metadata.ino());
    command(arguments, &[("JOURNAL_STREAM", &stream)]).stderr(file).status().unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn journald_gets_the_priority() {
    let dir = broken_journal("journald");
    let text = journal(&["--state-dir", &dir, "history"], "journald.log");
    assert!(text.starts_with("<4>cannot read a record of the journal"), "{text}");
}

#[test]
fn journald_gets_the_priority_of_what_ends_a_daemon() {
    for (arguments, name) in [(AGENT, "agent.log"), (OPERATOR, "operator.log")] {
        let text = journal(arguments, name);
        assert!(text.starts_with("<3>") && text.contains("nowhere"), "{text}");
    }
}

/// A shell of a systemd unit inherits the variable, but not the stream.
#[test]
fn another_stream_than_the_journals_gets_no_priority() {
    let dir = broken_journal("not-journald");
    let text = stderr(&["--state-dir", &dir, "history"], &[("JOURNAL_STREAM", "8:1")]);
    assert!(text.starts_with("warning: "), "{text}");
}

#[test]
fn what_ends_a_daemon_is_printed_whatever_rust_log_says() {
    for arguments in [AGENT, OPERATOR] {
        let text = stderr(arguments, &[("RUST_LOG", "off")]);
        assert!(text.contains(" ERROR ") && text.contains("nowhere"), "{text}");
        let text = stderr(&[arguments, &["--log-format", "json"]].concat(), &[("RUST_LOG", "off")]);
        let event: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(event["level"], "ERROR", "{text}");
        assert!(event["message"].as_str().is_some_and(|m| m.contains("nowhere")), "{text}");
    }
}

#[test]
fn an_empty_variable_is_not_set() {
    let empty = [("LINESMAN_LOG_FORMAT", ""), ("LINESMAN_STATE_DIR", ""), ("LINESMAN_DEAD_MAN", "")];
    for arguments in [AGENT, OPERATOR] {
        let text = stderr(arguments, &empty);
        assert!(text.contains(" ERROR ") && text.contains("nowhere"), "{text}");
    }
}

#[test]
fn a_worker_writes_like_the_process_that_started_it() {
    let loud = [("RUST_LOG", "linesman=loud")];
    let first = |arguments: &[&str]| stderr(arguments, &loud).lines().next().unwrap_or_default().to_owned();
    let text = first(&["apply-worker", "--log-format", "text"]);
    assert!(text.contains("Z  WARN RUST_LOG is invalid"), "{text}");
    let text = first(&["apply-worker", "--log-format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["level"], "WARN", "{text}");
    let text = first(&["apply-worker"]);
    assert!(text.starts_with("warning: RUST_LOG is invalid"), "{text}");
}

#[test]
fn rust_log_is_heeded() {
    let dir = broken_journal("silenced");
    let text = stderr(&["--state-dir", &dir, "history"], &[("RUST_LOG", "error")]);
    assert_eq!(text, "");
}

#[test]
fn agent_and_operator_write_text_with_time_and_level() {
    for arguments in [AGENT, OPERATOR] {
        let text = stderr(arguments, &[("RUST_LOG", "linesman=loud")]);
        let line = text.lines().next().unwrap_or_default();
        assert!(line.contains("Z  WARN RUST_LOG is invalid"), "{text}");
        assert!(line.contains("error="), "{text}");
    }
}

/// Also the error that ends it.
#[test]
fn agent_and_operator_write_json_when_asked() {
    for arguments in [AGENT, OPERATOR] {
        let text = stderr(&[arguments, &["--log-format", "json"]].concat(), &[("RUST_LOG", "linesman=loud")]);
        let event: Value = serde_json::from_str(text.lines().next().unwrap_or_default()).unwrap();
        assert_eq!(event["level"], "WARN", "{text}");
        assert!(event["message"].as_str().is_some_and(|m| m.starts_with("RUST_LOG is invalid")), "{text}");
        assert!(event["error"].is_string() && event["timestamp"].is_string(), "{text}");
        let last: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap();
        assert_eq!(last["level"], "ERROR", "{text}");
        assert!(last["message"].as_str().is_some_and(|m| m.contains("nowhere")), "{text}");
    }
}
