//! Profiles in the deprecated format of network scripts, which a change refuses: NetworkManager spreads one over several
//! files, writes what it does not know out of them, and drops the format altogether.

use std::path::Path;

use linesman_core::facts::IfcfgProfile;

use crate::nm::NmView;

const FOLDER: &str = "/etc/sysconfig/network-scripts";

/// Those that NetworkManager has read; a file that its build does not know is no concern.
pub fn profiles(view: &NmView) -> Vec<IfcfgProfile> {
    let files = view.profiles.iter().map(|profile| &profile.filename).filter(|file| file.starts_with(FOLDER));
    let mut all: Vec<IfcfgProfile> = files.filter_map(|file| profile(file, &read(file), view)).collect();
    all.sort_by(|a, b| a.file.cmp(&b.file));
    all
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The interface by its name in the file, by where the profile is active (a file may name a MAC address only), or else by
/// the name of the file.
fn profile(file: &str, text: &str, view: &NmView) -> Option<IfcfgProfile> {
    let value = |key: &str| {
        let value = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
        Some(value.trim_matches(['"', '\'', ' ']))
    };
    let named = Path::new(file).file_name()?.to_str()?.strip_prefix("ifcfg-");
    let interface = value("DEVICE")
        .or_else(|| active_on(value("UUID")?, view))
        .filter(|name| !name.is_empty())
        .or(named)?;
    (interface != "lo").then(|| IfcfgProfile { interface: interface.to_owned(), file: file.to_owned() })
}

fn active_on<'a>(uuid: &str, view: &'a NmView) -> Option<&'a str> {
    let active = view.active.iter().find(|active| active.uuid == uuid)?;
    active.devices.iter().find_map(|path| view.device(path)).map(|device| device.interface.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nm::{Active, Device, SavedProfile};

    #[test]
    fn the_interface_is_in_the_file_or_in_its_name() {
        let view = NmView {
            devices: vec![Device { path: "/d/1".into(), interface: "eth2".into(), ..Device::default() }],
            active: vec![Active { uuid: "u1".into(), devices: vec!["/d/1".into()], ..Active::default() }],
            ..NmView::default()
        };
        let of =
            |name: &str, text: &str| profile(&format!("{FOLDER}/{name}"), text, &view).map(|p| p.interface);
        assert_eq!(of("ifcfg-System_eth0", "TYPE=Ethernet\nDEVICE=\"eth0\"\n").as_deref(), Some("eth0"));
        assert_eq!(of("ifcfg-eth1", "TYPE=Ethernet\n").as_deref(), Some("eth1"));
        assert_eq!(of("ifcfg-Wired_1", "HWADDR=52:54:00:00:00:01\nUUID=u1\n").as_deref(), Some("eth2"));
        assert_eq!(of("ifcfg-lo", "DEVICE=lo\n"), None);
    }

    #[test]
    fn only_what_networkmanager_has_read_counts() {
        let saved =
            |filename: &str| SavedProfile { path: String::new(), filename: filename.into(), unsaved: false };
        let view = NmView {
            profiles: vec![
                saved("/etc/NetworkManager/system-connections/eth0.nmconnection"),
                saved("/etc/sysconfig/network-scripts/ifcfg-eth1"),
                saved(""),
            ],
            ..NmView::default()
        };
        let interfaces: Vec<String> = profiles(&view).into_iter().map(|p| p.interface).collect();
        assert_eq!(interfaces, ["eth1"]);
    }
}
