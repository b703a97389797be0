//! Options of a bond that contradict its mode, its ports or each other. NetworkManager refuses them one at a time, or the kernel does.

use std::net::Ipv4Addr;

use serde_json::Value;

use super::ports::ports_of;
use super::view::{Interface, State, is_template, number};
use crate::bond_option::MODES;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::interface_kind::InterfaceKind;
use crate::path::Path;

const WITH_PRIMARY: &[&str] = &["active-backup", "balance-tlb", "balance-alb"];
const WITH_ARP: &[&str] = &["balance-rr", "active-backup", "balance-xor", "broadcast"];
const LACP: &[&str] = &["802.3ad"];

struct Rule {
    option: &'static str,
    modes: &'static [&'static str],
    /// Values that mean nothing: `nmstatectl show` prints them in every mode.
    neutral: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule { option: "primary", modes: WITH_PRIMARY, neutral: &["", "none"] },
    Rule { option: "primary_reselect", modes: WITH_PRIMARY, neutral: &["always", "0"] },
    Rule { option: "arp_interval", modes: WITH_ARP, neutral: &["0"] },
    Rule { option: "arp_validate", modes: WITH_ARP, neutral: &["none", "0"] },
    Rule { option: "lacp_rate", modes: LACP, neutral: &["slow", "0"] },
    Rule { option: "ad_actor_sys_prio", modes: LACP, neutral: &["65535"] },
    Rule { option: "ad_actor_system", modes: LACP, neutral: &["", "00:00:00:00:00:00"] },
    Rule { option: "ad_user_port_key", modes: LACP, neutral: &["0"] },
    Rule { option: "lacp_active", modes: LACP, neutral: &["on", "1"] },
    Rule { option: "packets_per_slave", modes: &["balance-rr"], neutral: &["1"] },
];

/// What the kernel takes.
const RANGES: &[(&str, std::ops::RangeInclusive<i128>)] = &[
    ("ad_actor_sys_prio", 1..=65_535),
    ("ad_user_port_key", 0..=1023),
    ("arp_interval", 0..=MOST),
    ("downdelay", 0..=MOST),
    ("lp_interval", 1..=MOST),
    ("miimon", 0..=MOST),
    ("min_links", 0..=MOST),
    ("num_grat_arp", 0..=255),
    ("num_unsol_na", 0..=255),
    ("packets_per_slave", 0..=65_535),
    ("peer_notif_delay", 0..=300_000),
    ("resend_igmp", 0..=255),
    ("updelay", 0..=MOST),
];

const MOST: i128 = i32::MAX as i128;
const MOST_TARGETS: usize = 16;

pub(super) fn options(state: &State<'_>) -> Vec<Diagnostic> {
    let bonds = state.up().filter(|interface| interface.kind == InterfaceKind::Bond);
    bonds.flat_map(|interface| Bond::of(interface).map(|bond| bond.faults()).unwrap_or_default()).collect()
}

struct Bond<'a> {
    mode: Option<String>,
    options: &'a Value,
    path: Path,
    /// All of them, where the document lists them.
    ports: Vec<&'a str>,
}

impl<'a> Bond<'a> {
    fn of(interface: &Interface<'a>) -> Option<Self> {
        let (path, section) = interface.section(&["link-aggregation", "bond"])?;
        let options = section.get("options").filter(|options| options.is_object())?;
        let mode = section.get("mode").map(word);
        let mode = mode.map(|mode| {
            mode.parse().ok().and_then(|n: usize| MODES.get(n)).map_or(mode, |m| (*m).to_owned())
        });
        let ports = ports_of(interface).into_iter().map(|port| port.name).collect();
        Some(Self { mode, options, path: path.key("options"), ports })
    }

    fn faults(&self) -> Vec<Diagnostic> {
        let of_mode = RULES.iter().filter_map(|rule| self.in_another_mode(rule));
        of_mode
            .chain(self.primary_is_no_port())
            .chain(self.watches_twice())
            .chain(self.asks_nobody())
            .chain(self.validates_nothing())
            .chain(self.asks_wrongly())
            .chain(self.delays_nothing())
            .chain(self.notifies_differently())
            .chain(self.is_called_as_many())
            .chain(RANGES.iter().filter_map(|(option, range)| self.is_out_of_range(option, range)))
            .collect()
    }

    /// Unless it means nothing.
    fn set(&self, option: &str, neutral: &[&str]) -> Option<String> {
        self.options
            .get(option)
            .filter(|value| !value.is_null())
            .map(word)
            .filter(|value| !neutral.contains(&value.as_str()))
    }

    fn refuse(&self, option: &str, message: String, hint: String) -> Diagnostic {
        Diagnostic::new(codes::BOND_OPTIONS, message).at(self.path.key(option)).hint(hint)
    }

    fn in_another_mode(&self, rule: &Rule) -> Option<Diagnostic> {
        let mode = self.mode.as_deref().filter(|mode| MODES.contains(mode) && !rule.modes.contains(mode))?;
        self.set(rule.option, rule.neutral)?;
        let message = format!("a bond in mode {mode} has no option '{}'", rule.option);
        Some(self.refuse(rule.option, message, format!("remove it, or use mode {}", either(rule.modes))))
    }

    fn primary_is_no_port(&self) -> Option<Diagnostic> {
        let primary = self.set("primary", &["", "none"])?;
        let unknown = is_template(&primary) || self.ports.iter().any(|port| is_template(port));
        if unknown || self.ports.is_empty() || self.ports.contains(&primary.as_str()) {
            return None;
        }
        let message = format!("'{primary}' cannot be the primary port: it is not a port of the bond");
        Some(self.refuse("primary", message, format!("name one of its ports: {}", self.ports.join(", "))))
    }

    fn watches_twice(&self) -> Option<Diagnostic> {
        self.set("arp_interval", &["0"])?;
        self.set("miimon", &["0"])?;
        let message = "'miimon' and 'arp_interval' cannot both be set".to_owned();
        Some(self.refuse("arp_interval", message, "watch the links with one of them".into()))
    }

    fn asks_nobody(&self) -> Option<Diagnostic> {
        self.set("arp_interval", &["0"])?;
        if self.set("arp_ip_target", &[""]).is_some() {
            return None;
        }
        let message = "'arp_interval' needs 'arp_ip_target'".to_owned();
        Some(self.refuse("arp_interval", message, "add the addresses to ask, or use 'miimon'".into()))
    }
}

impl Bond<'_> {
    /// A bond may have an interval already; not beside `miimon`.
    fn validates_nothing(&self) -> Option<Diagnostic> {
        self.set("arp_validate", &["none", "0"])?;
        self.set("miimon", &["0"])?;
        if self.set("arp_interval", &["0"]).is_some() {
            return None;
        }
        let message = "'arp_validate' needs 'arp_interval'".to_owned();
        Some(self.refuse(
            "arp_validate",
            message,
            "add 'arp_interval' and 'arp_ip_target', or remove it".into(),
        ))
    }

    fn asks_wrongly(&self) -> Option<Diagnostic> {
        let targets = self.set("arp_ip_target", &[""]).filter(|targets| !is_template(targets))?;
        let targets: Vec<&str> = targets.split(',').map(str::trim).collect();
        let message = match targets.iter().find(|target| target.parse::<Ipv4Addr>().is_err()) {
            Some(wrong) => format!("'{wrong}' is not an IPv4 address"),
            None => match (1..targets.len()).find(|at| targets[..*at].contains(&targets[*at])) {
                Some(twice) => format!("'{}' is listed twice", targets[twice]),
                None if targets.len() > MOST_TARGETS => format!("more than {MOST_TARGETS} addresses"),
                None => return None,
            },
        };
        let hint = format!("list up to {MOST_TARGETS} IPv4 addresses, separated by commas");
        Some(self.refuse("arp_ip_target", message, hint))
    }

    /// Without a word about it, NetworkManager sets `miimon`.
    fn delays_nothing(&self) -> Option<Diagnostic> {
        let option =
            ["updelay", "downdelay"].into_iter().find(|option| self.set(option, &["0"]).is_some())?;
        let is_off = self.options.get("miimon").is_some_and(|miimon| word(miimon) == "0");
        if !is_off && self.set("arp_interval", &["0"]).is_none() {
            return None;
        }
        let message = format!("'{option}' needs 'miimon'");
        Some(self.refuse(option, message, "add 'miimon: 100', or remove it".into()))
    }

    fn notifies_differently(&self) -> Option<Diagnostic> {
        let (arp, na) = (self.set("num_grat_arp", &[])?, self.set("num_unsol_na", &[])?);
        if arp == na {
            return None;
        }
        let message = "'num_grat_arp' and 'num_unsol_na' are the same option, and differ".to_owned();
        Some(self.refuse("num_unsol_na", message, "set one of them".into()))
    }

    /// A group of stations cannot be the system that LACP speaks for.
    fn is_called_as_many(&self) -> Option<Diagnostic> {
        let system = self.set("ad_actor_system", &["", "00:00:00:00:00:00"])?;
        let first = u8::from_str_radix(system.get(..2)?, 16).ok()?;
        if first & 1 == 0 {
            return None;
        }
        let message = format!("'{system}' is a multicast address");
        Some(self.refuse("ad_actor_system", message, "use the MAC address of one station".into()))
    }

    fn is_out_of_range(&self, option: &str, range: &std::ops::RangeInclusive<i128>) -> Option<Diagnostic> {
        let value = number(self.options.get(option)).filter(|value| !range.contains(value))?;
        let message = format!("{value} is out of range for '{option}'");
        Some(self.refuse(option, message, format!("use {} to {}", range.start(), range.end())))
    }
}

/// Numbers and texts are the same here, for NMState as well.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

fn either(modes: &[&str]) -> String {
    match modes {
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
        [] => String::new(),
    }
}
