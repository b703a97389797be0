//! Versions of Open vSwitch. Keys come with minor versions.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl Version {
    /// Of the column `ovs_version`, such as 3.5.0 or 4.0.90.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.');
        let mut next = || numbers.next()?.parse().ok();
        Some(Self { major: next()?, minor: next()? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
