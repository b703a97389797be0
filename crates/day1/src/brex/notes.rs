//! What a reader of the document should know and cannot see in it.

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{at, base, interfaces, kind, list, name, text};
use linesman_tools::import::{Note, ROUTE_RULES};
use serde_json::Value;

use super::layer3::Layer3;
use super::{Choice, Options};

pub(super) fn all(
    observed: &Value,
    imported: &[Note],
    members: &[&Value],
    choice: &Choice,
    layer3: &Layer3,
    options: &Options,
) -> Vec<String> {
    let uplink = choice.interface.as_str();
    let mut notes = vec![choice.to_string()];
    notes.extend(members.first().into_iter().flat_map(|uplink| identity(uplink, layer3)));
    notes.extend(layer3.notes.iter().cloned());
    notes.extend(fail_over_mac(members));
    notes.extend(above(observed, uplink));
    if options.userspace_datapath {
        notes.push(format!(
            "this kernel has no datapath of Open vSwitch; {} uses the one in userspace, which is slower",
            options.bridge
        ));
    }
    let is_member =
        |note: &&Note| note.place == ROUTE_RULES || members.iter().any(|member| name(member) == note.place);
    // Without a setting, it says that an interface was left out: here it is not.
    let of_members = imported.iter().filter(is_member).filter(|note| !note.setting.is_empty());
    notes.extend(of_members.map(ToString::to_string));
    notes
}

/// The MAC address stays; the name of the interface, which may be part of an identity, does not.
fn identity(uplink: &Value, layer3: &Layer3) -> Vec<String> {
    let is_on = |key: &str| layer3.ipv6.get(key) == Some(&Value::Bool(true));
    // DHCPv6 leases single addresses, router advertisements announce networks.
    let is_leased = |address: &Value| {
        let ends = text(address, "valid-life-time").is_some_and(|time| time != "forever");
        ends && address.get("prefix-length").and_then(Value::as_u64) == Some(128)
    };
    let leases = is_on("dhcp") && list(uplink, &["ipv6", "address"]).iter().any(is_leased);
    let mode = layer3.ipv6.get("addr-gen-mode").and_then(Value::as_str);
    let leased = leases.then_some(
        "a DHCPv6 server that knows this host by more than its MAC address may lease it another address",
    );
    let made = (is_on("autoconf") && mode == Some("stable-privacy")).then_some(
        "the IPv6 address from router advertisements changes: with addr-gen-mode stable-privacy it depends on the \
         name of the interface",
    );
    leased.into_iter().chain(made).map(str::to_owned).collect()
}

fn fail_over_mac(members: &[&Value]) -> Option<String> {
    let changes = |member: &&&Value| {
        let policy = at(member, &["link-aggregation", "options", "fail_over_mac"]).and_then(Value::as_str);
        kind(member) == InterfaceKind::Bond && policy.is_some_and(|policy| policy != "none")
    };
    let bond = members.iter().find(changes)?;
    Some(format!(
        "{} takes the MAC address of the port in use (fail_over_mac), so that none is set for it",
        name(bond)
    ))
}

fn above(observed: &Value, uplink: &str) -> Option<String> {
    let is_above = |it: &&Value| base(it).is_some_and(|(section, base)| section == "vlan" && base == uplink);
    let names: Vec<&str> = interfaces(observed).iter().filter(is_above).map(name).collect();
    (!names.is_empty()).then(|| format!("VLANs on {uplink} stay there: {}", names.join(", ")))
}
