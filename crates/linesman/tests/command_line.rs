//! What can be said of the command line without a host to change.

use std::process::{Command, Output};

fn linesman(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linesman"))
        .args(arguments)
        .output()
        .expect("the binary was built for this test")
}

#[test]
fn help_lists_the_verbs_and_the_exit_codes() {
    let output = linesman(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    for word in ["plan", "apply", "commit", "rollback", "show", "history", "recover", "Exit codes:"] {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    assert!(!text.contains("apply-worker"), "the worker's verb is nobody's business");
}

#[test]
fn a_wrong_command_line_is_64_and_never_2() {
    for arguments in [
        &["aply"][..],
        &["apply", "--try", "soon"],
        &["apply", "--try", "5s", "--no-commit"],
        &["plan", "--probe"],
    ] {
        assert_eq!(linesman(arguments).status.code(), Some(64), "{arguments:?}");
    }
}

#[test]
fn a_wrong_probe_says_which_ones_there_are() {
    let output = linesman(&["apply", "x.yaml", "--probe", "gatewy"]);
    assert_eq!(output.status.code(), Some(64));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("gateway") && text.contains("tcp:"), "{text}");
}

#[test]
fn a_file_that_is_not_there_is_wrong_input() {
    let output = linesman(&["plan", "/nowhere/state.yaml"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/state.yaml"));
}
