//! What can be probed, and how it is written on a command line.

use std::{fmt, net::IpAddr, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// With the grace of the run after a change this keeps a host that answers nobody below three seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// Any default gateway of the family answers; without a family, of each family.
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
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Probe {
    #[serde(flatten)]
    pub spec: ProbeSpec,
    /// Bounds one attempt.
    #[serde(default = "default_timeout", with = "duration_text")]
    pub timeout: Duration,
}

fn default_timeout() -> Duration {
    DEFAULT_TIMEOUT
}

/// What is probed when nobody says what: the gateway of each family that has one, and name resolution.
pub fn default_probes() -> Vec<Probe> {
    vec![ProbeSpec::Gateway { family: None }.into(), ProbeSpec::Dns { name: None, servers: None }.into()]
}

impl From<ProbeSpec> for Probe {
    fn from(spec: ProbeSpec) -> Self {
        Probe { spec, timeout: DEFAULT_TIMEOUT }
    }
}

impl Probe {
    /// One probe per thing that passes or fails by itself: a gateway probe without family is two.
    pub(super) fn expand(&self) -> Vec<Probe> {
        let of = |family| Probe { spec: ProbeSpec::Gateway { family: Some(family) }, timeout: self.timeout };
        match self.spec {
            ProbeSpec::Gateway { family: None } => vec![of(Family::V4), of(Family::V6)],
            _ => vec![self.clone()],
        }
    }
}

const FORMS: &str = "gateway, gateway:v4, gateway:v6, dns, dns:NAME, tcp:HOST:PORT, http://…, https://…, ping:ADDRESS; \
                     options follow after commas: timeout=5s, server=ADDRESS (dns), insecure (https)";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a probe: {why}. The forms are: {FORMS}")]
pub struct ParseError {
    text: String,
    why: String,
}

impl FromStr for Probe {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text).map_err(|why| ParseError { text: text.to_owned(), why })
    }
}

impl FromStr for ProbeSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.parse().map(|probe: Probe| probe.spec)
    }
}

fn parse(text: &str) -> Result<Probe, String> {
    let (subject, options) = take_options(text);
    let mut probe = Probe::from(parse_spec(subject)?);
    options.into_iter().try_for_each(|option| set_option(&mut probe, option))?;
    Ok(probe)
}

/// Options are taken off the end as long as they look like ones, since a URL may hold commas.
fn take_options(mut text: &str) -> (&str, Vec<&str>) {
    let mut options = vec![];
    while let Some((rest, option)) = text.rsplit_once(',') {
        let name = option.split('=').next().unwrap_or_default();
        if text.contains("://") && !["timeout", "insecure", "server"].contains(&name) {
            break;
        }
        options.push(option);
        text = rest;
    }
    options.reverse();
    (text, options)
}

fn set_option(probe: &mut Probe, option: &str) -> Result<(), String> {
    match (option.split_once('='), &mut probe.spec) {
        (Some(("timeout", value)), _) => probe.timeout = parse_duration(value)?,
        (Some(("server", value)), ProbeSpec::Dns { servers, .. }) => {
            servers.get_or_insert_default().push(parse_address(value)?);
        }
        (None, ProbeSpec::Http { insecure, url }) if option == "insecure" && url.starts_with("https:") => {
            *insecure = true;
        }
        _ => return Err(format!("it has no option \"{option}\"")),
    }
    Ok(())
}

fn parse_spec(text: &str) -> Result<ProbeSpec, String> {
    if text.starts_with("http://") || text.starts_with("https://") {
        return parse_url(text);
    }
    match text.split_once(':').unwrap_or((text, "")) {
        ("gateway", family) => parse_family(family).map(|family| ProbeSpec::Gateway { family }),
        ("dns", name) => {
            Ok(ProbeSpec::Dns { name: (!name.is_empty()).then(|| name.to_owned()), servers: None })
        }
        ("tcp", target) => parse_target(target),
        ("ping", target) => parse_ping(target),
        (kind, _) => Err(format!("there is no kind \"{kind}\"")),
    }
}

fn parse_url(text: &str) -> Result<ProbeSpec, String> {
    let url: hyper::Uri = text.parse().map_err(|error| format!("the URL is wrong: {error}"))?;
    match url.host() {
        None | Some("") => Err("the URL names no host".to_owned()),
        Some(_) => Ok(ProbeSpec::Http { url: text.to_owned(), insecure: false }),
    }
}

fn parse_family(text: &str) -> Result<Option<Family>, String> {
    match text {
        "" => Ok(None),
        "v4" => Ok(Some(Family::V4)),
        "v6" => Ok(Some(Family::V6)),
        other => Err(format!("\"{other}\" is neither v4 nor v6")),
    }
}

fn parse_target(text: &str) -> Result<ProbeSpec, String> {
    let (host, port) = text.rsplit_once(':').ok_or("a port is missing")?;
    let port = port.parse().map_err(|_| format!("\"{port}\" is not a port"))?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match bare.unwrap_or(host) {
        "" => Err("a host is missing".to_owned()),
        host if bare.is_none() && host.contains(':') => {
            Err("an IPv6 address goes into brackets: tcp:[fd00::1]:22".to_owned())
        }
        host => Ok(ProbeSpec::Tcp { host: host.to_owned(), port }),
    }
}

fn parse_ping(text: &str) -> Result<ProbeSpec, String> {
    let (address, interface) = match text.split_once('%') {
        Some((address, interface)) => (address, Some(interface.to_owned())),
        None => (text, None),
    };
    Ok(ProbeSpec::Ping { addr: parse_address(address)?, interface })
}

fn parse_address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not an IP address"))
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 =
        digits.parse().map_err(|_| format!("\"{text}\" is not a duration such as 500ms, 5s or 1m"))?;
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        other => return Err(format!("\"{other}\" is not a unit of time; take ms, s or m")),
    };
    match Duration::try_from_secs_f64(number * unit) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(format!("\"{text}\" is no time to wait")),
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
        super::parse_duration(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
