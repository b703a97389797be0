//! Ports whose bridge or bond somebody deleted: their profiles still name it.
//!
//! NetworkManager cannot activate such a profile, and nmstate tries again until its time is over.

use std::collections::BTreeSet;

use linesman_core::state::{interfaces, is_up, kind, name, ports, text};
use serde_json::Value;

use crate::keyfile::ProfileFile;

/// Declared interfaces that are to be no ports any more of what does not exist. Pure.
pub fn release(wanted: &mut Value, observed: &Value, profiles: &[ProfileFile]) {
    let claimed: BTreeSet<String> = interfaces(wanted)
        .iter()
        .filter(|interface| is_up(interface))
        .flat_map(|controller| ports(controller).unwrap_or_default())
        .map(str::to_owned)
        .collect();
    let orphans: BTreeSet<String> = interfaces(wanted)
        .iter()
        .filter(|interface| is_up(interface) && text(interface, "controller").is_none())
        .map(|interface| name(interface).to_owned())
        .filter(|port| !claimed.contains(port) && is_orphan(port, wanted, observed, profiles))
        .collect();
    let all = wanted.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
    for interface in all.filter(|interface| orphans.contains(name(interface))) {
        interface["controller"] = "".into();
    }
}

/// A controller is named by its interface or by the profile that it runs.
fn is_orphan(port: &str, wanted: &Value, observed: &Value, profiles: &[ProfileFile]) -> bool {
    let attached = |profile: &ProfileFile| {
        let here = |controller: &str| {
            let is_there = |interface: &Value| {
                name(interface) == controller && (controller != port || kind(interface).has_ports())
            };
            interfaces(observed).iter().chain(interfaces(wanted)).any(is_there)
        };
        let known = |controller: &str| {
            here(controller) || profiles.iter().any(|other| runs(other, controller) && !is_ovs_port(other))
        };
        match profile.controller() {
            // Between a device and its Open vSwitch bridge is a port, which may have the name of the device.
            Some(controller) if profile.is_interface_of_ovs_port() => {
                let port = profiles.iter().find(|other| is_ovs_port(other) && runs(other, controller));
                port.and_then(ProfileFile::controller).is_some_and(known)
            }
            Some(controller) => known(controller),
            None => true,
        }
    };
    let mut own =
        profiles.iter().filter(|profile| profile.interface() == Some(port) && !is_ovs_port(profile));
    own.clone().any(|profile| profile.controller().is_some()) && !own.any(attached)
}

fn runs(profile: &ProfileFile, controller: &str) -> bool {
    profile.interface() == Some(controller) || profile.uuid() == Some(controller)
}

fn is_ovs_port(profile: &ProfileFile) -> bool {
    profile.kind() == Some("ovs-port")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn profile(interface: &str, more: &str) -> ProfileFile {
        let content = format!("[connection]\nuuid=u-{interface}\ninterface-name={interface}\n{more}\n");
        ProfileFile { path: format!("/etc/{interface}").into(), mode: 0o600, content }
    }

    fn controller(profiles: &[ProfileFile], wanted: Value) -> Option<String> {
        let mut wanted = wanted;
        let observed = json!({ "interfaces": [{ "name": "eth1" }, { "name": "bond0" }] });
        release(&mut wanted, &observed, profiles);
        text(&interfaces(&wanted)[0], "controller").map(str::to_owned)
    }

    #[test]
    fn only_a_port_of_what_does_not_exist_is_released() {
        let eth1 = || json!({ "interfaces": [{ "name": "eth1", "state": "up" }] });
        for key in ["controller", "master"] {
            let gone = [profile("eth1", &format!("{key}=br1"))];
            assert_eq!(controller(&gone, eth1()), Some(String::new()));
        }
        for there in ["controller=bond0", "controller=u-br2", "controller=br2", ""] {
            assert_eq!(controller(&[profile("eth1", there), profile("br2", "")], eth1()), None, "{there}");
        }
    }

    /// What a power cut left of br-ex.
    #[test]
    fn the_bridge_behind_an_open_vswitch_port_counts() {
        let eth1 = || json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "state": "up" }] });
        let device = || profile("eth1", "type=ethernet\ncontroller=eth1\nport-type=ovs-port");
        let port = || ProfileFile {
            path: "/etc/eth1-port".into(),
            ..profile("eth1", "type=ovs-port\ncontroller=br-ex")
        };
        assert_eq!(controller(&[device(), port()], eth1()), Some(String::new()));
        assert_eq!(controller(&[device()], eth1()), Some(String::new()), "the port is gone as well");
        let bridge = profile("br-ex", "type=ovs-bridge");
        assert_eq!(controller(&[device(), port(), bridge], eth1()), None);
    }

    #[test]
    fn what_the_document_says_counts() {
        let gone = [profile("eth1", "controller=br1")];
        let in_bridge = json!({ "interfaces": [{ "name": "eth1", "state": "up" },
            { "name": "br5", "type": "linux-bridge", "state": "up", "bridge": { "port": [{ "name": "eth1" }] } }] });
        assert_eq!(controller(&gone, in_bridge), None);
        let said = json!({ "interfaces": [{ "name": "eth1", "state": "up", "controller": "br5" }] });
        assert_eq!(controller(&gone, said), Some("br5".into()));
        let absent = json!({ "interfaces": [{ "name": "eth1", "state": "absent" }] });
        assert_eq!(controller(&gone, absent), None);
    }
}
