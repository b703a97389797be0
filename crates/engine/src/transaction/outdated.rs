//! Interfaces that have to go before their new profiles can be activated.

use linesman_core::plan::{self, Outdated, Plan};

use crate::nm::{Nm, NmView};
use crate::{failpoint, uppers};

/// Deactivates their profiles once the checkpoint is there: it knows them as active, so that NetworkManager alone can bring them
/// back. nmstate is at work meanwhile; a profile that it activates too early fails, and it tries again.
pub async fn take_away(nm: &Nm, plan: &Plan, checkpoint: impl Future<Output = ()>) {
    let outdated: Vec<Outdated> = plan::outdated(plan)
        .into_iter()
        .filter(|one| one.moves || !uppers::has_any(one.interface.as_str()))
        .collect();
    if outdated.is_empty() {
        return;
    }
    checkpoint.await;
    let Ok(view) = nm.view().await else { return };
    for (interface, active) in active(&view, &outdated) {
        tracing::info!(interface, "NetworkManager can only make it anew");
        if let Err(error) = nm.deactivate(active).await {
            tracing::warn!(interface, %error, "cannot take it away");
        }
    }
    failpoint::reach("taken-away").await;
}

/// Those that run a profile, with their active connections. Pure.
fn active<'a>(view: &'a NmView, outdated: &[Outdated]) -> Vec<(&'a str, &'a str)> {
    let named = |interface: &str| outdated.iter().any(|one| one.interface.as_str() == interface);
    let devices =
        view.devices.iter().filter(|device| device.software && device.real && named(&device.interface));
    devices.filter_map(|device| Some((device.interface.as_str(), device.active.as_deref()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nm::Device;

    #[test]
    fn only_interfaces_that_networkmanager_has_made_and_runs() {
        let device = |interface: &str, active: Option<&str>| Device {
            interface: interface.to_owned(),
            active: active.map(str::to_owned),
            software: true,
            real: true,
            ..Device::default()
        };
        let nic = Device { software: false, ..device("m3", Some("/3")) };
        let devices = vec![device("m1", Some("/1")), device("m2", None), nic, device("m4", Some("/4"))];
        let view = NmView { devices, ..NmView::default() };
        let outdated = ["m1", "m2", "m3"].map(|name| Outdated { interface: name.into(), moves: true });
        assert_eq!(active(&view, &outdated), [("m1", "/1")]);
    }
}
