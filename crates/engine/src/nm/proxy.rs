//! NetworkManager's D-Bus interfaces, as far as the transaction needs them beside nmstate.

use std::collections::HashMap;

use zbus::proxy;
use zbus::zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Value};

#[proxy(
    interface = "org.freedesktop.NetworkManager",
    default_service = "org.freedesktop.NetworkManager",
    default_path = "/org/freedesktop/NetworkManager",
    gen_blocking = false
)]
pub trait NetworkManager {
    #[zbus(property(emits_changed_signal = "false"))]
    fn version(&self) -> zbus::Result<String>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn capabilities(&self) -> zbus::Result<Vec<u32>>;

    /// True from its first moment on the bus until every device that it found has come to rest.
    #[zbus(property(emits_changed_signal = "false"))]
    fn startup(&self) -> zbus::Result<bool>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn checkpoints(&self) -> zbus::Result<Vec<OwnedObjectPath>>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn global_dns_configuration(&self) -> zbus::Result<HashMap<String, OwnedValue>>;

    #[zbus(property)]
    fn set_global_dns_configuration(&self, value: Value<'_>) -> zbus::Result<()>;

    fn checkpoint_destroy(&self, checkpoint: &ObjectPath<'_>) -> zbus::Result<()>;

    fn checkpoint_rollback(&self, checkpoint: &ObjectPath<'_>) -> zbus::Result<HashMap<String, u32>>;

    fn checkpoint_adjust_rollback_timeout(
        &self,
        checkpoint: &ObjectPath<'_>,
        add_timeout: u32,
    ) -> zbus::Result<()>;

    fn activate_connection(
        &self,
        connection: &ObjectPath<'_>,
        device: &ObjectPath<'_>,
        specific_object: &ObjectPath<'_>,
    ) -> zbus::Result<OwnedObjectPath>;

    fn deactivate_connection(&self, active_connection: &ObjectPath<'_>) -> zbus::Result<()>;
}

#[proxy(
    interface = "org.freedesktop.NetworkManager.Settings",
    default_service = "org.freedesktop.NetworkManager",
    default_path = "/org/freedesktop/NetworkManager/Settings",
    gen_blocking = false
)]
pub trait Settings {
    fn get_connection_by_uuid(&self, uuid: &str) -> zbus::Result<OwnedObjectPath>;

    fn load_connections(&self, filenames: &[&str]) -> zbus::Result<(bool, Vec<String>)>;

    fn reload_connections(&self) -> zbus::Result<bool>;

    fn save_hostname(&self, hostname: &str) -> zbus::Result<()>;
}

#[proxy(
    interface = "org.freedesktop.NetworkManager.Settings.Connection",
    default_service = "org.freedesktop.NetworkManager",
    gen_blocking = false
)]
pub trait Connection {
    fn delete(&self) -> zbus::Result<()>;
}

#[proxy(
    interface = "org.freedesktop.NetworkManager.Device",
    default_service = "org.freedesktop.NetworkManager",
    gen_blocking = false
)]
pub trait Device {
    fn delete(&self) -> zbus::Result<()>;

    fn get_applied_connection(
        &self,
        flags: u32,
    ) -> zbus::Result<(HashMap<String, HashMap<String, OwnedValue>>, u64)>;

    fn reapply(
        &self,
        settings: HashMap<String, HashMap<String, OwnedValue>>,
        version: u64,
        flags: u32,
    ) -> zbus::Result<()>;
}
