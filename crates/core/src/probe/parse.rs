use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use super::{Family, Probe, ProbeSpec};

/// Everything that can be written, for whoever wrote something else.
pub const FORMS: &str = "gateway, gateway:v4, gateway:v6, dns, dns:NAME, tcp:HOST:PORT, http://…, https://…, \
                         ping:ADDRESS, and in a cluster apiServer and nodeReady; options follow after commas: \
                         timeout=5s, server=ADDRESS (dns), insecure (https)";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a probe: {why}. The forms are: {FORMS}")]
pub struct ParseError {
    text: String,
    why: String,
}

impl ParseError {
    /// Without the forms.
    pub fn brief(&self) -> String {
        format!("\"{}\" is not a probe: {}", self.text, self.why)
    }
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
        (Some(("timeout", value)), _) => probe.timeout = duration(value)?,
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
        ("apiServer", "") => Ok(ProbeSpec::ApiServer),
        ("nodeReady", "") => Ok(ProbeSpec::NodeReady),
        (kind @ ("apiServer" | "nodeReady"), _) => Err(format!("nothing follows {kind} but options")),
        (kind, _) => Err(format!("there is no kind \"{kind}\"")),
    }
}

fn parse_url(text: &str) -> Result<ProbeSpec, String> {
    if let Some(odd) = text.chars().find(|c| !c.is_ascii_graphic()) {
        return Err(format!("the URL is wrong: {odd:?} must be written with %"));
    }
    let (_, rest) = text.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return Err("the URL names no host".to_owned());
    }
    match port.map(str::parse::<u16>) {
        Some(Err(_)) => Err(format!("the URL is wrong: \"{}\" is not a port", port.unwrap_or_default())),
        _ => Ok(ProbeSpec::Http { url: text.to_owned(), insecure: false }),
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

/// `500ms`, `5s`, `1m`; a bare number is one of seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
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
