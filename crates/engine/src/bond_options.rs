//! Options of a bond that NetworkManager leaves as they were.
//!
//! To activate a bond that exists it tells the kernel the options of the profile, but none that has the kernel's default
//! (`lacp_rate: slow`, `fail_over_mac: none`): the former value stays. The kernel takes some options only while the bond is down,
//! and one only while it has no ports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linesman_core::bond_option::Needs;
use linesman_core::compare::Difference;
use linesman_core::path::PathStep;
use serde_json::Value;

use crate::failpoint;
use crate::netlink::Netlink;
use crate::nm::{Nm, NmView};
use crate::watch::Watch;

/// NetworkManager may be about to set it itself; and what the kernel refuses, it refuses again.
const PAUSE: Duration = Duration::from_secs(5);
/// How long NetworkManager may take to detach a port or to attach it.
const MOVE: Duration = Duration::from_secs(15);

/// Sets them, as long as one verification lasts.
#[derive(Debug, Default)]
pub struct BondOptions {
    /// By bond.
    tried: BTreeMap<String, Instant>,
}

/// Options of one bond, as the kernel spells them.
type Options = Vec<(String, String)>;

impl BondOptions {
    /// What cannot be set shows in the verification.
    pub async fn set(&mut self, nm: &Nm, watch: &Watch, differences: &[Difference]) {
        let now = Instant::now();
        let mut left = left(differences);
        left.retain(|bond, _| self.tried.get(bond).is_none_or(|tried| now - *tried >= PAUSE));
        if left.is_empty() {
            return;
        }
        let Ok(view) = nm.view().await else { return };
        for (bond, options) in left.iter().filter(|(bond, _)| is_settled(&view, bond, &ports(bond))) {
            self.tried.insert(bond.clone(), now);
            tracing::info!(bond, ?options, "NetworkManager leaves options of the bond as they were");
            set_all(nm, watch, &view, bond, options).await;
        }
    }
}

/// By bond, what it shall have and has not. Pure.
fn left(differences: &[Difference]) -> BTreeMap<String, Options> {
    let mut left: BTreeMap<String, Options> = BTreeMap::new();
    for difference in differences {
        if let [
            _,
            PathStep::Item(bond),
            PathStep::Key(section),
            PathStep::Key(options),
            PathStep::Key(option),
        ] = difference.path.steps()
            && section == "link-aggregation"
            && options == "options"
            && !SET_ELSEWHERE.contains(&option.as_str())
            && !difference.got.is_null()
            && let Some(value) = spelt(&difference.want)
        {
            left.entry(bond.clone()).or_default().push((option.clone(), value));
        }
    }
    left
}

/// The primary port has a module of its own, lists of addresses are changed one by one, and the last is NetworkManager's own.
const SET_ELSEWHERE: [&str; 4] = ["primary", "arp_ip_target", "ns_ip6_target", "balance-slb"];

fn spelt(value: &Value) -> Option<String> {
    match value {
        Value::Bool(on) => Some(u8::from(*on).to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(word) => Some(match word.as_str() {
            "dropped" => "0".to_owned(),
            "delivered" => "1".to_owned(),
            other => other.to_owned(),
        }),
        _ => None,
    }
}

/// NetworkManager is done with the bond, except for addresses, which may wait for a partner, and with its ports. Pure.
fn is_settled(view: &NmView, bond: &str, ports: &[String]) -> bool {
    let device = |name: &str| view.devices.iter().find(|device| device.real && device.interface == name);
    let is_changing = |port: &String| device(port).is_some_and(|port| port.changing() || port.coming_up());
    device(bond).is_some_and(|bond| bond.activated() || bond.waits_for_addresses())
        && !ports.iter().any(is_changing)
}

async fn set_all(nm: &Nm, watch: &Watch, view: &NmView, bond: &str, options: &Options) {
    let needing = |needs: Needs| -> Options {
        options
            .iter()
            .filter(|(option, _)| linesman_core::bond_option::needs(option) == needs)
            .cloned()
            .collect()
    };
    write(bond, &needing(Needs::Nothing));
    let when_down = needing(Needs::Down);
    if !when_down.is_empty() {
        set_while_down(bond, &when_down).await;
    }
    let when_empty = needing(Needs::NoPorts);
    if !when_empty.is_empty() {
        set_without_ports(nm, watch, view, bond, &when_empty).await;
    }
}

/// NetworkManager restores addresses and routes of a link that comes up again, and of what is on it.
async fn set_while_down(bond: &str, options: &Options) {
    let Ok(netlink) = Netlink::open() else { return };
    if let Err(error) = netlink.set_link_down(bond).await {
        tracing::warn!(bond, %error, "cannot set the bond down");
        return;
    }
    failpoint::reach("bond-down").await;
    write(bond, options);
    if let Err(error) = netlink.set_link_up(bond).await {
        tracing::warn!(bond, %error, "cannot set the bond up again");
    }
}

/// NetworkManager detaches the ports and attaches them again in their order: it would not understand why others do it.
async fn set_without_ports(nm: &Nm, watch: &Watch, view: &NmView, bond: &str, options: &Options) {
    let before = ports(bond);
    let running = profiles(view, &before);
    if running.len() < before.len() {
        tracing::warn!(bond, "has ports that NetworkManager did not attach, and keeps its options");
        return;
    }
    for (port, active, ..) in &running {
        if let Err(error) = nm.deactivate(active).await {
            tracing::warn!(bond, port, %error, "cannot detach the port");
        }
    }
    until(watch, || ports(bond).is_empty()).await;
    failpoint::reach("bond-without-ports").await;
    write(bond, options);
    for (port, _, uuid, device) in &running {
        if let Err(error) = nm.activate(uuid, Some(device)).await {
            tracing::warn!(bond, port, %error, "cannot attach the port again");
        }
        until(watch, || ports(bond).iter().any(|known| known == port)).await;
    }
}

/// Of these ports, what runs on them: name, active connection, profile, device. Pure.
fn profiles<'a>(view: &'a NmView, ports: &[String]) -> Vec<(&'a str, &'a str, &'a str, &'a str)> {
    let running = |port: &String| {
        let device = view.devices.iter().find(|device| device.real && device.interface == *port)?;
        let uuid = view.profile_of(device)?;
        let active = device.active.as_deref()?;
        let own = view.active.iter().any(|known| known.path == active && !known.external);
        own.then_some((device.interface.as_str(), active, uuid, device.path.as_str()))
    };
    ports.iter().filter_map(running).collect()
}

async fn until(watch: &Watch, is_so: impl Fn() -> bool) {
    let end = Instant::now() + MOVE;
    while !is_so() && Instant::now() < end {
        watch.next().await;
    }
}

fn file(bond: &str, option: &str) -> PathBuf {
    Path::new("/sys/class/net").join(bond).join("bonding").join(option)
}

/// In the order in which they were attached.
fn ports(bond: &str) -> Vec<String> {
    let ports = std::fs::read_to_string(file(bond, "slaves")).unwrap_or_default();
    ports.split_whitespace().map(str::to_owned).collect()
}

fn write(bond: &str, options: &Options) {
    for (option, value) in options {
        if let Err(error) = std::fs::write(file(bond, option), format!("{value}\n")) {
            tracing::warn!(bond, option, value, %error, "cannot set the option of the bond");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::nm::{Active, Device};

    fn difference(bond: &str, option: &str, want: Value, got: Value) -> Difference {
        let path =
            linesman_core::path::Path::interface(bond).key("link-aggregation").key("options").key(option);
        Difference { path, want, got }
    }

    #[test]
    fn options_are_spelt_as_the_kernel_does() {
        let differences = [
            difference("bond0", "lacp_rate", json!("slow"), json!("fast")),
            difference("bond0", "tlb_dynamic_lb", json!(true), json!(false)),
            difference("bond0", "all_slaves_active", json!("dropped"), json!("delivered")),
            difference("bond1", "min_links", json!(0), json!(2)),
        ];
        let of = |bond: &str| left(&differences).remove(bond).unwrap_or_default();
        let bond0 = [("lacp_rate", "slow"), ("tlb_dynamic_lb", "1"), ("all_slaves_active", "0")];
        assert_eq!(of("bond0"), bond0.map(|(option, value)| (option.to_owned(), value.to_owned())));
        assert_eq!(of("bond1"), [("min_links".to_owned(), "0".to_owned())]);
    }

    #[test]
    fn what_is_not_shown_or_set_elsewhere_is_left_alone() {
        let mode = Difference {
            path: linesman_core::path::Path::interface("bond0").key("link-aggregation").key("mode"),
            want: json!("802.3ad"),
            got: json!("active-backup"),
        };
        let differences = [
            difference("bond0", "primary", json!("eth1"), json!("eth2")),
            difference("bond0", "arp_ip_target", json!("10.0.0.1"), json!("10.0.0.2")),
            difference("bond0", "tlb_dynamic_lb", json!(true), Value::Null),
            mode,
        ];
        assert!(left(&differences).is_empty());
    }

    fn view() -> NmView {
        let device = |interface: &str, state: u32| Device {
            path: format!("/device/{interface}"),
            interface: interface.to_owned(),
            state,
            real: true,
            active: Some(format!("/active/{interface}")),
            ..Device::default()
        };
        let active = |interface: &str, external: bool| Active {
            path: format!("/active/{interface}"),
            uuid: format!("uuid-{interface}"),
            external,
            ..Active::default()
        };
        NmView {
            devices: vec![
                device("bond0", 100),
                device("bond1", 50),
                device("bond3", 70),
                device("eth1", 100),
                device("eth2", 50),
                device("eth3", 100),
            ],
            active: vec![active("eth1", false), active("eth3", true)],
            ..NmView::default()
        }
    }

    #[test]
    fn networkmanager_is_given_time_for_the_bond_and_its_ports() {
        let port = |name: &str| vec![name.to_owned()];
        assert!(is_settled(&view(), "bond0", &port("eth1")));
        assert!(is_settled(&view(), "bond0", &port("of-others")));
        assert!(!is_settled(&view(), "bond0", &port("eth2")), "a port is on its way");
        assert!(!is_settled(&view(), "bond1", &[]), "the bond is on its way");
        assert!(is_settled(&view(), "bond3", &[]), "only its addresses are not there");
        assert!(!is_settled(&view(), "bond2", &[]), "it is not there");
    }

    #[test]
    fn only_ports_with_a_profile_of_their_own_can_be_attached_again() {
        let ports = ["eth3", "eth1", "eth4"].map(str::to_owned);
        assert_eq!(profiles(&view(), &ports), [("eth1", "/active/eth1", "uuid-eth1", "/device/eth1")]);
    }
}
