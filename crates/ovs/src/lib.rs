//! Keeps Open vSwitch on a host: its units, settings, logs and status.

pub mod metrics;
pub mod settings;
pub mod status;
pub mod units;
