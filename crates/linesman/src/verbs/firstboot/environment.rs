//! Settings from `/etc/linesman/firstboot.env`, which systemd puts into the environment.
//!
//! A wrong one is reported and taken as not set: without the first boot this host would be configured by guesses.

use std::time::Duration;

use clap::ValueEnum;

use crate::cli::{ChangePolicy, duration};

/// Also read where systemd has not: by hand, the same settings count.
pub const FILE: &str = "/etc/linesman/firstboot.env";

/// As systemd reads it; of several lines, the last one counts.
pub fn variable(file: &str, name: &str) -> Option<String> {
    let lines = file.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    let mut values = lines.filter_map(|line| line.split_once('=')).filter(|(key, _)| key.trim() == name);
    values.next_back().map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_owned())
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub on_change: Option<ChangePolicy>,
    pub fall_back: Option<bool>,
    pub wait: Option<Duration>,
}

impl Environment {
    /// Also what is wrong with it.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        let environment = Self {
            on_change: one(&variable, "LINESMAN_ON_CHANGE", change_policy, &mut wrong),
            fall_back: one(&variable, "LINESMAN_FALL_BACK", yes_or_no, &mut wrong),
            wait: one(&variable, "LINESMAN_WAIT", duration, &mut wrong),
        };
        (environment, wrong)
    }
}

fn one<T>(
    variable: impl Fn(&str) -> Option<String>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, String>,
    wrong: &mut Vec<String>,
) -> Option<T> {
    let text = variable(name).filter(|text| !text.trim().is_empty())?;
    let parsed = parse(text.trim());
    parsed.map_err(|why| wrong.push(format!("{name}={text}: {why}; the default is used"))).ok()
}

fn change_policy(text: &str) -> Result<ChangePolicy, String> {
    ChangePolicy::from_str(text, true).map_err(|_| "expected 'report', 'boot' or 'live'".to_owned())
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "y" | "t" | "1" => Ok(true),
        "no" | "false" | "off" | "n" | "f" | "0" => Ok(false),
        _ => Err("expected 'yes' or 'no'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(all: &[(&str, &str)]) -> (Environment, Vec<String>) {
        Environment::read(|name| all.iter().find(|(n, _)| *n == name).map(|(_, text)| (*text).to_owned()))
    }

    #[test]
    fn settings_are_read() {
        let set = [("LINESMAN_ON_CHANGE", "live"), ("LINESMAN_FALL_BACK", "Yes"), ("LINESMAN_WAIT", "5s")];
        let (environment, wrong) = read(&set);
        assert!(wrong.is_empty(), "{wrong:?}");
        let expected = Environment {
            on_change: Some(ChangePolicy::Live),
            fall_back: Some(true),
            wait: Some(Duration::from_secs(5)),
        };
        assert_eq!(environment, expected);
        assert_eq!(read(&[("LINESMAN_FALL_BACK", "")]), (Environment::default(), vec![]));
    }

    #[test]
    fn the_file_is_read_as_systemd_does() {
        let file = "# LINESMAN_WAIT=1s\nLINESMAN_WAIT=2s\n LINESMAN_WAIT='3s'\nLINESMAN_FALL_BACK=\"yes\"\n";
        assert_eq!(variable(file, "LINESMAN_WAIT").as_deref(), Some("3s"));
        assert_eq!(variable(file, "LINESMAN_FALL_BACK").as_deref(), Some("yes"));
        assert_eq!(variable(file, "LINESMAN_ON_CHANGE"), None);
    }

    #[test]
    fn a_wrong_setting_is_reported_and_the_others_count() {
        let set = [("LINESMAN_ON_CHANGE", "often"), ("LINESMAN_FALL_BACK", "maybe"), ("LINESMAN_WAIT", "9s")];
        let (environment, wrong) = read(&set);
        assert_eq!(environment, Environment { wait: Some(Duration::from_secs(9)), ..Environment::default() });
        assert_eq!(
            wrong[0],
            "LINESMAN_ON_CHANGE=often: expected 'report', 'boot' or 'live'; the default is used"
        );
        assert_eq!(wrong.len(), 2);
    }
}
