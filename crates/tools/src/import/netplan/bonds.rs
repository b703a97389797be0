//! Bonds and their parameters.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Work;
use crate::import::draft::{Section, plain, put_section};
use crate::import::fields::{At, Content, Fields};
use crate::import::report::Log;

/// Netplan's word, and the kernel's.
const OPTIONS: &[(&str, &str)] = &[
    ("ad-select", "ad_select"),
    ("arp-all-targets", "arp_all_targets"),
    ("arp-validate", "arp_validate"),
    ("fail-over-mac-policy", "fail_over_mac"),
    ("gratuitious-arp", "num_grat_arp"),
    ("gratuitous-arp", "num_grat_arp"),
    ("lacp-rate", "lacp_rate"),
    ("min-links", "min_links"),
    ("packets-per-member", "packets_per_slave"),
    ("packets-per-slave", "packets_per_slave"),
    ("primary-reselect-policy", "primary_reselect"),
    ("resend-igmp", "resend_igmp"),
    ("transmit-hash-policy", "xmit_hash_policy"),
];

/// In milliseconds, with or without a unit.
const TIMES: &[(&str, &str)] = &[
    ("arp-interval", "arp_interval"),
    ("down-delay", "downdelay"),
    ("mii-monitor-interval", "miimon"),
    ("up-delay", "updelay"),
];

impl Work<'_> {
    pub(super) fn bond(&mut self, fields: &mut Fields, interface: &mut Section) {
        let ports: Vec<String> =
            fields.texts("interfaces", &mut self.log).iter().map(|at| self.named(&at.value)).collect();
        let mut parameters = fields.map("parameters", &mut self.log).unwrap_or_default();
        let mut bond = Section::new();
        let mode =
            parameters.text("mode", &mut self.log).map_or_else(|| "balance-rr".to_owned(), |at| at.value);
        bond.insert("mode".into(), mode.into());
        let options = self.bond_options(&mut parameters);
        put_section(&mut bond, "options", options);
        bond.insert("port".into(), ports.into());
        put_section(interface, "link-aggregation", bond);
        parameters.leave("not supported by NMState", &mut self.log);
    }

    fn bond_options(&mut self, parameters: &mut Fields) -> Section {
        let log = &mut self.log;
        let mut options = Section::new();
        for (theirs, ours) in OPTIONS {
            if let Some(at) = parameters.text(theirs, log) {
                options.insert((*ours).to_owned(), plain(&at.value));
            }
        }
        for (theirs, ours) in TIMES {
            if let Some(at) = parameters.text(theirs, log) {
                options.extend(milliseconds(&at, log).map(|time| ((*ours).to_owned(), Value::from(time))));
            }
        }
        if let Some(at) = parameters.text("learn-packet-interval", log) {
            options.extend(seconds(&at, log).map(|time| ("lp_interval".to_owned(), Value::from(time))));
        }
        for key in ["all-slaves-active", "all-members-active"] {
            if let Some(all) = parameters.flag(key, log) {
                options.insert("all_slaves_active".into(), if all { "delivered" } else { "dropped" }.into());
            }
        }
        let targets: Vec<String> =
            parameters.texts("arp-ip-targets", log).into_iter().map(|at| at.value).collect();
        if !targets.is_empty() {
            options.insert("arp_ip_target".into(), targets.join(",").into());
        }
        if let Some(primary) = parameters.text("primary", &mut self.log) {
            options.insert("primary".into(), self.named(&primary.value).into());
        }
        options
    }
}

/// `100`, `100ms`, `1s`
fn milliseconds(at: &At<String>, log: &mut Log<'_>) -> Option<u64> {
    let text = at.value.trim();
    let (digits, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(digits), _) => (digits, 1),
        (None, Some(digits)) => (digits, 1000),
        (None, None) => (text, 1),
    };
    let time = digits.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    if time.is_none() {
        log.fault(at.place, format!("'{text}' is not a time"), "write milliseconds, as in 100, or 1s");
    }
    time
}

/// `15`, `15s`
pub(super) fn seconds(at: &At<String>, log: &mut Log<'_>) -> Option<u64> {
    let text = at.value.trim();
    let time = text.strip_suffix('s').unwrap_or(text).trim().parse().ok();
    if time.is_none() {
        log.fault(at.place, format!("'{text}' is not a time"), "write seconds, as in 15");
    }
    time
}

/// A mapping from ports to numbers.
pub(super) fn per_port(parameters: &mut Fields, key: &str, log: &mut Log<'_>) -> BTreeMap<String, u32> {
    let fields = parameters.map(key, log).unwrap_or_default();
    let number = |field: crate::import::fields::Field, log: &mut Log<'_>| match &field.content {
        Content::Text(text) if text.parse::<u32>().is_ok() => {
            Some((field.key.clone(), text.parse().unwrap_or(0)))
        }
        _ => {
            log.fault(
                field.place,
                format!("'{key}' of '{}' should be a number", field.key),
                "write a whole number",
            );
            None
        }
    };
    fields.entries.into_iter().filter_map(|field| number(field, log)).collect()
}
