//! Several documents become one wish: a setting that two of them contradict is refused, and neither applied.

use std::collections::{BTreeMap, BTreeSet};

use super::catalogue::{self, Known};
use super::document::{Line, Place, Source};
use super::key::{Key, KeyError};
use super::refusal::{Cause, Refusal};
use super::value::ValueKind;
use super::version::Version;

/// A setting that can be applied, as far as its text tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub key: Key,
    pub value: String,
    pub place: Place,
    /// None: unknown to us, and allowed; or not a key of the database.
    pub known: Option<&'static Known>,
    /// Its document says that it is ours, though others write it.
    pub take_over: bool,
}

/// What the documents ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Desired {
    pub settings: Vec<Setting>,
    pub refusals: Vec<Refusal>,
    /// `restart-vswitchd: when-needed`
    pub may_restart: bool,
}

/// Of lines that contradict one another: ten thousand of them must not become a hundred million.
const MOST_NAMED: usize = 3;

const ALLOW_UNKNOWN: &str = "allow-unknown";
const TAKE_OVER: &str = "take-over";
const RESTART: &str = "restart-vswitchd";
const NEVER: &str = "never";
const WHEN_NEEDED: &str = "when-needed";

/// One of the options, which say how settings are applied and are none themselves.
#[derive(Default)]
struct Options {
    allow_unknown: bool,
    /// Keys of other writers that are to be ours.
    take_over: BTreeSet<String>,
}

impl Desired {
    /// `version` is that of Open vSwitch; unknown as long as its database does not say it.
    pub fn compose(sources: &[Source], version: Option<Version>) -> Self {
        let mut desired = Self::default();
        let mut found: BTreeMap<Key, Vec<Setting>> = BTreeMap::new();
        let mut restarts: Vec<(bool, Place)> = Vec::new();
        for source in sources {
            let (lines, refusals) = source.lines();
            desired.refusals.extend(refusals);
            let options = desired.options(&lines, &mut restarts);
            for line in lines.iter().filter(|line| !is_option(&line.key)) {
                match setting(line, &options, version) {
                    Ok(setting) => found.entry(setting.key.clone()).or_default().push(setting),
                    Err(refusal) => desired.refusals.push(refusal),
                }
            }
        }
        desired.decide_restart(&restarts);
        for (key, same) in found {
            desired.add(&key, same);
        }
        desired.refusals.sort();
        desired
    }

    fn add(&mut self, key: &Key, same: Vec<Setting>) {
        let values: BTreeSet<&str> = same.iter().map(|setting| setting.value.as_str()).collect();
        if values.len() < 2 {
            return self.settings.extend(same.into_iter().next());
        }
        for setting in same.iter().take(MOST_NAMED) {
            let others = || same.iter().filter(|other| other.value != setting.value);
            let mut named: Vec<String> = others()
                .take(MOST_NAMED)
                .map(|other| format!("{} says {}", other.place, other.value))
                .collect();
            let more = others().count() - named.len();
            if more > 0 {
                named.push(format!("and {more} more"));
            }
            let message = format!("{} contradicts another line: {}", setting.value, named.join(", "));
            let remedy = "remove one of them; until then none is applied";
            let place = Some(setting.place.clone());
            self.refusals.push(Refusal::new(key, place, Cause::Contradiction, message, remedy));
        }
    }

    fn options(&mut self, lines: &[Line], restarts: &mut Vec<(bool, Place)>) -> Options {
        let mut options = Options::default();
        for line in lines {
            let place = line.place.clone();
            match (line.key.as_str(), line.value.as_str()) {
                (ALLOW_UNKNOWN, "true") => options.allow_unknown = true,
                (ALLOW_UNKNOWN, "false") => {}
                (RESTART, WHEN_NEEDED) => restarts.push((true, place)),
                (RESTART, NEVER) => restarts.push((false, place)),
                (TAKE_OVER, keys) => {
                    let keys = keys.split([' ', ',']).filter(|key| !key.is_empty());
                    options.take_over.extend(keys.map(str::to_owned));
                }
                (ALLOW_UNKNOWN, value) => self.refuse_option(line, value, "true or false"),
                (RESTART, value) => self.refuse_option(line, value, "never or when-needed"),
                _ => {}
            }
        }
        options
    }

    fn refuse_option(&mut self, line: &Line, value: &str, words: &str) {
        let message = format!("{value:?} is not {words}");
        let remedy = format!("write {words}");
        self.refusals.push(Refusal::new(
            &line.key,
            Some(line.place.clone()),
            Cause::InvalidValue,
            message,
            remedy,
        ));
    }

    fn decide_restart(&mut self, said: &[(bool, Place)]) {
        self.may_restart = !said.is_empty() && said.iter().all(|(may, _)| *may);
        let (Some((_, yes)), Some((_, no))) =
            (said.iter().find(|(may, _)| *may), said.iter().find(|(may, _)| !*may))
        else {
            return;
        };
        let message = format!("{WHEN_NEEDED} contradicts {no}, which says {NEVER}");
        let remedy = "remove one of them; until then ovs-vswitchd is not restarted";
        self.refusals.push(Refusal::new(RESTART, Some(yes.clone()), Cause::Contradiction, message, remedy));
    }
}

fn is_option(key: &str) -> bool {
    [ALLOW_UNKNOWN, TAKE_OVER, RESTART].contains(&key)
}

fn setting(line: &Line, options: &Options, version: Option<Version>) -> Result<Setting, Refusal> {
    let refuse = |cause, message: String, remedy: String| {
        Refusal::new(&line.key, Some(line.place.clone()), cause, message, remedy)
    };
    let key: Key = line.key.parse().map_err(|error: KeyError| {
        refuse(Cause::UnknownKey, error.to_string(), remedy_for(&line.key, error))
    })?;
    let known = match &key {
        Key::Database { column, name } => catalogue::find(*column, name),
        _ => None,
    };
    if matches!(key, Key::Database { .. }) && !options.allow_unknown {
        let Some(known) = known else {
            let remedy = match catalogue::similar(&key) {
                Some(name) => format!("write {name}, or set allow-unknown: true in this document"),
                None => "check its spelling, or set allow-unknown: true in this document".to_owned(),
            };
            return Err(refuse(Cause::UnknownKey, "Open vSwitch does not know this key".into(), remedy));
        };
        if let Some(version) = version.filter(|version| !known.is_in(*version)) {
            let message = format!("Open vSwitch {version} does not know this key{}", since(known));
            let remedy = "remove it, or set allow-unknown: true in this document".to_owned();
            return Err(refuse(Cause::UnknownKey, message, remedy));
        }
    }
    let kind = match &key {
        Key::Database { .. } => known.map_or(ValueKind::Text, |known| known.value),
        Key::LogLevel { .. } => ValueKind::LogLevel,
        Key::Unit { property, .. } => property.value(),
    };
    let value = kind.read(&line.value).ok_or_else(|| {
        let message = format!("{:?} is not {kind}", line.value);
        let default = known.map(|known| known.default).filter(|default| !default.is_empty());
        let remedy = match default {
            Some(default) => format!("correct the value, or remove the line for the default ({default})"),
            None => "correct the value".to_owned(),
        };
        refuse(Cause::InvalidValue, message, remedy)
    })?;
    let take_over = options.take_over.contains(&key.to_string());
    Ok(Setting { key, value, place: line.place.clone(), known, take_over })
}

fn since(known: &Known) -> String {
    let since = known.since.map(|since| format!("from {since}"));
    let until = known.until.map(|until| format!("up to {until}"));
    let range: Vec<String> = since.into_iter().chain(until).collect();
    if range.is_empty() { String::new() } else { format!(" (it is known {})", range.join(" ")) }
}

fn remedy_for(key: &str, error: KeyError) -> String {
    match error {
        KeyError::Unknown if catalogue::find(super::key::Column::OtherConfig, key).is_some() => {
            format!("write other_config:{key}")
        }
        KeyError::Unknown => {
            "write other_config:NAME, external_ids:NAME, log-level:MODULE[:DESTINATION], memory-high, memory-max, \
             memory-low, memory-swap-max, cpu-quota, cpu-weight or tasks-max"
                .into()
        }
        KeyError::Nameless => "write a name after it, such as other_config:max-idle".into(),
        KeyError::Name => "correct the name".into(),
        KeyError::Destination => "write console, syslog or file, or leave it out for all of them".into(),
    }
}
