//! Resources of the units, through systemd's D-Bus interface. They are set for the time until the next boot: without the keeper,
//! the host starts with what its units say.

use std::collections::BTreeMap;

use zbus::zvariant::{OwnedObjectPath, OwnedValue, Value};
use zbus::{Connection, proxy};

use super::decide::Change;
use super::key::{Daemon, Target, UnitProperty};
use super::value::INFINITY;

#[proxy(
    interface = "org.freedesktop.systemd1.Manager",
    default_service = "org.freedesktop.systemd1",
    default_path = "/org/freedesktop/systemd1",
    gen_blocking = false
)]
trait Manager {
    fn load_unit(&self, name: &str) -> zbus::Result<OwnedObjectPath>;

    fn set_unit_properties(
        &self,
        name: &str,
        runtime: bool,
        properties: &[(&str, Value<'_>)],
    ) -> zbus::Result<()>;

    fn restart_unit(&self, name: &str, mode: &str) -> zbus::Result<OwnedObjectPath>;
}

const SERVICE: &str = "org.freedesktop.systemd1.Service";
/// In a second of a quota of 100 %.
const MICROSECONDS: u64 = 1_000_000;

pub async fn read(bus: &Connection, daemon: Daemon) -> zbus::Result<BTreeMap<UnitProperty, String>> {
    let path = ManagerProxy::new(bus).await?.load_unit(daemon.unit()).await?;
    let properties = zbus::fdo::PropertiesProxy::new(bus, "org.freedesktop.systemd1", path).await?;
    let interface = SERVICE.try_into().map_err(zbus::Error::from)?;
    let all = properties.get_all(interface).await?;
    Ok(UnitProperty::ALL
        .into_iter()
        .filter_map(|property| Some((property, value(property, &all)?)))
        .collect())
}

fn value(property: UnitProperty, all: &std::collections::HashMap<String, OwnedValue>) -> Option<String> {
    let number = u64::try_from(all.get(property.on_the_bus())?).ok()?;
    Some(match property {
        _ if number == u64::MAX => INFINITY.to_owned(),
        UnitProperty::CpuQuota => format!("{}%", number * 100 / MICROSECONDS),
        _ => number.to_string(),
    })
}

/// All changes of the unit.
pub async fn write(bus: &Connection, daemon: Daemon, changes: &[&Change]) -> zbus::Result<()> {
    let properties: Vec<(&str, Value<'_>)> = changes
        .iter()
        .filter_map(|change| match (&change.target, &change.to) {
            (Target::Unit { daemon: of, property }, Some(to)) if *of == daemon => {
                Some((property.on_the_bus(), Value::U64(number(*property, to)?)))
            }
            _ => None,
        })
        .collect();
    ManagerProxy::new(bus).await?.set_unit_properties(daemon.unit(), true, &properties).await
}

fn number(property: UnitProperty, text: &str) -> Option<u64> {
    match property {
        _ if text == INFINITY => Some(u64::MAX),
        UnitProperty::CpuQuota => {
            text.strip_suffix('%')?.parse::<u64>().ok()?.checked_mul(MICROSECONDS / 100)
        }
        _ => text.parse().ok(),
    }
}

/// Returns when systemd has accepted the job.
pub async fn restart_vswitchd(bus: &Connection) -> zbus::Result<()> {
    ManagerProxy::new(bus).await?.restart_unit(Daemon::OvsVswitchd.unit(), "replace").await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_systemds_numbers() {
        assert_eq!(number(UnitProperty::CpuQuota, "150%"), Some(1_500_000));
        assert_eq!(number(UnitProperty::MemoryHigh, INFINITY), Some(u64::MAX));
        assert_eq!(number(UnitProperty::TasksMax, "many"), None);
        let of = |property: UnitProperty, number: u64| {
            value(property, &[(property.on_the_bus().to_owned(), number.into())].into())
        };
        assert_eq!(of(UnitProperty::CpuQuota, 1_500_000).as_deref(), Some("150%"));
        assert_eq!(of(UnitProperty::MemoryMax, u64::MAX).as_deref(), Some(INFINITY));
    }
}
