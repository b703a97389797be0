//! The name of a row.

use std::fmt;
use std::str::FromStr;

/// A row's `_uuid`, or a reference to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid([u8; 16]);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a UUID; write it as 01234567-89ab-cdef-0123-456789abcdef")]
pub struct NotUuid(String);

/// Where the hyphens are in the text.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const LENGTH: usize = 36;

impl Uuid {
    /// All zero: ovsdb-server's "none", for instance of a transaction.
    pub const ZERO: Uuid = Uuid([0; 16]);

    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Uuid(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    fn parse(text: &str) -> Option<Self> {
        if text.len() != LENGTH {
            return None;
        }
        let mut bytes = [0; 16];
        let mut digits = 0;
        for (at, character) in text.bytes().enumerate() {
            if HYPHENS.contains(&at) {
                if character != b'-' {
                    return None;
                }
                continue;
            }
            let digit = u8::try_from(char::from(character).to_digit(16)?).ok()?;
            let byte = bytes.get_mut(digits / 2)?;
            *byte = (*byte << 4) | digit;
            digits += 1;
        }
        Some(Uuid(bytes))
    }
}

impl FromStr for Uuid {
    type Err = NotUuid;

    fn from_str(text: &str) -> Result<Self, NotUuid> {
        Self::parse(text).ok_or_else(|| NotUuid(text.chars().take(64).collect()))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if [4, 6, 8, 10].contains(&at) {
                formatter.write_str("-")?;
            }
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_reads_what_it_writes() {
        let text = "01234567-89ab-cdef-0123-456789abcdef";
        assert_eq!(text.parse::<Uuid>().unwrap().to_string(), text);
        assert_eq!("01234567-89AB-CDEF-0123-456789ABCDEF".parse::<Uuid>().unwrap().to_string(), text);
        assert!(Uuid::ZERO.is_zero() && Uuid::ZERO.to_string().starts_with("00000000-0000"));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "row", "01234567-89ab-cdef-0123-456789abcde", "01234567x89ab-cdef-0123-456789abcdef"]
        {
            assert!(text.parse::<Uuid>().is_err(), "{text}");
        }
        assert!("ä1234567-89ab-cdef-0123-456789abcde".parse::<Uuid>().is_err());
    }
}
