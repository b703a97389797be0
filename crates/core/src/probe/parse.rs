use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use super::{Family, Probe, ProbeSpec};

/// Everything that can be written, for whoever wrote something else.
pub const FORMS: &str = "gateway, gateway:v4, gateway:v6, dns, dns:NAME, tcp:HOST:PORT, http://…, https://…, \
                         ping:ADDRESS, and in a cluster apiServer and nodeReady; options follow after commas: \
                         timeout=5s, server=ADDRESS (dns), insecure (https)";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a probe: {mistake}. The forms are: {FORMS}")]
pub struct ParseError {
    text: String,
    #[source]
    mistake: Mistake,
}

/// What is wrong with a probe, or with a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error("there is no kind \"{0}\"")]
    Kind(String),
    #[error("it has no option \"{0}\"")]
    Option(String),
    #[error("nothing follows {0} but options")]
    Excess(String),
    #[error("\"{0}\" is neither v4 nor v6")]
    Family(String),
    #[error("\"{0}\" is not an IP address")]
    Address(String),
    #[error("a host is missing")]
    NoHost,
    #[error("a port is missing")]
    NoPort,
    #[error("\"{0}\" is not a port")]
    Port(String),
    #[error("an IPv6 address goes into brackets: tcp:[fd00::1]:22")]
    Brackets,
    #[error("the URL names no host")]
    NoUrlHost,
    #[error("the URL is wrong: \"{0}\" is not a port")]
    UrlPort(String),
    #[error("the URL is wrong: {0:?} must be written with %")]
    UrlCharacter(char),
    #[error("\"{0}\" is not a duration such as 500ms, 5s or 1m")]
    Duration(String),
    #[error("\"{0}\" is not a unit of time; take ms, s or m")]
    Unit(String),
    #[error("\"{0}\" is no time to wait")]
    NoTime(String),
}

impl ParseError {
    /// Without the forms.
    pub fn brief(&self) -> String {
        format!("\"{}\" is not a probe: {}", self.text, self.mistake)
    }
}

impl FromStr for Probe {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text).map_err(|mistake| ParseError { text: text.to_owned(), mistake })
    }
}

impl FromStr for ProbeSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.parse().map(|probe: Probe| probe.spec)
    }
}

fn parse(text: &str) -> Result<Probe, Mistake> {
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

fn set_option(probe: &mut Probe, option: &str) -> Result<(), Mistake> {
    match (option.split_once('='), &mut probe.spec) {
        (Some(("timeout", value)), _) => probe.timeout = duration(value)?,
        (Some(("server", value)), ProbeSpec::Dns { servers, .. }) => {
            servers.get_or_insert_default().push(parse_address(value)?);
        }
        (None, ProbeSpec::Http { insecure, url }) if option == "insecure" && url.starts_with("https:") => {
            *insecure = true;
        }
        _ => return Err(Mistake::Option(option.into())),
    }
    Ok(())
}

fn parse_spec(text: &str) -> Result<ProbeSpec, Mistake> {
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
        ("apiServer", "") => Ok(ProbeSpec::ApiServer),
        ("nodeReady", "") => Ok(ProbeSpec::NodeReady),
        (kind @ ("apiServer" | "nodeReady"), _) => Err(Mistake::Excess(kind.into())),
        (kind, _) => Err(Mistake::Kind(kind.into())),
    }
}

fn parse_url(text: &str) -> Result<ProbeSpec, Mistake> {
    if let Some(odd) = text.chars().find(|c| !c.is_ascii_graphic()) {
        return Err(Mistake::UrlCharacter(odd));
    }
    let (_, rest) = text.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return Err(Mistake::NoUrlHost);
    }
    match port {
        Some(port) if port.parse::<u16>().is_err() => Err(Mistake::UrlPort(port.into())),
        _ => Ok(ProbeSpec::Http { url: text.to_owned(), insecure: false }),
    }
}

fn parse_family(text: &str) -> Result<Option<Family>, Mistake> {
    match text {
        "" => Ok(None),
        "v4" => Ok(Some(Family::V4)),
        "v6" => Ok(Some(Family::V6)),
        other => Err(Mistake::Family(other.into())),
    }
}

fn parse_target(text: &str) -> Result<ProbeSpec, Mistake> {
    let (host, port) = text.rsplit_once(':').ok_or(Mistake::NoPort)?;
    let port = port.parse().map_err(|_| Mistake::Port(port.into()))?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match bare.unwrap_or(host) {
        "" => Err(Mistake::NoHost),
        host if bare.is_none() && host.contains(':') => Err(Mistake::Brackets),
        host => Ok(ProbeSpec::Tcp { host: host.to_owned(), port }),
    }
}

fn parse_ping(text: &str) -> Result<ProbeSpec, Mistake> {
    let (address, interface) = match text.split_once('%') {
        Some((address, interface)) => (address, Some(interface.to_owned())),
        None => (text, None),
    };
    Ok(ProbeSpec::Ping { addr: parse_address(address)?, interface })
}

fn parse_address(text: &str) -> Result<IpAddr, Mistake> {
    text.parse().map_err(|_| Mistake::Address(text.into()))
}

/// `500ms`, `5s`, `1m`; a bare number is one of seconds.
pub fn duration(text: &str) -> Result<Duration, Mistake> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().map_err(|_| Mistake::Duration(text.into()))?;
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        other => return Err(Mistake::Unit(other.into())),
    };
    match Duration::try_from_secs_f64(number * unit) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(Mistake::NoTime(text.into())),
    }
}
