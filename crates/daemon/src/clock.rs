//! The wall clock.

use std::time::{Duration, SystemTime};

/// Seconds since 1970.
pub fn now() -> u64 {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    seconds.saturating_add_signed(skew())
}

/// Tests set a clock wrong; release builds cannot.
#[cfg(debug_assertions)]
fn skew() -> i64 {
    std::env::var("LINESMAN_CLOCK_SKEW").ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[cfg(not(debug_assertions))]
fn skew() -> i64 {
    0
}

pub fn rfc3339(seconds: u64) -> String {
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}
