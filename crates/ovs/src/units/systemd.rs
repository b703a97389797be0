//! systemd's D-Bus interfaces, as far as the keeper needs them.

use zbus::proxy;
use zbus::zvariant::{ObjectPath, OwnedObjectPath};

#[proxy(
    interface = "org.freedesktop.systemd1.Manager",
    default_service = "org.freedesktop.systemd1",
    default_path = "/org/freedesktop/systemd1",
    gen_blocking = false
)]
pub trait Manager {
    /// Without it, systemd sends no signals; it holds as long as the connection is open.
    fn subscribe(&self) -> zbus::Result<()>;

    /// Also of units that are not in memory, and of those that do not exist.
    fn load_unit(&self, name: &str) -> zbus::Result<OwnedObjectPath>;

    fn start_unit(&self, name: &str, mode: &str) -> zbus::Result<OwnedObjectPath>;

    fn kill_unit(&self, name: &str, whom: &str, signal: i32) -> zbus::Result<()>;

    fn reset_failed_unit(&self, name: &str) -> zbus::Result<()>;

    #[allow(clippy::type_complexity, reason = "systemd's signature")]
    fn enable_unit_files(
        &self,
        files: &[&str],
        runtime: bool,
        force: bool,
    ) -> zbus::Result<(bool, Vec<(String, String, String)>)>;

    fn reload(&self) -> zbus::Result<()>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn system_state(&self) -> zbus::Result<String>;

    #[zbus(signal)]
    fn job_removed(&self, id: u32, job: ObjectPath<'_>, unit: &str, result: &str) -> zbus::Result<()>;
}

#[proxy(
    interface = "org.freedesktop.systemd1.Unit",
    default_service = "org.freedesktop.systemd1",
    gen_blocking = false
)]
pub trait UnitObject {
    /// Differs from the name that was asked for if that is an alias.
    #[zbus(property(emits_changed_signal = "false"))]
    fn id(&self) -> zbus::Result<String>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn load_state(&self) -> zbus::Result<String>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn active_state(&self) -> zbus::Result<String>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn sub_state(&self) -> zbus::Result<String>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn unit_file_state(&self) -> zbus::Result<String>;

    /// In microseconds since 1970.
    #[zbus(property(emits_changed_signal = "false"))]
    fn active_enter_timestamp(&self) -> zbus::Result<u64>;

    #[zbus(property(emits_changed_signal = "false"), name = "InvocationID")]
    fn invocation_id(&self) -> zbus::Result<Vec<u8>>;
}

#[proxy(
    interface = "org.freedesktop.systemd1.Service",
    default_service = "org.freedesktop.systemd1",
    gen_blocking = false
)]
pub trait Service {
    #[zbus(property(emits_changed_signal = "false"), name = "MainPID")]
    fn main_pid(&self) -> zbus::Result<u32>;

    #[zbus(property(emits_changed_signal = "false"), name = "NRestarts")]
    fn n_restarts(&self) -> zbus::Result<u32>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn result(&self) -> zbus::Result<String>;

    /// CLD_EXITED, CLD_KILLED or CLD_DUMPED; 0 while the first process runs.
    #[zbus(property(emits_changed_signal = "false"))]
    fn exec_main_code(&self) -> zbus::Result<i32>;

    #[zbus(property(emits_changed_signal = "false"))]
    fn exec_main_status(&self) -> zbus::Result<i32>;

    /// `u64::MAX` where it is not accounted for.
    #[zbus(property(emits_changed_signal = "false"))]
    fn memory_current(&self) -> zbus::Result<u64>;
}
