//! The keeper of Open vSwitch, on nodes with Debian's own units.

mod bed;
mod logs;
mod refused;
mod units;
