//! What `linesman --help` says, verb by verb.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use super::{Fallible, NOTE, fenced};

pub fn page() -> Fallible<String> {
    let main = help(&[])?;
    let mut page = format!("{NOTE}\n\n# Commands\n\n{}", fenced("text", &main));
    for verb in verbs(&main) {
        write!(page, "\n## linesman {verb}\n\n{}", fenced("text", &help(&[verb])?))?;
    }
    Ok(page)
}

/// The first words below `Commands:`; continued lines are indented further.
fn verbs(help: &str) -> Vec<&str> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let entries = list.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    entries.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help").collect()
}

fn help(verb: &[&str]) -> Fallible<String> {
    let output = Command::new(binary()?).args(verb).arg("--help").env("COLUMNS", "100").output()?;
    Ok(String::from_utf8(output.stdout)?)
}

fn binary() -> Fallible<PathBuf> {
    if let Some(given) = std::env::var_os("LINESMAN_BINARY") {
        return Ok(given.into());
    }
    let built = std::env::current_exe()?.with_file_name("linesman");
    if built.exists() { Ok(built) } else { Err("build it first: cargo build -p linesman".into()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn verbs_are_read_from_the_help() {
        let help = "Does it\n\nCommands:\n  plan   Show\n         more\n  apply  Do [alias: set]\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(super::verbs(help), ["plan", "apply"]);
    }
}
