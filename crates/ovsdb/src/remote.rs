//! Where a server listens, in Open vSwitch's notation.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The port that is meant where none is written.
pub const DEFAULT_PORT: u16 = 6640;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Remote {
    Unix(PathBuf),
    Tcp(Host, u16),
    Ssl(Host, u16),
}

/// A name or an address; IPv6 without brackets.
pub type Host = String;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a remote: {what}; write unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT, IPv6 addresses in brackets"
)]
pub struct BadRemote {
    text: String,
    what: &'static str,
}

impl Remote {
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Remote::Unix(path.into())
    }

    /// Several, with commas between them.
    pub fn list(text: &str) -> Result<Vec<Remote>, BadRemote> {
        text.split(',').map(|remote| remote.trim().parse()).collect()
    }
}

impl FromStr for Remote {
    type Err = BadRemote;

    fn from_str(text: &str) -> Result<Self, BadRemote> {
        let bad = |what| BadRemote { text: text.to_owned(), what };
        let (kind, rest) = text.split_once(':').ok_or_else(|| bad("it has no kind"))?;
        match kind {
            "unix" if rest.is_empty() => Err(bad("the path is empty")),
            "unix" => Ok(Remote::Unix(rest.into())),
            "tcp" => address(rest).map(|(host, port)| Remote::Tcp(host, port)).map_err(bad),
            "ssl" => address(rest).map(|(host, port)| Remote::Ssl(host, port)).map_err(bad),
            _ => Err(bad("the kind is unknown")),
        }
    }
}

fn address(text: &str) -> Result<(Host, u16), &'static str> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or("a bracket is not closed")?;
            match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if port.is_empty() => (host, None),
                None => return Err("something follows the address that is no port"),
            }
        }
        None => match text.split_once(':') {
            Some((_, port)) if port.contains(':') => return Err("an IPv6 address needs brackets"),
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() {
        return Err("the host is empty");
    }
    let port = port.map_or(Ok(DEFAULT_PORT), str::parse).map_err(|_| "the port is no number up to 65535")?;
    Ok((host.to_owned(), port))
}

impl fmt::Display for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, host, port) = match self {
            Remote::Unix(path) => return write!(formatter, "unix:{}", path.display()),
            Remote::Tcp(host, port) => ("tcp", host, port),
            Remote::Ssl(host, port) => ("ssl", host, port),
        };
        if host.contains(':') {
            write!(formatter, "{kind}:[{host}]:{port}")
        } else {
            write!(formatter, "{kind}:{host}:{port}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_read_what_they_write() {
        for text in ["unix:/run/db.sock", "tcp:10.0.0.1:6640", "ssl:db-0.db.svc:6641", "tcp:[fd00::1]:1"] {
            assert_eq!(text.parse::<Remote>().unwrap().to_string(), text);
        }
        assert_eq!("ssl:h".parse(), Ok(Remote::Ssl("h".to_owned(), DEFAULT_PORT)));
        assert_eq!("ssl:[::1]".parse(), Ok(Remote::Ssl("::1".to_owned(), DEFAULT_PORT)));
        assert_eq!(Remote::list("tcp:a:1, unix:/b").unwrap().len(), 2);
    }

    #[test]
    fn what_is_none_is_refused_with_the_reason() {
        for text in [
            "",
            "unix:",
            "tcp:",
            "tcp::1",
            "udp:h:1",
            "tcp:fd00::1:6640",
            "tcp:[fd00::1",
            "ssl:h:70000",
            "tcp:[::1]x",
        ] {
            let error = text.parse::<Remote>().unwrap_err().to_string();
            assert!(error.contains("write unix:PATH"), "{error}");
        }
    }
}
