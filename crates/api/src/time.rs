//! Points in time as Kubernetes writes them.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Seconds since 1970; written as `2026-07-20T10:00:00Z`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// The year 9999 ends; later cannot be written.
const LAST: u64 = 253_402_300_799;

impl Time {
    #[must_use]
    pub fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds).min(LAST))
    }

    /// Seconds from `earlier` until now; none if the clock was set back.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(self.0.min(LAST))))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = humantime::parse_rfc3339(&text)
            .map_err(|e| D::Error::custom(format!("{text}: not a time such as 2026-07-20T10:00:00Z: {e}")))?;
        let since = time.duration_since(UNIX_EPOCH).map_err(|_| D::Error::custom("a time before 1970"))?;
        Ok(Self(since.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let time = Time(1_784_541_600);
        let text = serde_json::to_string(&time).unwrap();
        assert_eq!(text, "\"2026-07-20T10:00:00Z\"");
        assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), time);
        assert_eq!(serde_json::from_str::<Time>("\"2026-07-20T10:00:00.123456Z\"").unwrap(), time);
        assert!(serde_json::from_str::<Time>("\"yesterday\"").is_err());
        assert_eq!(Time(u64::MAX).plus(1).to_string(), "9999-12-31T23:59:59Z");
    }
}
