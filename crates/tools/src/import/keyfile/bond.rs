//! Bonds: every key of `[bond]` is an option of the kernel's driver.

use super::profile::Profile;
use crate::import::draft::{Section, plain, put, put_section};
use crate::import::fields::{Content, Field};
use crate::import::report::Log;

/// The options that a state document has a word for.
const OPTIONS: &[&str] = &[
    "ad_actor_sys_prio",
    "ad_actor_system",
    "ad_select",
    "ad_user_port_key",
    "all_slaves_active",
    "arp_all_targets",
    "arp_interval",
    "arp_ip_target",
    "arp_missed_max",
    "arp_validate",
    "downdelay",
    "fail_over_mac",
    "lacp_active",
    "lacp_rate",
    "lp_interval",
    "miimon",
    "min_links",
    "num_grat_arp",
    "num_unsol_na",
    "packets_per_slave",
    "primary",
    "primary_reselect",
    "resend_igmp",
    "tlb_dynamic_lb",
    "updelay",
    "use_carrier",
    "xmit_hash_policy",
];

pub(super) fn own(profile: &mut Profile, interface: &mut Section, log: &mut Log<'_>) {
    let section = profile.section("bond");
    let mode = section.text("mode", log).map_or_else(|| "balance-rr".to_owned(), |at| at.value);
    let mut options = Section::new();
    for Field { key, content, .. } in section.take_all(|key| OPTIONS.contains(&key) || key == "balance-slb") {
        if let Content::Text(value) = content {
            options.insert(key.replace("balance-slb", "balance_slb"), option(&key, &value));
        }
    }
    let mut bond = Section::from_iter([("mode".to_owned(), named_mode(&mode).into())]);
    put_section(&mut bond, "options", options);
    put_section(interface, "link-aggregation", bond);
}

/// These are switches, whatever the driver writes.
fn option(key: &str, value: &str) -> serde_json::Value {
    let switch = matches!(key, "tlb_dynamic_lb" | "use_carrier" | "balance-slb" | "lacp_active");
    match (switch, value.trim()) {
        (true, "1" | "on") => true.into(),
        (true, "0" | "off") => false.into(),
        _ if matches!(key, "arp_ip_target" | "primary") => value.into(),
        (_, value) => plain(value),
    }
}

fn named_mode(mode: &str) -> &str {
    const MODES: [&str; 7] =
        ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];
    mode.parse::<usize>().ok().and_then(|number| MODES.get(number).copied()).unwrap_or(mode)
}

pub(super) fn port(profile: &mut Profile, log: &mut Log<'_>) -> Section {
    let mut port = Section::new();
    let section = profile.section("bond-port");
    put(&mut port, "priority", section.number::<i32>("prio", log).filter(|prio| *prio != 0));
    put(&mut port, "queue-id", section.number::<u16>("queue-id", log).filter(|queue| *queue != 0));
    port
}
