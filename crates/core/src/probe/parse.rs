use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::time::Duration;

use super::{Family, LONGEST_TIMEOUT, Probe, ProbeSpec};
use crate::interface_name::{BadName, InterfaceName};

/// Everything that can be written, for whoever wrote something else.
pub const FORMS: &str = "gateway, gateway:v4, gateway:v6, dns, dns:NAME, tcp:HOST:PORT, http://…, https://…, \
                         ping:ADDRESS, and in a cluster apiServer and nodeReady; options follow after commas: \
                         timeout=5s (at most 60s), server=ADDRESS (dns), insecure (https)";

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
    #[error("\"{0}\" is not a port: it must be 1 to 65535")]
    Port(String),
    #[error("a name is missing after the colon")]
    NoName,
    #[error("\"{0}\" is not a name in DNS")]
    Name(String),
    #[error("{0}")]
    Interface(BadName),
    #[error("a link-local address needs its interface: {0}%eth0")]
    Scope(IpAddr),
    #[error("the option {0} is given twice")]
    Twice(&'static str),
    #[error("an IPv6 address goes into brackets: tcp:[fd00::1]:22")]
    Brackets,
    #[error("the URL names no host")]
    NoUrlHost,
    #[error("the URL is wrong: {0}")]
    Url(Box<Mistake>),
    #[error("the URL is wrong: {0:?} must be written with %")]
    UrlCharacter(char),
    #[error("\"{0}\" is not a duration such as 500ms, 5s or 1m")]
    Duration(String),
    #[error("\"{0}\" is not a unit of time; take ms, s or m")]
    Unit(String),
    #[error("\"{0}\" is no time to wait")]
    NoTime(String),
    #[error("the timeout \"{0}\" is too long; the longest is {longest}s", longest = LONGEST_TIMEOUT.as_secs())]
    TooLong(String),
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
    if options.iter().filter(|option| option.starts_with("timeout=")).count() > 1 {
        return Err(Mistake::Twice("timeout"));
    }
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
        (Some(("timeout", value)), _) => probe.timeout = timeout(value)?,
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
    let (kind, subject) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
    match (kind, subject) {
        ("gateway", family) => {
            family.map(parse_family).transpose().map(|family| ProbeSpec::Gateway { family })
        }
        ("dns", name) => {
            let name = name.map(parse_name).transpose()?;
            Ok(ProbeSpec::Dns { name, servers: None })
        }
        ("tcp", target) => parse_target(target.unwrap_or_default()),
        ("ping", target) => parse_ping(target.unwrap_or_default()),
        ("apiServer", None) => Ok(ProbeSpec::ApiServer),
        ("nodeReady", None) => Ok(ProbeSpec::NodeReady),
        ("apiServer" | "nodeReady", Some(_)) => Err(Mistake::Excess(kind.into())),
        _ => Err(Mistake::Kind(kind.into())),
    }
}

fn parse_url(text: &str) -> Result<ProbeSpec, Mistake> {
    if let Some(odd) = text.chars().find(|c| !c.is_ascii_graphic()) {
        return Err(Mistake::UrlCharacter(odd));
    }
    let (_, rest) = text.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return Err(Mistake::NoUrlHost);
    }
    let checked = parse_host(host).and_then(|_| port.map(parse_port).transpose());
    checked.map_err(|mistake| Mistake::Url(Box::new(mistake)))?;
    Ok(ProbeSpec::Http { url: text.to_owned(), insecure: false })
}

fn parse_family(text: &str) -> Result<Family, Mistake> {
    match text {
        "v4" => Ok(Family::V4),
        "v6" => Ok(Family::V6),
        other => Err(Mistake::Family(other.into())),
    }
}

fn parse_target(text: &str) -> Result<ProbeSpec, Mistake> {
    let (host, port) = text.rsplit_once(':').ok_or(Mistake::NoPort)?;
    let port = parse_port(port)?;
    Ok(ProbeSpec::Tcp { host: parse_host(host)?, port })
}

fn parse_port(text: &str) -> Result<u16, Mistake> {
    match text.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(Mistake::Port(text.into())),
    }
}

/// A name, an IPv4 address, or an IPv6 address in brackets; without the brackets.
fn parse_host(text: &str) -> Result<String, Mistake> {
    if let Some(bare) = text.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        let (address, interface) = scoped(bare)?;
        return match address {
            IpAddr::V6(ip) if ip.is_unicast_link_local() && interface.is_none() => {
                Err(Mistake::Scope(address))
            }
            IpAddr::V6(_) => Ok(bare.to_owned()),
            IpAddr::V4(_) => Err(Mistake::Address(text.into())),
        };
    }
    match text {
        "" => Err(Mistake::NoHost),
        host if host.contains(':') => Err(Mistake::Brackets),
        // Nothing in DNS ends in a number: this was meant to be an address.
        host if host.rsplit('.').next().is_some_and(|last| last.chars().all(|c| c.is_ascii_digit())) => {
            parse_address(host).map(|_| host.to_owned())
        }
        host => parse_name(host),
    }
}

fn parse_name(text: &str) -> Result<String, Mistake> {
    let label = |label: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        (1..=63).contains(&label.len()) && label.chars().all(known)
    };
    let name = text.strip_suffix('.').unwrap_or(text);
    match name {
        "" => Err(Mistake::NoName),
        name if name.len() <= 253 && name.split('.').all(label) => Ok(text.to_owned()),
        _ => Err(Mistake::Name(text.into())),
    }
}

fn parse_ping(text: &str) -> Result<ProbeSpec, Mistake> {
    let (addr, interface) = scoped(text)?;
    match addr {
        IpAddr::V6(ip) if Ipv6Addr::is_unicast_link_local(&ip) && interface.is_none() => {
            Err(Mistake::Scope(addr))
        }
        _ => Ok(ProbeSpec::Ping { addr, interface }),
    }
}

/// An address, and the interface behind `%`.
fn scoped(text: &str) -> Result<(IpAddr, Option<String>), Mistake> {
    let Some((address, interface)) = text.split_once('%') else { return Ok((parse_address(text)?, None)) };
    InterfaceName::check(interface).map_err(Mistake::Interface)?;
    Ok((parse_address(address)?, Some(interface.to_owned())))
}

fn parse_address(text: &str) -> Result<IpAddr, Mistake> {
    text.parse().map_err(|_| Mistake::Address(text.into()))
}

/// How long one attempt of a probe may take: a duration up to [`LONGEST_TIMEOUT`].
pub fn timeout(text: &str) -> Result<Duration, Mistake> {
    match duration(text)? {
        long if long > LONGEST_TIMEOUT => Err(Mistake::TooLong(text.into())),
        timeout => Ok(timeout),
    }
}

/// `500ms`, `5s`, `1m`; a bare number is one of seconds.
pub(super) fn duration(text: &str) -> Result<Duration, Mistake> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: f64 = match digits.parse() {
        Ok(number) if plain && !digits.starts_with('.') && !digits.ends_with('.') => number,
        _ => return Err(Mistake::Duration(text.into())),
    };
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        other => return Err(Mistake::Unit(other.into())),
    };
    match Duration::try_from_secs_f64(number * unit) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        // More seconds than a Duration holds.
        Err(_) if number > 0.0 => Err(Mistake::TooLong(text.into())),
        _ => Err(Mistake::NoTime(text.into())),
    }
}
