//! What time it is, by this machine.

use std::time::{SystemTime, UNIX_EPOCH};

use linesman_api::time::Time;

pub fn now() -> Time {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Time(seconds.saturating_add_signed(skew()))
}

/// Tests set a clock wrong; releases have no such knob.
#[cfg(debug_assertions)]
fn skew() -> i64 {
    std::env::var("LINESMAN_CLOCK_SKEW").ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[cfg(not(debug_assertions))]
fn skew() -> i64 {
    0
}
