//! The OpenFlow port numbers of uplinks are written into their profiles, so that they outlive every activation.
//!
//! NetworkManager makes the rows of a port anew when it activates it: after its own restart, at boot, when a cable was
//! pulled. Since 1.42 it requests the number that the profile names.

use std::collections::BTreeMap;

use linesman_core::keyfile::{Line, lines};
use linesman_core::plan::Plan;

use crate::keyfile::ProfileFile;
use crate::nm::Nm;
use crate::{Result, atomic_file, observe, ovs};

const SECTION: &str = "ovs-interface";
const KEY: &str = "ofport-request";

/// Called when everything has passed. Returns what could not be kept: a change that works is not rolled back for it.
pub async fn keep(nm: &Nm, plan: &Plan) -> Vec<String> {
    if plan.uplinks.is_empty() {
        return Vec::new();
    }
    match ovs::request(&plan.uplinks).await {
        Ok((numbers, mut notes)) => {
            let stored = store(nm, &numbers).await;
            notes.extend(
                stored.err().map(|e| format!("OpenFlow port numbers of uplinks were not stored: {e}")),
            );
            notes
        }
        Err(e) => vec![format!("OpenFlow port numbers of uplinks were not stored: {e}")],
    }
}

async fn store(nm: &Nm, numbers: &BTreeMap<String, u16>) -> Result<()> {
    let altered = with_numbers(&observe::profiles()?, numbers);
    for profile in &altered {
        atomic_file::write(&profile.path, profile.content.as_bytes(), profile.mode)
            .map_err(|e| crate::Error::call("writing a profile", e))?;
    }
    let paths: Vec<&str> = altered.iter().filter_map(|p| p.path.to_str()).collect();
    if paths.is_empty() { Ok(()) } else { nm.load_profiles(&paths).await }
}

/// The profiles that change. Pure.
fn with_numbers(profiles: &[ProfileFile], numbers: &BTreeMap<String, u16>) -> Vec<ProfileFile> {
    let altered = |profile: &ProfileFile| {
        let number = numbers.get(profile.interface()?)?;
        let content = with_number(&profile.content, *number);
        (content != profile.content).then(|| ProfileFile { content, ..profile.clone() })
    };
    profiles.iter().filter(|profile| profile.is_interface_of_ovs_port()).filter_map(altered).collect()
}

fn with_number(content: &str, number: u16) -> String {
    let entry = format!("{KEY}={number}\n");
    let mut kept = String::with_capacity(content.len() + entry.len());
    let mut written = false;
    for (text, line) in content.lines().zip(lines(content)) {
        if matches!(line, Line::Entry { section: SECTION, key: KEY, .. }) {
            continue;
        }
        kept.push_str(text);
        kept.push('\n');
        if line == Line::Section(SECTION) {
            kept.push_str(&entry);
            written = true;
        }
    }
    if !written {
        kept.push_str(&format!("\n[{SECTION}]\n{entry}type=system\n"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETH1: &str =
        "[connection]\nid=eth1\ntype=ethernet\ncontroller=port\ninterface-name=eth1\nport-type=ovs-port\n";

    fn file(content: &str) -> ProfileFile {
        ProfileFile { path: "/etc/eth1.nmconnection".into(), mode: 0o600, content: content.into() }
    }

    #[test]
    fn the_number_is_added_or_replaced() {
        let section = "\n[ovs-interface]\nofport-request=5\ntype=system\n";
        assert_eq!(with_number(ETH1, 5), format!("{ETH1}{section}"));
        let other =
            format!("{ETH1}\n[ovs-interface]\ntype=system\nofport-request=3\n\n[ipv4]\nmethod=disabled\n");
        let expected = format!("{ETH1}{section}\n[ipv4]\nmethod=disabled\n");
        assert_eq!(with_number(&other, 5), expected);
        assert_eq!(with_number(&expected, 5), expected, "it is there already");
    }

    #[test]
    fn only_profiles_of_uplinks_change() {
        let numbers = BTreeMap::from([("eth1".to_owned(), 5)]);
        let altered = |content: &str| with_numbers(&[file(content)], &numbers).len();
        assert_eq!(altered(ETH1), 1);
        assert_eq!(altered(&ETH1.replace("port-type", "slave-type")), 1, "older versions write it so");
        assert_eq!(altered(&ETH1.replace("=eth1", "=eth2")), 0);
        assert_eq!(altered(&ETH1.replace("port-type=ovs-port\n", "")), 0, "a plain NIC");
        assert_eq!(altered(&ETH1.replace("=ovs-port", "=ovs-bridge")), 0, "the port, not the interface");
    }
}
