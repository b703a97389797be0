//! What a policy's spec says beside its desired state.

use super::probes;
use super::shape::ShapeError;
use super::tree::{Entry, Node, Range};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::policy::{Drift, OnDelete, Options};
use crate::probe::Probe;

/// Keys that mean something in a cluster only; a host has nothing to do with them.
const OF_A_CLUSTER: [&str; 6] =
    ["nodeSelector", "nodeLabelSelector", "maxUnavailable", "rollout", "hosts", "machineConfigPoolSelector"];
const KNOWN: [&str; 8] =
    ["capture", "desired", "desiredState", "priority", "onDelete", "drift", "probes", "patience"];

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
                let seconds = whole_number(entry)?;
                let seconds = u64::try_from(seconds).map_err(|_| wrong(entry, "a number of seconds"))?;
                options.patience = Some(seconds);
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

fn whole_number(entry: &Entry) -> Result<i64, ShapeError> {
    entry.value.to_value().as_i64().ok_or_else(|| wrong(entry, "a whole number"))
}

fn word<T: Copy>(entry: &Entry, words: &[(&str, T)]) -> Result<T, ShapeError> {
    let written = entry.value.as_str();
    let found = words.iter().find(|(word, _)| written == Some(*word)).map(|(_, value)| *value);
    let allowed = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| wrong(entry, &format!("one of {allowed}")))
}

pub(super) fn wrong(entry: &Entry, needed: &str) -> ShapeError {
    let found =
        entry.value.as_str().map_or_else(|| entry.value.kind().to_owned(), |text| format!("'{text}'"));
    let message = format!("'{}' should be {needed}, but is {found}", entry.key);
    ShapeError::new(Diagnostic::new(codes::WRONG_OPTION, message), entry.value.range)
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

    #[test]
    fn every_option_can_be_looked_up() {
        let mut described: Vec<&str> = OPTIONS.iter().map(|(key, ..)| *key).collect();
        let mut known: Vec<&str> = KNOWN.iter().skip(3).copied().collect();
        described.sort_unstable();
        known.sort_unstable();
        assert_eq!(described, known);
    }
}
