//! Profiles of configure-ovs that a change has taken over get names of their own.
//!
//! nmstate writes into the profile that an interface runs on, and keeps its name. configure-ovs deletes the profiles of its
//! names wherever it finds them, in /etc too: were it to run again, it would take away the only profile of the NIC.

use std::collections::BTreeSet;
use std::path::PathBuf;

use linesman_core::configure_ovs::is_named_by_it;
use linesman_core::interface_name::InterfaceName;
use linesman_core::keyfile::{Line, lines};
use linesman_core::plan::Plan;

use crate::keyfile::{ON_DISK, ProfileFile};
use crate::nm::Nm;
use crate::{Error, Result, atomic_file, observe};

/// Called when everything has passed. Returns what could not be renamed: a change that works is not rolled back for it.
pub async fn replace(nm: &Nm, plan: &Plan) -> Vec<String> {
    match rename_all(nm, &plan.touched).await {
        Ok(()) => Vec::new(),
        Err(e) => vec![format!("profiles of configure-ovs were not renamed: {e}")],
    }
}

async fn rename_all(nm: &Nm, touched: &BTreeSet<InterfaceName>) -> Result<()> {
    let renamed = renamed(&observe::profiles()?, touched);
    // The new file first: a power cut between the two leaves the same profile twice, and none lost.
    for (_, to) in &renamed {
        atomic_file::write(&to.path, to.content.as_bytes(), to.mode)
            .map_err(|e| Error::call("writing a profile", e))?;
    }
    for (from, _) in &renamed {
        std::fs::remove_file(&from.path).map_err(|e| Error::call("removing a profile", e))?;
    }
    let paths = renamed.iter().flat_map(|(from, to)| [&to.path, &from.path]).filter_map(|path| path.to_str());
    let paths: Vec<&str> = paths.collect();
    if paths.is_empty() { Ok(()) } else { nm.load_profiles(&paths).await }
}

/// Each profile that gets another name, as it was and as it will be. Pure.
fn renamed(profiles: &[ProfileFile], touched: &BTreeSet<InterfaceName>) -> Vec<(ProfileFile, ProfileFile)> {
    let is_touched = |profile: &&ProfileFile| profile.interface().is_some_and(|name| touched.contains(name));
    let candidates = profiles.iter().filter(|p| p.on_disk()).filter(is_touched);
    let mut all: Vec<(ProfileFile, ProfileFile)> = Vec::new();
    for profile in candidates.filter(|profile| is_borrowed(profile, profiles)) {
        let Some(wanted) = own_name(profile) else { continue };
        let is_taken = |name: &str| {
            let taken = |known: &ProfileFile| known.path == path_of(name) || known.id() == Some(name);
            profiles.iter().any(taken) || all.iter().any(|(_, to)| taken(to))
        };
        let others = (2..).map(|number| format!("{wanted}-{number}"));
        let Some(name) = std::iter::once(wanted.clone()).chain(others).find(|name| !is_taken(name)) else {
            continue;
        };
        let content = with_id(&profile.content, &name);
        all.push((profile.clone(), ProfileFile { path: path_of(&name), content, ..profile.clone() }));
    }
    all
}

fn is_borrowed(profile: &ProfileFile, profiles: &[ProfileFile]) -> bool {
    let (id, kind) = (profile.id().unwrap_or_default(), profile.kind().unwrap_or_default());
    is_named_by_it(id, kind, profiles.iter().filter_map(ProfileFile::id))
}

/// As nmstate calls the profiles that it makes.
fn own_name(profile: &ProfileFile) -> Option<String> {
    let interface = profile.interface()?;
    Some(match profile.kind()? {
        "ovs-bridge" => format!("{interface}-br"),
        "ovs-port" => format!("{interface}-port"),
        "ovs-interface" => format!("{interface}-if"),
        _ => interface.to_owned(),
    })
}

fn path_of(name: &str) -> PathBuf {
    format!("{ON_DISK}/{name}.nmconnection").into()
}

fn with_id(content: &str, id: &str) -> String {
    let is_id = |line: &Line<'_>| matches!(line, Line::Entry { section: "connection", key: "id", .. });
    let line = |(text, line): (&str, Line<'_>)| {
        if is_id(&line) { format!("id={id}\n") } else { format!("{text}\n") }
    };
    content.lines().zip(lines(content)).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(id: &str, kind: &str, interface: &str) -> ProfileFile {
        ProfileFile {
            path: format!("{ON_DISK}/{id}.nmconnection").into(),
            mode: 0o600,
            content: format!(
                "[connection]\nid={id}\nuuid=u\ntype={kind}\ninterface-name={interface}\n\n[ipv4]\nid=x\n"
            ),
        }
    }

    fn set() -> Vec<ProfileFile> {
        vec![
            profile("br-ex", "ovs-bridge", "br-ex"),
            profile("ovs-if-br-ex", "ovs-interface", "br-ex"),
            profile("ovs-if-phys0", "ethernet", "eth0"),
            profile("ovs-port-br-ex", "ovs-port", "br-ex"),
            profile("ovs-port-phys0", "ovs-port", "eth0"),
        ]
    }

    fn names(profiles: &[ProfileFile], touched: &[&str]) -> Vec<(String, String)> {
        let touched = touched.iter().copied().map(InterfaceName::from).collect();
        let id = |profile: &ProfileFile| profile.id().unwrap_or_default().to_owned();
        renamed(profiles, &touched).iter().map(|(from, to)| (id(from), id(to))).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
    }

    #[test]
    fn all_five_are_renamed_and_nothing_else_in_them_changes() {
        let expected = pairs(&[
            ("br-ex", "br-ex-br"),
            ("ovs-if-br-ex", "br-ex-if"),
            ("ovs-if-phys0", "eth0"),
            ("ovs-port-br-ex", "br-ex-port"),
            ("ovs-port-phys0", "eth0-port"),
        ]);
        assert_eq!(names(&set(), &["br-ex", "eth0"]), expected);
        assert_eq!(with_id("[connection]\nid=a\n[x]\nid=b\n", "c"), "[connection]\nid=c\n[x]\nid=b\n");
    }

    #[test]
    fn ports_of_a_bond_are_renamed_too() {
        let bond =
            [profile("eth1-slave-ovs-clone", "ethernet", "eth1"), profile("ovs-if-phys0", "bond", "bond0")];
        let expected = pairs(&[("eth1-slave-ovs-clone", "eth1"), ("ovs-if-phys0", "bond0")]);
        assert_eq!(names(&bond, &["bond0", "eth1"]), expected);
    }

    #[test]
    fn what_is_not_touched_or_not_theirs_stays() {
        assert_eq!(names(&set(), &["eth1"]), []);
        assert_eq!(names(&[profile("br-ex", "ovs-bridge", "br-ex")], &["br-ex"]), [], "somebody's bridge");
        let both = [profile("ovs-if-phys0", "ethernet", "eth0"), profile("eth0", "ethernet", "eth0")];
        assert_eq!(names(&both, &["eth0"]), pairs(&[("ovs-if-phys0", "eth0-2")]), "the name is taken");
        let mut in_memory = profile("ovs-if-phys0", "ethernet", "eth0");
        in_memory.path = format!("{}/ovs-if-phys0.nmconnection", crate::keyfile::IN_MEMORY).into();
        assert_eq!(names(&[in_memory], &["eth0"]), [], "it goes at the next boot");
    }
}
