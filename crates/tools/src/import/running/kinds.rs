//! The section of its own that each kind of interface has, without its defaults.

use serde_json::{Value, json};

use super::{is_nothing, without};
use crate::import::draft::Section;
use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{at, kind, list, text};

/// Sections that are taken over as they are.
const WHOLE: &[&str] = &["ipvlan", "hsr", "ip-tunnel", "infiniband", "macsec", "patch", "dpdk", "xfrm"];

pub(super) fn own(observed: &Value) -> Vec<(String, Value)> {
    let mut sections: Vec<(String, Value)> = Vec::new();
    let section = |key: &str| observed.get(key).cloned().unwrap_or_default();
    match kind(observed) {
        InterfaceKind::Bond => sections.push(("link-aggregation".into(), bond(&section("link-aggregation")))),
        InterfaceKind::LinuxBridge => sections.push(("bridge".into(), bridge(&section("bridge")))),
        InterfaceKind::OvsBridge => sections.push(("bridge".into(), ovs_bridge(&section("bridge")))),
        InterfaceKind::Vlan => sections.push(("vlan".into(), without(&section("vlan"), &vlan_defaults()))),
        InterfaceKind::Vxlan => sections.push((
            "vxlan".into(),
            without(&section("vxlan"), &[("learning", json!(true)), ("base-iface", json!(""))]),
        )),
        kind @ (InterfaceKind::MacVlan | InterfaceKind::MacVtap) => {
            let own = without(&section(kind.as_str()), &[("promiscuous", json!(true))]);
            sections.push((kind.to_string(), own))
        }
        InterfaceKind::Vrf => sections.push(("vrf".into(), section("vrf"))),
        InterfaceKind::Veth | InterfaceKind::Ethernet => sections.extend(ethernet(observed)),
        _ => {}
    }
    for key in WHOLE {
        if let Some(value) = observed.get(*key).filter(|value| !is_nothing(value)) {
            sections.push(((*key).to_owned(), value.clone()));
        }
    }
    if let Some(database) = observed.get("ovs-db") {
        let keys = keys(database, RUNTIME);
        if !keys.is_empty() {
            sections.push(("ovs-db".into(), Value::Object(keys)));
        }
    }
    sections
}

/// Keys that OVN, a hypervisor or Open vSwitch write while they run.
const RUNTIME: &[&str] = &[
    "NM.connection.uuid",
    "hwaddr",
    "iface-id",
    "iface-id-ver",
    "iface-status",
    "attached-mac",
    "vm-id",
    "vm-uuid",
    "ovn-installed",
    "ovn-installed-ts",
    "ct-zone",
    "ovn-nb-cfg",
];

pub(super) fn keys(database: &Value, others: &[&str]) -> Section {
    let mut kept = Section::new();
    for column in ["external_ids", "other_config"] {
        let keys = at(database, &[column]).and_then(Value::as_object).into_iter().flatten();
        let ours = keys.filter(|(key, value)| {
            !value.is_null() && !others.contains(&key.as_str()) && !key.starts_with("ct-zone-")
        });
        let ours: Section = ours.map(|(key, value)| (key.clone(), value.clone())).collect();
        if !ours.is_empty() {
            kept.insert(column.to_owned(), Value::Object(ours));
        }
    }
    kept
}

fn vlan_defaults() -> [(&'static str, Value); 6] {
    [
        ("protocol", json!("802.1q")),
        ("registration-protocol", json!("none")),
        ("reorder-headers", json!(true)),
        ("loose-binding", json!(false)),
        ("ingress-qos-map", json!([])),
        ("egress-qos-map", json!([])),
    ]
}

fn ethernet(observed: &Value) -> Vec<(String, Value)> {
    let mut sections = Vec::new();
    if let Some(peer) =
        at(observed, &["veth", "peer"]).and_then(Value::as_str).filter(|peer| !peer.is_empty())
    {
        sections.push(("veth".to_owned(), json!({ "peer": peer })));
    }
    let mut ethernet = Section::new();
    if at(observed, &["ethernet", "auto-negotiation"]) == Some(&Value::Bool(false)) {
        let settings = ["auto-negotiation", "speed", "duplex"]
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), at(observed, &["ethernet", key])?.clone())));
        ethernet.extend(settings);
    }
    if let Some(total) =
        at(observed, &["ethernet", "sr-iov", "total-vfs"]).and_then(Value::as_u64).filter(|total| *total > 0)
    {
        ethernet.insert("sr-iov".into(), json!({ "total-vfs": total }));
    }
    // A driver without a switch for it (veth) always reports the same; nobody chose it.
    if !ethernet.is_empty()
        && text(observed, "driver") != Some("veth")
        && kind(observed) == InterfaceKind::Ethernet
    {
        sections.push(("ethernet".into(), Value::Object(ethernet)));
    }
    sections
}

fn bond(section: &Value) -> Value {
    let mut bond = Section::new();
    bond.insert("mode".into(), section.get("mode").cloned().unwrap_or_default());
    let options = without(section.get("options").unwrap_or(&Value::Null), &bond_defaults());
    if !is_nothing(&options) {
        bond.insert("options".into(), options);
    }
    let details = list(section, &["ports-config"]).iter().any(|port| {
        port["priority"].as_i64().unwrap_or(0) != 0 || port["queue-id"].as_u64().unwrap_or(0) != 0
    });
    let key = if details { "ports-config" } else { "port" };
    bond.insert(key.to_owned(), section.get(key).cloned().unwrap_or_else(|| json!([])));
    Value::Object(bond)
}

fn bond_defaults() -> Vec<(&'static str, Value)> {
    vec![
        ("ad_actor_sys_prio", json!(65535)),
        ("ad_actor_system", json!("00:00:00:00:00:00")),
        ("ad_select", json!("stable")),
        ("ad_user_port_key", json!(0)),
        ("all_slaves_active", json!("dropped")),
        ("arp_all_targets", json!("any")),
        ("arp_interval", json!(0)),
        ("arp_ip_target", json!("")),
        ("arp_missed_max", json!(2)),
        ("arp_validate", json!("none")),
        ("balance_slb", json!(false)),
        ("downdelay", json!(0)),
        ("fail_over_mac", json!("none")),
        ("lacp_active", json!(true)),
        ("lacp_rate", json!("slow")),
        ("lp_interval", json!(1)),
        ("miimon", json!(0)),
        ("min_links", json!(0)),
        ("ns_ip6_target", json!([])),
        ("num_grat_arp", json!(1)),
        ("num_unsol_na", json!(1)),
        ("packets_per_slave", json!(1)),
        ("primary", json!("")),
        ("primary_reselect", json!("always")),
        ("resend_igmp", json!(1)),
        ("tlb_dynamic_lb", json!(true)),
        ("updelay", json!(0)),
        ("use_carrier", json!(true)),
        ("xmit_hash_policy", json!("layer2")),
    ]
}

fn bridge(section: &Value) -> Value {
    let options = section.get("options").unwrap_or(&Value::Null);
    let mut kept = without(options, &bridge_defaults());
    let stp = without(
        options.get("stp").unwrap_or(&Value::Null),
        &[
            ("forward-delay", json!(15)),
            ("hello-time", json!(2)),
            ("max-age", json!(20)),
            ("priority", json!(32768)),
        ],
    );
    kept["stp"] = stp;
    let port = |port: &Value| {
        without(
            port,
            &[
                ("stp-hairpin-mode", json!(false)),
                ("stp-path-cost", json!(100)),
                ("stp-priority", json!(32)),
                ("vlan", json!({})),
            ],
        )
    };
    let ports: Vec<Value> = list(section, &["port"]).iter().map(port).collect();
    json!({ "options": kept, "port": ports })
}

fn bridge_defaults() -> Vec<(&'static str, Value)> {
    vec![
        // Read-only, or reported twice.
        ("gc-timer", Value::Null),
        ("hello-timer", Value::Null),
        ("group-fwd-mask", Value::Null),
        ("stp", Value::Null),
        ("group-addr", json!("01:80:C2:00:00:00")),
        ("group-forward-mask", json!(0)),
        ("hash-max", json!(4096)),
        ("mac-ageing-time", json!(300)),
        ("multicast-last-member-count", json!(2)),
        ("multicast-last-member-interval", json!(100)),
        ("multicast-membership-interval", json!(26000)),
        ("multicast-querier", json!(false)),
        ("multicast-querier-interval", json!(25500)),
        ("multicast-query-interval", json!(12500)),
        ("multicast-query-response-interval", json!(1000)),
        ("multicast-query-use-ifaddr", json!(false)),
        ("multicast-router", json!("auto")),
        ("multicast-snooping", json!(true)),
        ("multicast-startup-query-count", json!(2)),
        // 31.25 s, which drivers round as they like.
        ("multicast-startup-query-interval", json!(3124)),
        ("multicast-startup-query-interval", json!(3125)),
        ("vlan-default-pvid", json!(1)),
        ("vlan-protocol", json!("802.1q")),
    ]
}

fn ovs_bridge(section: &Value) -> Value {
    let mut options = without(
        section.get("options").unwrap_or(&Value::Null),
        &[
            ("rstp", json!(false)),
            ("mcast-snooping-enable", json!(false)),
            ("fail-mode", json!("")),
            ("datapath", json!("")),
            ("datapath", json!("system")),
        ],
    );
    if at(&options, &["stp", "enabled"]) != Some(&Value::Bool(true))
        && let Some(options) = options.as_object_mut()
    {
        options.remove("stp");
    }
    let ports: Vec<Value> =
        list(section, &["port"]).iter().map(|port| without(port, &[("vlan", json!({}))])).collect();
    match is_nothing(&options) {
        true => json!({ "port": ports }),
        false => json!({ "options": options, "port": ports }),
    }
}
