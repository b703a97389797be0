//! Addresses and prefixes as they are written.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address with a prefix length, host bits kept as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Network {
    pub address: IpAddr,
    pub prefix: u8,
}

pub(super) fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

pub(super) fn family(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "IPv4" } else { "IPv6" }
}

impl Network {
    /// `10.0.0.0/8`, or an address alone, which stands for itself.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address.parse().ok()?, Some(prefix)),
            None => (text.parse().ok()?, None),
        };
        let prefix = prefix.map_or(Some(width(address)), |prefix| prefix.parse().ok())?;
        (prefix <= width(address)).then_some(Self { address, prefix })
    }

    /// Without the bits that the prefix does not cover.
    pub fn trimmed(self) -> Self {
        let keep = |bits: u32| u32::from(self.prefix).min(bits);
        let address = match self.address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(32 - keep(32)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from(u32::from(v4) & mask))
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - keep(128)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from(u128::from(v6) & mask))
            }
        };
        Self { address, ..self }
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_trims() {
        let trimmed = |text: &str| Network::parse(text).map(|network| network.trimmed().to_string());
        assert_eq!(trimmed("10.1.2.3/8").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(trimmed("10.1.2.3/0").as_deref(), Some("0.0.0.0/0"));
        assert_eq!(trimmed("10.1.2.3").as_deref(), Some("10.1.2.3/32"));
        assert_eq!(trimmed("2001:db8::1/64").as_deref(), Some("2001:db8::/64"));
        assert_eq!(trimmed("::/0").as_deref(), Some("::/0"));
        for bad in
            ["", "default", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "10.0.0.0/8/8", "10.0.0.0/-1"]
        {
            assert_eq!(trimmed(bad), None, "{bad}");
        }
    }
}
