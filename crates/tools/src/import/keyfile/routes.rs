//! Static routes and routing rules of a profile.

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::Value;

use super::ip::numbered;
use crate::import::draft::{Section, destination, put};
use crate::import::fields::{At, Content, Field, Fields, Place};
use crate::import::report::Log;

/// What routes of a profile take over from it.
pub(super) struct Defaults {
    pub interface: String,
    pub ipv6: bool,
    pub metric: Option<i64>,
    pub table: Option<u32>,
}

pub(super) fn gateway(gateway: &At<String>, defaults: &Defaults, log: &mut Log<'_>) -> Option<Value> {
    let everywhere = if defaults.ipv6 { "::/0" } else { "0.0.0.0/0" };
    match gateway.value.parse::<IpAddr>() {
        // NetworkManager writes the unspecified address for "none".
        Ok(ip) if ip.is_unspecified() => None,
        Ok(ip) if ip.is_ipv6() == defaults.ipv6 => {
            let mut route = Section::from_iter([("destination".to_owned(), Value::from(everywhere))]);
            route.insert("next-hop-address".into(), ip.to_string().into());
            finish(route, None, defaults)
        }
        _ => {
            log.fault(
                gateway.place,
                format!("'{}' is not a gateway of this family", gateway.value),
                "write an IP address",
            );
            None
        }
    }
}

fn finish(mut route: Section, metric: Option<i64>, defaults: &Defaults) -> Option<Value> {
    route.insert("next-hop-interface".into(), defaults.interface.clone().into());
    put(&mut route, "metric", metric.or(defaults.metric));
    if !route.contains_key("table-id") {
        put(&mut route, "table-id", defaults.table);
    }
    // These lead nowhere, so no interface does either.
    if route.contains_key("route-type") {
        route.remove("next-hop-interface");
    }
    Some(Value::Object(route))
}

/// `route1=198.51.100.0/24,192.0.2.1,100` with `route1_options=table=200`.
pub(super) fn routes(section: &mut Fields, defaults: &Defaults, log: &mut Log<'_>) -> Vec<Value> {
    let fields = section.take_all(|key| key.ends_with("_options"));
    let mut options: HashMap<String, Field> =
        fields.into_iter().map(|field| (field.key.clone(), field)).collect();
    let mut found = Vec::new();
    for field in section.take_all(|key| numbered(key, &["route", "routes"])) {
        let options = options.remove(&format!("{}_options", field.key));
        let Content::Text(text) = &field.content else { continue };
        let Some((mut route, metric)) = route(text, field.place, defaults, log) else { continue };
        if let Some(Field { key, place, content: Content::Text(value) }) = options {
            route_options(&At { value, place }, &section.named(&key), &mut route, log);
        }
        found.extend(finish(route, metric, defaults));
    }
    section.entries.extend(options.into_values());
    found
}

fn route(text: &str, place: Place, defaults: &Defaults, log: &mut Log<'_>) -> Option<(Section, Option<i64>)> {
    let separator = if text.contains(',') { ',' } else { ';' };
    let parts: Vec<&str> = text.split(separator).map(str::trim).collect();
    let to = parts.first().and_then(|to| destination(to)).filter(|to| to.addr().is_ipv6() == defaults.ipv6);
    let hop = parts.get(1).filter(|hop| !hop.is_empty()).map(|hop| hop.parse::<IpAddr>());
    let metric = parts.get(2).filter(|metric| !metric.is_empty()).map(|metric| metric.parse::<i64>());
    let (Some(to), Ok(hop), Ok(metric)) = (to, hop.transpose(), metric.transpose()) else {
        log.fault(
            place,
            format!("'{text}' is not a route of this family"),
            "write NETWORK/PREFIX,NEXT-HOP,METRIC",
        );
        return None;
    };
    let mut route = Section::from_iter([("destination".to_owned(), Value::from(to.to_string()))]);
    put(&mut route, "next-hop-address", hop.filter(|hop| !hop.is_unspecified()).map(|hop| hop.to_string()));
    Some((route, metric))
}

/// Options that a state document has a word for.
const NUMBERS: &[(&str, &str)] = &[
    ("table", "table-id"),
    ("weight", "weight"),
    ("cwnd", "cwnd"),
    ("initcwnd", "initcwnd"),
    ("initrwnd", "initrwnd"),
    ("mtu", "mtu"),
    ("advmss", "advmss"),
];

fn route_options(options: &At<String>, named: &str, route: &mut Section, log: &mut Log<'_>) {
    for option in options.value.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let number = NUMBERS.iter().find(|(theirs, _)| *theirs == key);
        match (number, key, value) {
            (Some((_, ours)), ..) => match value.parse::<u32>() {
                Ok(number) => drop(route.insert((*ours).to_owned(), number.into())),
                Err(_) => {
                    log.fault(options.place, format!("'{option}' needs a number"), "write e.g. table=200")
                }
            },
            (_, "src", ip) => drop(route.insert("source".into(), ip.into())),
            (_, "quickack", flag) => drop(route.insert("quickack".into(), (flag == "true").into())),
            (_, "lock-mtu", flag) => drop(route.insert("lock-mtu".into(), (flag == "true").into())),
            (_, "type", kind @ ("blackhole" | "unreachable" | "prohibit")) => {
                route.insert("route-type".into(), kind.into());
            }
            (_, "type", "unicast") | (_, "lock-cwnd", _) => {}
            _ => log.note(options.place, named, format!("the option '{option}' is not supported by NMState")),
        }
    }
}

/// `routing-rule1=priority 5 from 192.0.2.0/24 table 100`
pub(super) fn rules(section: &mut Fields, defaults: &Defaults, log: &mut Log<'_>) -> Vec<Value> {
    let fields = section.take_all(|key| numbered(key, &["routing-rule"]));
    let named = |key: &str| section.named(key);
    fields
        .into_iter()
        .filter_map(|field| {
            let Content::Text(text) = &field.content else { return None };
            rule(text, field.place, &named(&field.key), defaults, log)
        })
        .collect()
}

fn rule(text: &str, place: Place, named: &str, defaults: &Defaults, log: &mut Log<'_>) -> Option<Value> {
    let mut rule =
        Section::from_iter([("family".to_owned(), Value::from(if defaults.ipv6 { "ipv6" } else { "ipv4" }))]);
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        let wrong = |log: &mut Log<'_>| {
            log.fault(place, format!("'{word} {value}' in a routing rule cannot be read"), "see `ip rule`")
        };
        let number = value.parse::<u32>();
        match word {
            "from" | "to" if is_everything(value) => {}
            "from" | "to" => match destination(value) {
                Some(network) => drop(rule.insert(format!("ip-{word}"), network.to_string().into())),
                None => wrong(log),
            },
            "priority" | "table" | "lookup" | "suppress_prefixlength" => match number {
                Ok(number) => drop(rule.insert(rule_word(word).into(), number.into())),
                Err(_) => wrong(log),
            },
            "iif" => drop(rule.insert("iif".into(), value.into())),
            "type" if matches!(value, "blackhole" | "unreachable" | "prohibit") => {
                drop(rule.insert("action".into(), value.into()))
            }
            "fwmark" => match mark(value) {
                Some((mark, mask)) => {
                    rule.insert("fwmark".into(), mark.into());
                    put(&mut rule, "fwmask", mask);
                }
                None => wrong(log),
            },
            _ => log.note(place, named, format!("'{word} {value}' is not supported by NMState")),
        }
    }
    Some(Value::Object(rule))
}

fn rule_word(word: &str) -> &'static str {
    match word {
        "priority" => "priority",
        "suppress_prefixlength" => "suppress-prefix-length",
        _ => "route-table",
    }
}

fn is_everything(network: &str) -> bool {
    matches!(network, "0.0.0.0/0" | "::/0" | "all")
}

fn mark(text: &str) -> Option<(u32, Option<u32>)> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match text.split_once('/') {
        Some((mark, mask)) => Some((number(mark)?, Some(number(mask)?))),
        None => Some((number(text)?, None)),
    }
}
