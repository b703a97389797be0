//! Log levels of the daemons: they last as long as the process does.

use std::path::Path;
use std::time::Duration;

use linesman_ovsdb::unixctl;

use super::decide::Change;
use super::key::{Daemon, Target};
use super::observed::Levels;

/// For each call.
const LIMIT: Duration = Duration::from_secs(5);
/// Of one call, which has to fit into one message.
const AT_ONCE: usize = 100;

pub async fn read(run_dir: &Path, daemon: Daemon) -> Result<Levels, unixctl::Error> {
    let text = unixctl::Daemon::new(run_dir, daemon.as_str()).call("vlog/list", &[], LIMIT).await?;
    Ok(parse(&text))
}

/// All changes of the daemon.
pub async fn write(run_dir: &Path, daemon: Daemon, changes: &[&Change]) -> Result<(), unixctl::Error> {
    let words: Vec<String> = changes.iter().filter_map(|change| word(daemon, change)).collect();
    let control = unixctl::Daemon::new(run_dir, daemon.as_str());
    for words in words.chunks(AT_ONCE) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        control.call("vlog/set", &words, LIMIT).await?;
    }
    Ok(())
}

fn word(of: Daemon, change: &Change) -> Option<String> {
    match (&change.target, &change.to) {
        (Target::LogLevel { daemon, module, destination }, Some(level)) if *daemon == of => {
            Some(format!("{module}:{}:{level}", destination.as_str()))
        }
        _ => None,
    }
}

/// A table with a row for each module: its name, and the levels of console, syslog and file.
fn parse(text: &str) -> Levels {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let levels: Vec<String> = words.map(str::to_ascii_lowercase).collect();
        Some((name, <[String; 3]>::try_from(levels).ok()?))
    };
    // The heading and the line below it have no name.
    text.lines().filter(|line| !line.starts_with(' ')).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_from_the_table() {
        let text = "                 console    syslog    file\n                 -------    ------    ------\n\
                    backtrace          OFF        ERR       INFO\nbfd                DBG        ERR       WARN\n";
        let levels = parse(text);
        assert_eq!(levels.len(), 2);
        assert_eq!(levels["bfd"], ["dbg", "err", "warn"]);
        assert_eq!(parse(""), Levels::new());
    }
}
