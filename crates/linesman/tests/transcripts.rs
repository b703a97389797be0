//! What a person sees of the verbs that need no host. `UPDATE_GOLDEN=1` writes it anew.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use linesman_lab::transcript::{self, CommandResult};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// In a shell, so that pipes work; both streams into one, as on a terminal.
fn run(command: &str) -> CommandResult {
    let binary = Path::new(env!("CARGO_BIN_EXE_linesman"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().expect("a binary is in a folder").display());
    let (mut reader, writer) = std::io::pipe().expect("the kernel has a pipe");
    let mut shell = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder())
        .env("PATH", path)
        .env("COLUMNS", "100")
        .env("TMPDIR", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(writer.try_clone().expect("a pipe can be shared"))
        .stderr(writer)
        .spawn()
        .expect("there is a shell");
    let mut output = String::new();
    reader.read_to_string(&mut output).expect("linesman prints text");
    let status = shell.wait().expect("the shell ends");
    CommandResult { output, code: status.code().unwrap_or(-1) }
}

#[test]
fn transcripts_are_up_to_date() {
    transcript::assert_true(&folder(), run);
}

#[test]
fn the_help_of_every_verb_is_among_them() {
    let help = std::fs::read_to_string(folder().join("help.txt")).expect("the transcript is there");
    for verb in verbs() {
        assert!(help.contains(&format!("$ linesman {verb} --help\n")), "help.txt lacks {verb}");
    }
}

fn verbs() -> Vec<String> {
    let help = run("linesman --help").output;
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let words =
        list.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    words.filter(|verb| *verb != "help").map(str::to_owned).collect()
}

#[test]
fn completions_and_manual_pages_name_every_verb() {
    let verbs = verbs();
    assert!(verbs.len() >= 12, "{verbs:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&format!("linesman completion {shell}"));
        assert_eq!(script.code, 0);
        assert!(script.output.contains("LINESMAN_COMPLETE"), "{shell}: {}", script.output);
        let offered = offered(shell, &[""]);
        assert!(verbs.iter().all(|verb| offered.contains(verb)), "{shell}: {offered:?}");
        assert!(
            !offered.iter().any(|word| word.contains("apply-worker")),
            "{shell} offers the worker's verb"
        );
    }
    let page = run("linesman man");
    assert!(page.code == 0 && page.output.contains(".TH linesman 1"), "{}", page.output);
    // As roff writes hyphens.
    let named = |verb: &String| page.output.contains(&format!("linesman\\-{}(1)", verb.replace('-', "\\-")));
    assert!(verbs.iter().all(named), "{}", page.output);
}

/// What a shell offers for the last of these words; through the entry that its script calls.
fn offered(shell: &str, words: &[&str]) -> Vec<String> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(host_with_a_policy);
    let output = Command::new(env!("CARGO_BIN_EXE_linesman"))
        .args(["--", "linesman"])
        .args(words)
        .env("LINESMAN_COMPLETE", shell)
        .env("LINESMAN_STATE_DIR", folder)
        .env("LINESMAN_RUN_DIR", folder)
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .expect("linesman can be run");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let first = |line: &str| line.split(['\t', ':']).next().unwrap_or_default().to_owned();
    text.lines().map(first).collect()
}

fn host_with_a_policy() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("completion");
    std::fs::create_dir_all(folder.join("journal")).expect("a folder can be made");
    let ledger = r#"{"version": 1, "content": {"storage": {"policy": {"name": "storage", "state": {}},
        "policy_state": {"state": "applied"}, "since": 0, "applied_state": {"interfaces": [{"name": "br-storage"}]}}}}"#;
    std::fs::write(folder.join("policies.json"), ledger).expect("a ledger can be written");
    folder
}

#[test]
fn shells_offer_policies_interfaces_and_codes() {
    for shell in ["bash", "zsh", "fish"] {
        for words in [&["diff", ""][..], &["retry", "st"]] {
            let offered = offered(shell, words);
            assert!(offered.contains(&"storage".to_owned()), "{shell} {words:?}: {offered:?}");
        }
        for words in [&["why", ""][..], &["show", ""], &["topology", ""]] {
            let offered = offered(shell, words);
            let all = ["lo", "br-storage"].iter().all(|name| offered.iter().any(|word| word == name));
            assert!(all, "{shell} {words:?}: {offered:?}");
        }
        let offered = offered(shell, &["explain", "LM040"]);
        assert!(offered.contains(&"LM0401".to_owned()), "{shell}: {offered:?}");
        assert!(!offered.iter().any(|word| word.starts_with("LM2")), "{shell}: {offered:?}");
    }
}

#[test]
fn manual_pages_are_written_into_a_directory() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    let said = run(&format!("linesman man --dir {}", directory.display()));
    assert_eq!((said.code, said.output.as_str()), (0, ""));
    for verb in verbs() {
        let page =
            std::fs::read_to_string(directory.join(format!("linesman-{verb}.1"))).expect("it was written");
        assert!(page.contains(&format!(".TH linesman-{verb} 1")) && page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(directory.join("linesman.1").exists() && !directory.join("linesman-apply-worker.1").exists());
}
