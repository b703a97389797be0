//! The units of Open vSwitch: observed, decided upon, and kept running.

pub mod observed;
