//! The name of a host, as its administrators and Kubernetes write it.

use std::fmt;
use std::str::FromStr;

/// The kernel's __NEW_UTS_LEN.
const LONGEST: usize = 64;
const LONGEST_LABEL: usize = 63;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHostName {
    #[error("the name of a host is empty")]
    Empty,
    #[error("'{0}' has {len} bytes; Linux allows {LONGEST}", len = .0.len())]
    TooLong(String),
    #[error("a part of '{0}' is empty or has more than {LONGEST_LABEL} bytes")]
    Label(String),
    #[error("a part of '{0}' starts or ends with '-'")]
    Dash(String),
    #[error("'{name}' contains {character:?}")]
    Character { name: String, character: char },
    #[error("every host is called '{0}' until it has a name")]
    Localhost(String),
}

impl HostName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Up to the first dot, as `hostname -s` prints it.
    pub fn short(&self) -> &str {
        short(&self.0)
    }
}

/// Up to the first dot.
pub fn short(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Whether a host that is called so has no name yet.
pub fn is_localhost(name: &str) -> bool {
    name.is_empty() || short(name).eq_ignore_ascii_case("localhost")
}

impl FromStr for HostName {
    type Err = BadHostName;

    /// Lower case only: the name of a node is, and names of files on the host are compared byte by byte.
    fn from_str(name: &str) -> Result<Self, BadHostName> {
        let is_odd = |c: &char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && !matches!(c, '-' | '.');
        let named = || name.to_owned();
        match name.chars().find(is_odd) {
            _ if name.is_empty() => return Err(BadHostName::Empty),
            Some(character) => return Err(BadHostName::Character { name: named(), character }),
            None if name.len() > LONGEST => return Err(BadHostName::TooLong(named())),
            None if is_localhost(name) => return Err(BadHostName::Localhost(named())),
            None => {}
        }
        if name.split('.').any(|label| label.is_empty() || label.len() > LONGEST_LABEL) {
            return Err(BadHostName::Label(named()));
        }
        if name.split('.').any(|label| label.starts_with('-') || label.ends_with('-')) {
            return Err(BadHostName::Dash(named()));
        }
        Ok(Self(named()))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_a_node_can_have() {
        for good in ["master-0", "worker-1.example.org", "1", "a.b"] {
            assert!(good.parse::<HostName>().is_ok(), "{good}");
        }
        let long = format!("a.{}", "b".repeat(64));
        for bad in ["", "Master-0", "a_b", "a b", "-a", "a-", "a..b", ".a", "localhost", "localhost.x", &long]
        {
            assert!(bad.parse::<HostName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_short_name_ends_at_the_first_dot() {
        assert_eq!("master-0.example.org".parse::<HostName>().unwrap().short(), "master-0");
    }
}
