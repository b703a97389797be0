//! Ports whose bridge or bond somebody deleted: their profiles still name it.
//!
//! NetworkManager cannot activate such a profile, and nmstate tries again until its time is over.

use std::collections::BTreeSet;

use linesman_core::state::{interfaces, is_up, name, ports, text};
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
    let known = |controller: &str| {
        let here = |state: &Value| interfaces(state).iter().any(|interface| name(interface) == controller);
        let by_profile = |profile: &ProfileFile| {
            profile.interface() == Some(controller) || profile.uuid() == Some(controller)
        };
        here(observed) || here(wanted) || profiles.iter().any(by_profile)
    };
    let own = profiles.iter().filter(|profile| profile.interface() == Some(port));
    let mut controllers = own.filter_map(ProfileFile::controller).peekable();
    controllers.peek().is_some() && !controllers.any(known)
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
