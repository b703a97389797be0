//! What others did with NetworkManager during the change.
//!
//! NetworkManager's checkpoint is of the whole host: its rollback deletes every profile that came since, and sets every other
//! one back, also those of interfaces that the change does not touch. What differs between the end of the apply and the
//! rollback is nobody's but others', and comes back.

use std::collections::BTreeSet;

use linesman_core::interface_name::InterfaceName;

use crate::keyfile::ProfileFile;
use crate::nm::{Nm, NmView};
use crate::{atomic_file, observe};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Bystanders {
    written: Vec<ProfileFile>,
    removed: Vec<ProfileFile>,
    /// The profiles among them that were active, and where.
    active: Vec<(String, String)>,
}

impl Bystanders {
    /// Before the rollback. `applied`: the profiles when the change was applied.
    pub async fn observe(
        nm: &Nm,
        applied: Option<&[ProfileFile]>,
        touched: &BTreeSet<InterfaceName>,
    ) -> Self {
        let Some(applied) = applied else { return Self::default() };
        match (observe::profiles(), nm.view().await) {
            (Ok(now), Ok(view)) => Self::of(applied, &now, &view, touched),
            _ => Self::default(),
        }
    }

    fn of(
        applied: &[ProfileFile],
        now: &[ProfileFile],
        view: &NmView,
        touched: &BTreeSet<InterfaceName>,
    ) -> Self {
        let is_theirs = |profile: &&ProfileFile| {
            profile.on_disk() && !profile.interface().is_some_and(|name| touched.contains(name))
        };
        let is_in =
            |list: &[ProfileFile], profile: &ProfileFile| list.iter().any(|one| one.same_profile(profile));
        let written: Vec<ProfileFile> =
            now.iter().filter(is_theirs).filter(|profile| !is_in(applied, profile)).cloned().collect();
        let is_gone = |profile: &&ProfileFile| !now.iter().any(|one| one.path == profile.path);
        let removed = applied.iter().filter(is_theirs).filter(is_gone).cloned().collect();
        let uuids = written.iter().filter_map(ProfileFile::uuid);
        let active = uuids.filter_map(|uuid| Some((uuid.to_owned(), view.active_on(uuid)?))).collect();
        Self { written, removed, active }
    }

    /// After the rollback. Returns what could not be done.
    pub async fn restore(&self, nm: &Nm) -> Vec<String> {
        let mut left = Vec::new();
        for uuid in self.removed.iter().filter_map(ProfileFile::uuid) {
            if let Err(e) = nm.delete_profile(uuid).await {
                left.push(format!("a profile that others had deleted during the change: {e}"));
            }
        }
        let Ok(now) = observe::profiles() else { return left };
        let missing = |profile: &&ProfileFile| !now.iter().any(|one| one.same_profile(profile));
        for profile in self.written.iter().filter(missing) {
            if let Err(e) = self.bring_back(nm, profile).await {
                left.push(format!("{}, which others wrote during the change: {e}", profile.path.display()));
            }
        }
        left
    }

    async fn bring_back(&self, nm: &Nm, profile: &ProfileFile) -> crate::Result<()> {
        atomic_file::write(&profile.path, profile.content.as_bytes(), profile.mode)
            .map_err(|e| crate::Error::call("writing a profile", e))?;
        nm.load_profiles(&[&profile.path.to_string_lossy()]).await?;
        let uuid = profile.uuid().unwrap_or_default();
        if self.active.iter().any(|(active, _)| active == uuid) {
            nm.activate(uuid, None).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyfile::ON_DISK;
    use crate::nm::{Active, Device};

    fn profile(name: &str, more: &str) -> ProfileFile {
        let content = format!("[connection]\nuuid=u-{name}\ninterface-name={name}\n{more}");
        ProfileFile { path: format!("{ON_DISK}/{name}.nmconnection").into(), mode: 0o600, content }
    }

    #[test]
    fn what_others_wrote_or_deleted_elsewhere_is_theirs() {
        let applied = [profile("eth0", ""), profile("eth1", ""), profile("eth2", ""), profile("br1", "")];
        let edited = profile("eth0", "[ipv4]\nmethod=manual\naddress1=10.0.0.9/24\n");
        let now = [
            edited.clone(),
            profile("new", ""),
            profile("br1", "mtu=1400\n"),
            profile("eth1", "timestamp=9\n"),
        ];
        let view = NmView {
            devices: vec![Device { path: "/d/1".into(), interface: "eth0".into(), ..Device::default() }],
            active: vec![Active {
                uuid: "u-eth0".into(),
                devices: vec!["/d/1".into()],
                up: true,
                ..Active::default()
            }],
            ..NmView::default()
        };
        let touched = [InterfaceName::from("br1")].into();
        let expected = Bystanders {
            written: vec![edited, profile("new", "")],
            removed: vec![profile("eth2", "")],
            active: vec![("u-eth0".into(), "eth0".into())],
        };
        assert_eq!(Bystanders::of(&applied, &now, &view, &touched), expected);
    }
}
