//! What can be probed, and how it is written in a policy and on a command line.

mod parse;
mod protection;
mod required;
mod result;

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use parse::{FORMS, ParseError, timeout};
pub use protection::not_protected;
pub use required::{RequiredProbes, required};
pub use result::{ProbeResult, ProbeStatus, Short};

/// With the grace of the run after a change this keeps a host that answers nobody below three seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);
/// A probe is waited for before the change, too: what takes longer would only delay it.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How long probes may take to pass after a change, unless somebody says otherwise.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(20);
/// As long as a host may be cut off by a change whose author allows it.
pub const LONGEST_PATIENCE: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    V4,
    V6,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ProbeSpec {
    /// Any default gateway of the family answers; without a family, of one of those that answered before.
    Gateway {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        family: Option<Family>,
    },
    /// Any of the servers answers; by default those of /etc/resolv.conf.
    Dns {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        servers: Option<Vec<IpAddr>>,
    },
    Tcp {
        host: String,
        port: u16,
    },
    /// Any answer below 500.
    Http {
        url: String,
        /// Takes any certificate.
        #[serde(default)]
        insecure: bool,
    },
    Ping {
        addr: IpAddr,
        /// Needed for a link-local address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<String>,
    },
    /// The API server of the cluster answers.
    #[serde(rename = "apiServer")]
    ApiServer,
    /// The cluster counts this node as ready.
    #[serde(rename = "nodeReady")]
    NodeReady,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Probe {
    #[serde(flatten)]
    pub spec: ProbeSpec,
    /// Bounds one attempt.
    #[serde(default = "default_timeout", with = "duration_text")]
    pub timeout: Duration,
    /// One of the families that `gateway` stands for: it is enough if another one that passed before still passes.
    #[serde(skip)]
    pub alternative: bool,
    /// Addresses of others on this host, such as a virtual IP: that they are answered says nothing about the host's own.
    #[serde(skip)]
    pub not_from: Vec<IpAddr>,
}

fn default_timeout() -> Duration {
    DEFAULT_TIMEOUT
}

/// What is probed when nobody says what: a default gateway, of either family, and name resolution; in a cluster also
/// what only the cluster knows.
pub fn default_probes(in_cluster: bool) -> Vec<Probe> {
    let of_the_host = [ProbeSpec::Gateway { family: None }, ProbeSpec::Dns { name: None, servers: None }];
    let of_the_cluster = [ProbeSpec::ApiServer, ProbeSpec::NodeReady].into_iter().filter(|_| in_cluster);
    of_the_host.into_iter().chain(of_the_cluster).map(Probe::from).collect()
}

impl From<ProbeSpec> for Probe {
    fn from(spec: ProbeSpec) -> Self {
        Probe { spec, timeout: DEFAULT_TIMEOUT, alternative: false, not_from: Vec::new() }
    }
}

impl Probe {
    /// One probe per thing that passes or fails by itself: a gateway probe without family is two.
    pub fn expand(&self) -> Vec<Probe> {
        let of = |family| {
            let spec = ProbeSpec::Gateway { family: Some(family) };
            Probe { spec, alternative: true, ..self.clone() }
        };
        match self.spec {
            ProbeSpec::Gateway { family: None } => vec![of(Family::V4), of(Family::V6)],
            _ => vec![self.clone()],
        }
    }

    /// As it must pass where nothing may be lost: after a rollback, say.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.alternative = false;
        self
    }

    /// Only a program that talks to a cluster can ask.
    pub fn needs_cluster(&self) -> bool {
        matches!(self.spec, ProbeSpec::ApiServer | ProbeSpec::NodeReady)
    }

    /// A question to DNS that names nobody becomes one for `name`.
    #[must_use]
    pub fn asking(mut self, name: Option<&str>) -> Self {
        if let ProbeSpec::Dns { name: asked @ None, .. } = &mut self.spec {
            *asked = name.map(str::to_owned);
        }
        self
    }
}

impl fmt::Display for ProbeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeSpec::Gateway { family: None } => f.write_str("gateway"),
            ProbeSpec::Gateway { family: Some(Family::V4) } => f.write_str("gateway:v4"),
            ProbeSpec::Gateway { family: Some(Family::V6) } => f.write_str("gateway:v6"),
            ProbeSpec::Dns { name, servers } => {
                f.write_str("dns")?;
                name.iter().try_for_each(|name| write!(f, ":{name}"))?;
                servers.iter().flatten().try_for_each(|server| write!(f, ",server={server}"))
            }
            ProbeSpec::Tcp { host, port } if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            ProbeSpec::Tcp { host, port } => write!(f, "tcp:{host}:{port}"),
            ProbeSpec::Http { url, insecure } => {
                write!(f, "{url}{}", if *insecure { ",insecure" } else { "" })
            }
            ProbeSpec::ApiServer => f.write_str("apiServer"),
            ProbeSpec::NodeReady => f.write_str("nodeReady"),
            ProbeSpec::Ping { addr, interface: None } => write!(f, "ping:{addr}"),
            ProbeSpec::Ping { addr, interface: Some(interface) } => write!(f, "ping:{addr}%{interface}"),
        }
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.spec)?;
        if self.timeout == DEFAULT_TIMEOUT {
            return Ok(());
        }
        write!(f, ",timeout={}", duration_text::write(self.timeout))
    }
}

mod duration_text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn write(duration: Duration) -> String {
        match duration.as_millis() {
            millis if millis % 1000 == 0 => format!("{}s", millis / 1000),
            millis => format!("{millis}ms"),
        }
    }

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&write(*duration))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        super::parse::duration(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
