//! What a probe found.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::Probe;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    pub probe: Probe,
    pub status: ProbeStatus,
    /// How long after the start of the run this was known.
    #[serde(with = "millis", rename = "after_ms")]
    pub after: Duration,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum ProbeStatus {
    Passed {
        #[serde(with = "millis", rename = "took_ms")]
        took: Duration,
        /// In what way it passed less than in full. Where it passed in full before, this is not enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Failed {
        why: String,
    },
    /// There is nothing that could be probed.
    NotApplicable {
        why: String,
    },
}

impl ProbeStatus {
    pub fn passed(&self) -> bool {
        matches!(self, ProbeStatus::Passed { .. })
    }

    pub fn failed(why: impl Into<String>) -> Self {
        ProbeStatus::Failed { why: why.into() }
    }
}

impl fmt::Display for ProbeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeStatus::Passed { took, note: None } => write!(f, "passed in {}", Short(*took)),
            ProbeStatus::Passed { note: Some(note), .. } => write!(f, "passed in part: {note}"),
            ProbeStatus::Failed { why } => write!(f, "failed: {why}"),
            ProbeStatus::NotApplicable { why } => write!(f, "not applicable: {why}"),
        }
    }
}

impl fmt::Display for ProbeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.probe.spec, self.status)
    }
}

/// A duration as people say it: 3 ms, 1.5 s.
#[derive(Clone, Copy, Debug)]
pub struct Short(pub Duration);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            millis if millis < 1000 => write!(f, "{millis} ms"),
            millis if millis % 1000 == 0 => write!(f, "{} s", millis / 1000),
            _ => write!(f, "{:.1} s", self.0.as_secs_f64()),
        }
    }
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
