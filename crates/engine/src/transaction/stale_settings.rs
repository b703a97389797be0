//! Settings that nmstate leaves in a profile though a later state says otherwise.
//!
//! Name servers it writes into the profile of an interface of its choice, and leaves them there when the interface's addresses
//! are turned off; NetworkManager then refuses the profile ("dns is not allowed for method=disabled"), and with it the whole
//! change. The hairpin mode of a bridge's port it does not find in a profile, because it looks for it under another name, and cannot
//! turn it off. They are taken out of the file first.

use linesman_core::interface_kind::InterfaceKind;
use linesman_core::state::{interfaces, kind, list, name};
use serde_json::Value;

use crate::Result;
use crate::atomic_file;
use crate::keyfile::ProfileFile;
use crate::nm::Nm;

/// A section of a profile, and how the keys begin that go.
type Stale = (&'static str, &'static str);

/// Called once the snapshot is written.
pub async fn take_out(nm: &Nm, profiles: &[ProfileFile], desired: &Value) -> Result<()> {
    let altered = without_stale(profiles, desired);
    for profile in &altered {
        atomic_file::write(&profile.path, profile.content.as_bytes(), profile.mode)
            .map_err(|e| crate::Error::call("writing a profile", e))?;
    }
    let paths: Vec<&str> = altered.iter().filter_map(|p| p.path.to_str()).collect();
    if paths.is_empty() { Ok(()) } else { nm.load_profiles(&paths).await }
}

/// The profiles that change. Pure.
fn without_stale(profiles: &[ProfileFile], desired: &Value) -> Vec<ProfileFile> {
    let altered = |profile: &ProfileFile| {
        let stale = stale(profile.interface()?, desired);
        let content = without(&profile.content, &stale);
        (content != profile.content).then(|| ProfileFile { content, ..profile.clone() })
    };
    profiles.iter().filter(|p| p.on_disk()).filter_map(altered).collect()
}

fn stale(interface: &str, desired: &Value) -> Vec<Stale> {
    let declared = interfaces(desired).iter().filter(|i| name(i) == interface);
    let own = declared.flat_map(|i| {
        let off = |family: &str| i[family]["enabled"] == false;
        [off("ipv4").then_some(("ipv4", "dns")), off("ipv6").then_some(("ipv6", "dns"))]
    });
    let bridges = interfaces(desired).iter().filter(|i| kind(i) == InterfaceKind::LinuxBridge);
    let mut ports = bridges.flat_map(|bridge| list(bridge, &["bridge", "port"]));
    // One that is on stays in the profile: nmstate may have no reason to write it again.
    let hairpin = ports.any(|port| name(port) == interface && port["stp-hairpin-mode"] == false);
    own.flatten().chain(hairpin.then_some(("bridge-port", "hairpin-mode"))).collect()
}

fn without(content: &str, stale: &[Stale]) -> String {
    let mut section = "";
    let mut kept = String::with_capacity(content.len());
    for line in content.lines() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = name;
        }
        let goes = |(of, key): &Stale| *of == section && line.trim_start().starts_with(key);
        if !stale.iter().any(goes) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn eth1(content: &str) -> ProfileFile {
        let path = format!("{}/eth1.nmconnection", crate::keyfile::ON_DISK).into();
        ProfileFile { path, mode: 0o600, content: format!("[connection]\ninterface-name=eth1\n{content}") }
    }

    #[test]
    fn only_of_the_family_that_is_turned_off() {
        let profile =
            eth1("[ipv4]\ndns=10.0.0.1;\ndns-search=a;\nmethod=manual\n[ipv6]\ndns=fd00::1;\nmethod=auto\n");
        let off = json!({ "interfaces": [{ "name": "eth1", "ipv4": { "enabled": false } }] });
        let altered = without_stale(std::slice::from_ref(&profile), &off);
        assert_eq!(altered, [eth1("[ipv4]\nmethod=manual\n[ipv6]\ndns=fd00::1;\nmethod=auto\n")]);
        let on = json!({ "interfaces": [{ "name": "eth1", "ipv4": { "enabled": true } }] });
        assert!(without_stale(&[profile], &on).is_empty());
    }

    #[test]
    fn what_nmstate_looks_for_under_another_name() {
        let profile = [eth1("[bridge-port]\nhairpin-mode=true\npath-cost=300\n")];
        let bridge = |port: Value| json!({"name": "br1", "type": "linux-bridge", "bridge": {"port": [port]}});
        let off = bridge(json!({"name": "eth1", "stp-hairpin-mode": false}));
        let altered = without_stale(&profile, &json!({ "interfaces": [off] }));
        assert_eq!(altered, [eth1("[bridge-port]\npath-cost=300\n")]);
        for port in [json!({"name": "eth1"}), json!({"name": "eth1", "stp-hairpin-mode": true})] {
            assert!(without_stale(&profile, &json!({ "interfaces": [bridge(port)] })).is_empty());
        }
    }
}
