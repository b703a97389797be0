//! MAC addresses: read once, compared as bytes, written as NMState writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const ETHERNET_BYTES: usize = 6;
const INFINIBAND_BYTES: usize = 20;
/// The kernel's MAX_ADDR_LEN.
const LONGEST: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MacAddress(Vec<u8>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a MAC address: write six bytes, like 52:54:00:12:34:56")]
pub struct NoMacAddress;

impl MacAddress {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn is_ethernet(&self) -> bool {
        self.0.len() == ETHERNET_BYTES
    }

    pub fn is_infiniband(&self) -> bool {
        self.0.len() == INFINIBAND_BYTES
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|byte| *byte == 0)
    }

    /// The lowest bit of the first byte marks a group; the kernel refuses that for an interface.
    pub fn is_group(&self) -> bool {
        self.is_ethernet() && self.0[0] & 1 == 1
    }
}

impl FromStr for MacAddress {
    type Err = NoMacAddress;

    fn from_str(text: &str) -> Result<Self, NoMacAddress> {
        let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
        let bytes = bytes.filter(|bytes| (ETHERNET_BYTES..=LONGEST).contains(&bytes.len()));
        bytes.map(Self).ok_or(NoMacAddress)
    }
}

fn byte(text: &str) -> Option<u8> {
    let is_pair = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_pair.then(|| u8::from_str_radix(text, 16).ok())?
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02X}", if index == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl TryFrom<String> for MacAddress {
    type Error = NoMacAddress;

    fn try_from(text: String) -> Result<Self, NoMacAddress> {
        text.parse()
    }
}

impl From<MacAddress> for String {
    fn from(address: MacAddress) -> Self {
        address.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_in_any_case_and_written_in_one() {
        let address: MacAddress = "52:54:00:aB:CD:ef".parse().unwrap();
        assert_eq!(address.to_string(), "52:54:00:AB:CD:EF");
        assert!(address.is_ethernet() && !address.is_group() && !address.is_zero());
        for bad in [
            "",
            "52:54",
            "5254:00:ab:cd:ef:01",
            "52-54-00-ab-cd-ef",
            "+1:54:00:ab:cd:ef",
            "gg:54:00:ab:cd:ef",
        ] {
            assert_eq!(bad.parse::<MacAddress>(), Err(NoMacAddress), "{bad}");
        }
    }
}
