//! Which profile files must be written or removed to be back at the snapshot. Pure, but for `write`.

use std::collections::BTreeSet;

use linesman_core::interface_name::InterfaceName;
use linesman_core::plan::{Plan, Subject};

use crate::atomic_file;
use crate::keyfile::ProfileFile;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repair {
    pub write: Vec<ProfileFile>,
    pub remove: Vec<ProfileFile>,
}

/// Profiles of interfaces that the change did not touch are somebody else's business; one that a power cut left without
/// content is nobody's.
pub fn repair(before: &[ProfileFile], now: &[ProfileFile], plan: &Plan) -> Repair {
    let touched = touched(before, now, plan);
    let ours = |p: &ProfileFile| p.interface().is_none_or(|i| touched.contains(i));
    let lost = |p: &ProfileFile| now.iter().any(|n| n.path == p.path && n.is_blank());
    let write = before
        .iter()
        .filter(|p| (ours(p) || lost(p)) && !now.iter().any(|n| n.same_profile(p)))
        .cloned()
        .collect();
    let remove = now
        .iter()
        .filter(|n| n.is_blank() || (ours(n) && n.interface().is_some()))
        .filter(|n| !before.iter().any(|p| p.path == n.path))
        .cloned()
        .collect();
    Repair { write, remove }
}

/// Rules belong to no interface; nmstate keeps them in whatever profile it finds fit, the loopback's if need be.
fn touched(before: &[ProfileFile], now: &[ProfileFile], plan: &Plan) -> BTreeSet<InterfaceName> {
    let mut touched = plan.touched.clone();
    if plan.changes.iter().any(|change| matches!(change.subject, Subject::RouteRule { .. })) {
        let keepers = before.iter().chain(now).filter(|p| p.has_rules());
        touched.extend(keepers.filter_map(|p| p.interface()).map(InterfaceName::from));
    }
    touched
}

impl Repair {
    pub fn is_empty(&self) -> bool {
        self.write.is_empty() && self.remove.is_empty()
    }

    /// Interfaces that run on the wrong profile still.
    pub fn interfaces(&self) -> BTreeSet<InterfaceName> {
        let removed = self.remove.iter().filter(|p| p.kind() != Some("tun"));
        self.write.iter().chain(removed).filter_map(|p| p.interface()).map(InterfaceName::from).collect()
    }

    /// Internal ports of userspace bridges whose name was taken. To the kernel such a port is a tun device,
    /// and NetworkManager's checkpoint remembers it as one: rolling back, it makes that device by itself.
    pub fn usurped(&self) -> BTreeSet<InterfaceName> {
        let tuns = self.remove.iter().filter(|p| p.kind() == Some("tun"));
        tuns.filter_map(|p| p.interface()).map(InterfaceName::from).collect()
    }

    /// With or without a running NetworkManager: at boot this alone brings the former state back.
    pub fn write_files(&self) -> std::io::Result<()> {
        for profile in &self.remove {
            match std::fs::remove_file(&profile.path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        for profile in &self.write {
            if let Some(dir) = profile.path.parent() {
                std::fs::create_dir_all(dir)?;
            }
            atomic_file::write(&profile.path, profile.content.as_bytes(), profile.mode)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linesman_core::plan::{Change, ChangeKind};

    fn profile(interface: &str, uuid: &str, method: &str) -> ProfileFile {
        ProfileFile {
            path: format!("{}/{interface}-{uuid}.nmconnection", crate::keyfile::ON_DISK).into(),
            mode: 0o600,
            content: format!(
                "[connection]\nuuid={uuid}\ninterface-name={interface}\n[ipv4]\nmethod={method}\n"
            ),
        }
    }

    fn plan(touched: &[&str]) -> Plan {
        Plan { touched: touched.iter().copied().map(InterfaceName::from).collect(), ..Plan::default() }
    }

    #[test]
    fn profiles_that_keep_rules_are_touched_by_a_change_of_rules() {
        let with_rule = |interface, uuid| {
            let plain = profile(interface, uuid, "manual");
            ProfileFile {
                content: format!("{}routing-rule1=priority 5 from 10.0.0.0/8\n", plain.content),
                ..plain
            }
        };
        let before = [profile("eth0", "1", "manual")];
        let now = [with_rule("eth0", "1"), with_rule("lo", "2")];
        assert!(repair(&before, &now, &plan(&[])).is_empty());
        let subject = Subject::RouteRule { selector: String::new() };
        let change = Change { kind: ChangeKind::Add, subject, details: Vec::new() };
        let repair = repair(&before, &now, &Plan { changes: vec![change], ..Plan::default() });
        assert_eq!((repair.write, repair.remove), (before.to_vec(), now[1..].to_vec()));
    }

    #[test]
    fn brings_back_what_changed_and_removes_what_is_new() {
        let plan = plan(&["eth0", "br-ex"]);
        let before = [profile("eth0", "1", "manual"), profile("eth1", "2", "auto")];
        let now = [
            profile("eth0", "1", "disabled"),
            profile("eth1", "2", "manual"),
            profile("br-ex", "3", "manual"),
        ];
        let repair = repair(&before, &now, &plan);
        assert_eq!(repair.write, [profile("eth0", "1", "manual")]);
        assert_eq!(repair.remove, [profile("br-ex", "3", "manual")]);
    }

    #[test]
    fn a_tun_device_that_took_a_ports_name_goes_and_nothing_else_is_disturbed() {
        let mut impostor = profile("br-ex", "4", "manual");
        impostor.content = impostor.content.replace("[connection]", "[connection]\ntype=tun");
        let plan = plan(&["br-ex"]);
        let before = [profile("br-ex", "3", "manual")];
        let repair = repair(&before, &[before[0].clone(), impostor.clone()], &plan);
        assert_eq!(repair.remove, [impostor]);
        assert_eq!((repair.interfaces(), repair.usurped()), (BTreeSet::new(), plan.touched));
    }

    #[test]
    fn a_profile_that_a_power_cut_left_without_content_is_restored_or_removed() {
        let blank = |profile: ProfileFile| ProfileFile { content: "\0\0".into(), ..profile };
        let before =
            [profile("eth0", "1", "manual"), profile("eth1", "2", "auto"), blank(profile("x", "9", ""))];
        let now = [
            blank(profile("eth0", "1", "manual")),
            blank(profile("eth1", "2", "auto")),
            blank(profile("br-ex", "3", "manual")),
            blank(profile("x", "9", "")),
        ];
        let repair = repair(&before, &now, &plan(&["eth0", "br-ex"]));
        assert_eq!(repair.write, before[..2], "also of an interface that the change did not touch");
        assert_eq!(repair.remove, [blank(profile("br-ex", "3", "manual"))], "and not what was so before");
    }

    #[test]
    fn nothing_to_do_when_nothing_differs() {
        let before = [profile("eth0", "1", "manual")];
        assert!(repair(&before, &before, &plan(&["eth0"])).is_empty());
    }
}
