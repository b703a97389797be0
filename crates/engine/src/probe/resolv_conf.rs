//! /etc/resolv.conf as far as a probe needs it. Pure, but for the reading.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use nix::net::if_::if_nametoindex;

const PATH: &str = "/etc/resolv.conf";
const PORT: u16 = 53;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResolvConf {
    pub servers: Vec<Server>,
    pub search: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub ip: IpAddr,
    /// Of a link-local address, by name or number.
    pub scope: Option<String>,
}

impl ResolvConf {
    /// A host without the file has no servers.
    pub fn read() -> Self {
        std::fs::read_to_string(PATH).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    pub fn parse(text: &str) -> Self {
        let mut conf = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => conf.servers.extend(words.next().and_then(Server::parse)),
                Some("search") => conf.search = words.map(str::to_owned).collect(),
                Some("domain") => conf.search = words.take(1).map(str::to_owned).collect(),
                _ => {}
            }
        }
        conf
    }

    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.servers.iter().map(Server::address).collect()
    }
}

impl Server {
    fn parse(text: &str) -> Option<Self> {
        let (ip, scope) = text.split_once('%').map_or((text, None), |(ip, scope)| (ip, Some(scope)));
        Some(Self { ip: ip.parse().ok()?, scope: scope.map(str::to_owned) })
    }

    fn address(&self) -> SocketAddr {
        match (self.ip, &self.scope) {
            (IpAddr::V6(ip), Some(scope)) => SocketAddrV6::new(ip, PORT, 0, scope_id(scope)).into(),
            (ip, _) => SocketAddr::new(ip, PORT),
        }
    }
}

pub(super) fn scope_id(scope: &str) -> u32 {
    scope.parse().ok().or_else(|| if_nametoindex(scope).ok()).unwrap_or(0)
}

pub(super) fn server_address(ip: IpAddr) -> SocketAddr {
    SocketAddr::new(ip, PORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_the_last_search_list_count() {
        let text = "# made by hand\nsearch old.test\nnameserver 10.0.0.53\nnameserver fe80::1%3 \n\
                    ; nameserver 10.9.9.9\noptions timeout:1\nnameserver nonsense\nsearch lab.test example.org\n";
        let conf = ResolvConf::parse(text);
        assert_eq!(conf.search, ["lab.test", "example.org"]);
        let addresses: Vec<String> = conf.addresses().iter().map(SocketAddr::to_string).collect();
        assert_eq!(addresses, ["10.0.0.53:53", "[fe80::1%3]:53"]);
    }

    #[test]
    fn an_empty_file_has_no_servers() {
        assert_eq!(ResolvConf::parse(""), ResolvConf::default());
    }
}
