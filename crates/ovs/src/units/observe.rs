//! Reads the units from systemd.

use zbus::Connection;
use zbus::proxy::CacheProperties;
use zbus::zvariant::OwnedObjectPath;

use super::observed::{Exit, ObservedUnit, Unit};
use super::systemd::{ManagerProxy, ServiceProxy, UnitObjectProxy};

/// A connection to systemd.
#[derive(Clone, Debug)]
pub struct Systemd {
    pub(super) connection: Connection,
}

impl Systemd {
    /// Signals arrive as long as it lives.
    pub async fn connect() -> zbus::Result<Self> {
        let systemd = Self { connection: Connection::system().await? };
        systemd.manager().await?.subscribe().await?;
        Ok(systemd)
    }

    pub(super) async fn manager(&self) -> zbus::Result<ManagerProxy<'static>> {
        ManagerProxy::builder(&self.connection).cache_properties(CacheProperties::No).build().await
    }

    /// Its objects, whether the units exist or not.
    pub(super) async fn paths(&self) -> zbus::Result<Vec<(Unit, OwnedObjectPath)>> {
        let manager = self.manager().await?;
        let mut paths = Vec::new();
        for unit in Unit::ALL {
            paths.push((unit, manager.load_unit(unit.name()).await?));
        }
        Ok(paths)
    }

    /// On Debian, openvswitch.service is an alias of the other umbrella: that one is left out.
    pub async fn units(&self) -> zbus::Result<Vec<ObservedUnit>> {
        let mut units = Vec::new();
        for (unit, path) in self.paths().await? {
            units.extend(self.unit(unit, &path).await?);
        }
        Ok(units)
    }

    async fn unit(&self, unit: Unit, path: &OwnedObjectPath) -> zbus::Result<Option<ObservedUnit>> {
        let object = UnitObjectProxy::builder(&self.connection).cache_properties(CacheProperties::No);
        let object = object.path(path.clone())?.build().await?;
        let service = ServiceProxy::builder(&self.connection).cache_properties(CacheProperties::No);
        let service = service.path(path.clone())?.build().await?;
        if object.id().await? != unit.name() {
            return Ok(None);
        }
        let exit = exit(service.exec_main_code().await?, service.exec_main_status().await?);
        let invocation: String =
            object.invocation_id().await?.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(ObservedUnit {
            unit,
            load_state: object.load_state().await?.into(),
            active_state: object.active_state().await?.into(),
            sub_state: object.sub_state().await?,
            unit_file_state: object.unit_file_state().await?.into(),
            main_pid: Some(service.main_pid().await?).filter(|pid| *pid != 0),
            invocation_id: Some(invocation).filter(|id| id.contains(|digit| digit != '0')),
            started_at: Some(object.active_enter_timestamp().await? / 1_000_000).filter(|at| *at != 0),
            systemd_restarts: service.n_restarts().await?,
            result: service.result().await?,
            exit,
            memory_current: Some(service.memory_current().await?).filter(|bytes| *bytes != u64::MAX),
        }))
    }

    /// Nothing is to be started on a host that shuts down.
    pub async fn is_stopping(&self) -> zbus::Result<bool> {
        Ok(self.manager().await?.system_state().await? == "stopping")
    }
}

fn exit(code: i32, status: i32) -> Option<Exit> {
    match code {
        1 => Some(Exit::Exited(status)),
        2 => Some(Exit::Killed(status)),
        3 => Some(Exit::Dumped(status)),
        _ => None,
    }
}
