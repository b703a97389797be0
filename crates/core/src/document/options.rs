//! What a policy's spec says beside its desired state.

use serde_json::Value;

use super::probes;
use super::shape::ShapeError;
use super::tree::{Entry, Node, Range};
use crate::check::nearest::nearest;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::policy::{Drift, OnDelete, Options};
use crate::probe::{LONGEST_PATIENCE, Probe};

/// Keys that mean something in a cluster only; a host has nothing to do with them.
const OF_A_CLUSTER: [&str; 6] =
    ["nodeSelector", "nodeLabelSelector", "maxUnavailable", "rollout", "hosts", "machineConfigPoolSelector"];
const KNOWN: [&str; 8] =
    ["capture", "desired", "desiredState", "priority", "onDelete", "drift", "probes", "patience"];

/// No probe can answer in no time: every change would be rolled back.
const NO_PATIENCE: &str =
    "'patience' is at least 1 second and cannot be 0; use 'probes: []' to run no probes";

/// What was read; each probe with its place.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub options: Options,
    pub probes: Vec<(Probe, Range)>,
}

pub(super) fn read(spec: &Node) -> Result<Written, ShapeError> {
    let (mut options, mut read) = (Options::default(), Vec::new());
    for entry in spec.entries().unwrap_or_default() {
        match entry.key.as_str() {
            "priority" => options.priority = whole_number(entry)?,
            "patience" => {
                options.patience = Some(patience(entry)?);
            }
            "onDelete" => {
                options.on_delete =
                    word(entry, &[("Retain", OnDelete::Retain), ("Revert", OnDelete::Revert)])?;
            }
            "drift" => {
                let words =
                    [("Ignore", Drift::Ignore), ("Report", Drift::Report), ("Correct", Drift::Correct)];
                options.drift = word(entry, &words)?;
            }
            "probes" => {
                read = probes::items(entry)?.iter().map(probes::read).collect::<Result<_, _>>()?;
                options.probes = Some(read.iter().map(|(probe, _)| probe.to_string()).collect());
            }
            key if KNOWN.contains(&key) || OF_A_CLUSTER.contains(&key) => {}
            _ => return Err(unknown(entry)),
        }
    }
    Ok(Written { options, probes: read })
}

fn patience(entry: &Entry) -> Result<u64, ShapeError> {
    let (seconds, longest) = (whole_number(entry)?, LONGEST_PATIENCE.as_secs());
    match u64::try_from(seconds) {
        Ok(0) => Err(invalid(entry, NO_PATIENCE.to_owned())),
        Ok(seconds) if seconds <= longest => Ok(seconds),
        Ok(_) => {
            Err(invalid(entry, format!("'patience' is at most {longest} seconds and cannot be {seconds}")))
        }
        Err(_) => Err(invalid(entry, format!("'patience' is a number of seconds and cannot be {seconds}"))),
    }
}

fn whole_number(entry: &Entry) -> Result<i64, ShapeError> {
    match entry.value.to_value() {
        Value::Number(number) => number.as_i64().ok_or_else(|| {
            invalid(entry, format!("'{}' should be a whole number, but is {number}", entry.key))
        }),
        _ => Err(wrong(entry, "a whole number")),
    }
}

fn word<T: Copy>(entry: &Entry, words: &[(&str, T)]) -> Result<T, ShapeError> {
    let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let allowed = format!("one of {}", known.join(", "));
    let Some(written) = entry.value.as_str() else { return Err(wrong(entry, &allowed)) };
    let found = words.iter().find(|(word, _)| written == *word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let mut error = invalid(entry, format!("'{}' should be {allowed}, but is '{written}'", entry.key));
        error.diagnostic.hint = nearest(written, &known).map(|near| format!("did you mean '{near}'?"));
        error
    })
}

fn invalid(entry: &Entry, message: String) -> ShapeError {
    ShapeError::new(Diagnostic::new(codes::WRONG_OPTION, message), entry.value.range)
}

pub(super) fn wrong(entry: &Entry, needed: &str) -> ShapeError {
    let found =
        entry.value.as_str().map_or_else(|| entry.value.kind().to_owned(), |text| format!("'{text}'"));
    let message = format!("'{}' should be {needed}, but is {found}", entry.key);
    invalid(entry, message)
}

fn unknown(entry: &Entry) -> ShapeError {
    let message = format!("unknown key '{}' in the policy's spec", entry.key);
    let known: Vec<&str> = KNOWN.iter().skip(2).chain(&OF_A_CLUSTER).copied().collect();
    let diagnostic =
        Diagnostic::new(codes::WRONG_OPTION, message).hint(format!("known keys: {}", known.join(", ")));
    ShapeError::new(diagnostic, entry.range)
}

#[cfg(test)]
mod tests {
    use super::KNOWN;
    use crate::check::fields::OPTIONS;
    use crate::document::Document;

    #[test]
    fn a_wrong_value_is_named() {
        let cases = [
            ("patience: -1", "'patience' is a number of seconds and cannot be -1", None),
            (
                "patience: 0",
                "'patience' is at least 1 second and cannot be 0; use 'probes: []' to run no probes",
                None,
            ),
            ("patience: 3601", "'patience' is at most 3600 seconds and cannot be 3601", None),
            ("patience: soon", "'patience' should be a whole number, but is 'soon'", None),
            ("priority: 1.5", "'priority' should be a whole number, but is 1.5", None),
            (
                "drift: correct",
                "'drift' should be one of Ignore, Report, Correct, but is 'correct'",
                Some("did you mean 'Correct'?"),
            ),
            ("onDelete: Keep", "'onDelete' should be one of Retain, Revert, but is 'Keep'", None),
            ("drift: true", "'drift' should be one of Ignore, Report, Correct, but is a boolean", None),
        ];
        for (option, message, hint) in cases {
            let text = format!(
                "kind: NodeNetworkConfigurationPolicy\nmetadata: {{name: a}}\nspec:\n  {option}\n  \
                 desiredState: {{interfaces: []}}\n"
            );
            let problems = Document::parse("a", &text).expect_err("the option is wrong");
            assert_eq!((problems[0].message.as_str(), problems[0].hint.as_deref()), (message, hint));
        }
    }

    #[test]
    fn every_option_can_be_looked_up() {
        let mut described: Vec<&str> = OPTIONS.iter().map(|(key, ..)| *key).collect();
        let mut known: Vec<&str> = KNOWN.iter().skip(3).copied().collect();
        described.sort_unstable();
        known.sort_unstable();
        assert_eq!(described, known);
    }
}
