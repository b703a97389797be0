//! Profiles in the deprecated format of network scripts, which a change refuses: NetworkManager spreads one over several
//! files, writes what it does not know out of them, and drops the format altogether.

use std::path::Path;

use linesman_core::facts::IfcfgProfile;

use crate::nm::NmView;

const FOLDER: &str = "/etc/sysconfig/network-scripts";

/// Those that NetworkManager has read; a file that its build does not know is no concern.
pub fn profiles(view: &NmView) -> Vec<IfcfgProfile> {
    let files = view.profiles.iter().map(|profile| &profile.filename).filter(|file| file.starts_with(FOLDER));
    let mut all: Vec<IfcfgProfile> = files.filter_map(|file| profile(file, &read(file))).collect();
    all.sort_by(|a, b| a.file.cmp(&b.file));
    all
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The interface by its name in the file, or else in the name of the file.
fn profile(file: &str, text: &str) -> Option<IfcfgProfile> {
    let device = text.lines().find_map(|line| line.trim().strip_prefix("DEVICE="));
    let named = Path::new(file).file_name()?.to_str()?.strip_prefix("ifcfg-");
    let interface = device.map(|device| device.trim_matches(['"', '\'', ' '])).or(named)?;
    (interface != "lo").then(|| IfcfgProfile { interface: interface.to_owned(), file: file.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nm::SavedProfile;

    #[test]
    fn the_interface_is_in_the_file_or_in_its_name() {
        let of = |name: &str, text: &str| profile(&format!("{FOLDER}/{name}"), text).map(|p| p.interface);
        assert_eq!(of("ifcfg-System_eth0", "TYPE=Ethernet\nDEVICE=\"eth0\"\n").as_deref(), Some("eth0"));
        assert_eq!(of("ifcfg-eth1", "TYPE=Ethernet\n").as_deref(), Some("eth1"));
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
