//! Keeps Open vSwitch on a host: its units, settings, logs and status.

pub mod settings;
pub mod units;
