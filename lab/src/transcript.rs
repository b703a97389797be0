//! What a person sees at a terminal, as golden files.
//!
//! A transcript holds `$ command` lines, each followed by all that was printed, and `[exit CODE]` where that is not 0.
//! Lines that begin with `## ` before a command say what it shows; they stay as they are.

use std::path::{Path, PathBuf};

/// What a command printed, standard output and error as they came, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    pub output: String,
    pub code: i32,
}

/// The transcript with what `run` prints now; `run` gets each command without its `$ `.
pub fn replay(transcript: &str, mut run: impl FnMut(&str) -> CommandResult) -> String {
    let mut text = String::new();
    for line in transcript.lines() {
        if line.starts_with("## ") {
            text.push_str(&format!("{line}\n"));
        } else if let Some(command) = line.strip_prefix("$ ") {
            text.push_str(&format!("{line}\n{}\n", rendered(&run(command))));
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn rendered(CommandResult { output, code }: &CommandResult) -> String {
    let output: String = output.trim_end().lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if *code == 0 { output } else { format!("{output}[exit {code}]\n") }
}

/// What differs from run to run, masked: times of day, pids, durations, free space.
pub fn masked(text: &str) -> String {
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        let words: Vec<String> = line.split_inclusive([' ', '\n']).map(mask_word).collect();
        let words = mask_ago(mask_before(words));
        result.push_str(&mask_after(&words.concat().replace("just now", "AGO"), "(pid "));
    }
    result
}

/// `2026-01-31T12:00:00Z`, with what stands around it.
fn mask_word(word: &str) -> String {
    let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    match shape.find("0000-00-00T00:00:00Z") {
        Some(at) => format!("{}TIME{}", &word[..at], &word[at + 20..]),
        None => word.to_owned(),
    }
}

/// A number whose unit follows as the next word.
fn mask_before(mut words: Vec<String>) -> Vec<String> {
    let units = ["ms", "s", "MiB"];
    for index in 1..words.len() {
        let unit = words[index].trim_end().trim_end_matches([',', ';', '.', ')']);
        let number = words[index - 1].trim_end();
        if units.contains(&unit)
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
        {
            words[index - 1] = "N ".into();
        }
    }
    words
}

/// `3 min ago`, of any unit.
fn mask_ago(mut words: Vec<String>) -> Vec<String> {
    for index in 2..words.len() {
        if let Some(rest) = words[index].strip_prefix("ago") {
            words[index] = format!("AGO{rest}");
            words[index - 1].clear();
            words[index - 2].clear();
        }
    }
    words
}

fn mask_after(line: &str, lead: &str) -> String {
    match line.split_once(lead) {
        Some((head, tail)) => {
            format!("{head}{lead}N{}", tail.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => line.to_owned(),
    }
}

/// Runs every transcript (`*.txt`) in `folder` and compares; `UPDATE_GOLDEN=1` writes what is said now.
///
/// # Panics
///
/// With both texts, if a transcript is no longer true.
pub fn assert_true(folder: &Path, mut run: impl FnMut(&str) -> CommandResult) {
    let mut wrong = Vec::new();
    for file in transcripts(folder) {
        let then = std::fs::read_to_string(&file).expect("a transcript can be read");
        let now = replay(&then, &mut run);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &now).expect("a transcript can be written");
        } else if then != now {
            wrong.push(format!("{}\n{}", file.display(), difference(&then, &now)));
        }
    }
    assert!(wrong.is_empty(), "{} transcript(s) differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of transcripts is there");
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    assert!(!files.is_empty(), "no transcripts in {}", folder.display());
    files.sort();
    files
}

/// The part that differs, with a few lines around it.
fn difference(then: &str, now: &str) -> String {
    let (then, now): (Vec<&str>, Vec<&str>) = (then.lines().collect(), now.lines().collect());
    let same = then.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let part = |lines: &[&str]| {
        let shown = lines.iter().skip(same.saturating_sub(3)).take(20);
        shown.map(|line| format!("  {line}\n")).collect::<String>()
    };
    format!("from line {}:\n--- golden\n{}--- now\n{}", same + 1, part(&then), part(&now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_comments_stay_and_output_is_replaced() {
        let old = "## How it starts\n$ one\nold\n\n$ two\n";
        let run = |command: &str| CommandResult {
            output: format!("{command} said  \n"),
            code: i32::from(command == "two"),
        };
        let text = replay(old, run);
        assert_eq!(text, "## How it starts\n$ one\none said\n\n$ two\ntwo said\n[exit 1]\n");
        assert_eq!(replay(&text, run), text);
    }

    #[test]
    fn what_differs_from_run_to_run_is_masked_and_nothing_else() {
        let said =
            "agent 0.1.0 (pid 123) since 2026-11-16T01:43:18Z; 211341 MiB free\n  after 0.5 s, mtu: 1400\n";
        assert_eq!(masked(said), "agent 0.1.0 (pid N) since TIME; N MiB free\n  after N s, mtu: 1400\n");
    }

    #[test]
    fn relative_times_are_masked_as_one() {
        let said = "office  in sync      5 s ago\nguests  drifted      12 min ago; seen just now\n";
        assert_eq!(masked(said), "office  in sync      AGO\nguests  drifted      AGO; seen AGO\n");
    }

    #[test]
    fn a_difference_is_shown_with_its_line() {
        let shown = difference("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nx\n");
        assert!(
            shown.starts_with("from line 5:") && shown.contains("  x\n") && !shown.contains("  a\n"),
            "{shown}"
        );
    }
}
