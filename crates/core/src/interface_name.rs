//! The name of an interface: of a device of the kernel, or of a port that only Open vSwitch knows.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// The kernel's IFNAMSIZ is 16, with the zero at the end.
pub const KERNEL_BYTES: usize = 15;

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InterfaceName(String);

/// Why a text cannot be a name, on any kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("the name of an interface is empty")]
    Empty,
    #[error("'{0}' cannot be the name of an interface")]
    Dots(String),
    #[error("the interface name '{name}' contains {character:?}")]
    Character { name: String, character: char },
    #[error("the interface name '{name}' has {} bytes; Linux allows {KERNEL_BYTES}", name.len())]
    TooLong { name: String },
}

impl InterfaceName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As the kernel reads it.
    pub fn check(name: &str) -> Result<(), BadName> {
        let is_bad = |c: &char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ':' | '%');
        match name.chars().find(is_bad) {
            _ if name.is_empty() => Err(BadName::Empty),
            _ if name == "." || name == ".." => Err(BadName::Dots(name.into())),
            Some(character) => Err(BadName::Character { name: name.into(), character }),
            None if name.len() > KERNEL_BYTES => Err(BadName::TooLong { name: name.into() }),
            None => Ok(()),
        }
    }
}

impl From<&str> for InterfaceName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<String> for InterfaceName {
    fn from(name: String) -> Self {
        Self(name)
    }
}

/// Sets of names are asked with a text.
impl Borrow<str> for InterfaceName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Deref for InterfaceName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for InterfaceName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl fmt::Display for InterfaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_the_kernel_takes() {
        for good in ["eth0", "br-ex", "eth0.100", "ü", "a23456789012345"] {
            assert_eq!(InterfaceName::check(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", "a b", "a/b", "a:1", "a%b", "tab\t", "a234567890123456", "üüüüüüüü"]
        {
            assert!(InterfaceName::check(bad).is_err(), "{bad}");
        }
    }
}
