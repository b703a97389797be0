//! NetworkManager over D-Bus: checkpoints, profiles, devices, DNS.
//!
//! nmstate makes the change; this is what the transaction must see and do itself, in few calls.

mod dns;
mod proxy;
mod view;

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt;
use zbus::zvariant::{ObjectPath, OwnedObjectPath};

pub use dns::GlobalDns;
pub use linesman_core::version::{DNS_IN_CHECKPOINT, OLDEST, at_least};
pub use view::{Active, Device, NmView, SavedProfile};

use crate::{Error, Result, descriptors};

const CALL: Duration = Duration::from_secs(25);

/// NetworkManager's words for where addresses come from: `auto`, `manual`, `disabled`, …
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpMethods {
    pub v4: String,
    pub v6: String,
    pub automatic4: Automatic,
    pub automatic6: Automatic,
}

/// What is made of what DHCP and router advertisements say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Automatic {
    /// -1: NetworkManager's own choice.
    pub metric: i64,
    /// 0: the main table.
    pub table: u32,
    pub dns: bool,
    pub routes: bool,
    pub gateway: bool,
}

impl Default for Automatic {
    fn default() -> Self {
        Self { metric: -1, table: 0, dns: true, routes: true, gateway: true }
    }
}

/// A connection to NetworkManager. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Nm {
    bus: zbus::Connection,
    root: proxy::NetworkManagerProxy<'static>,
    settings: proxy::SettingsProxy<'static>,
}

impl Nm {
    pub async fn connect() -> Result<Self> {
        let address = std::env::var("DBUS_SYSTEM_BUS_ADDRESS")
            .unwrap_or_else(|_| "unix:path=/run/dbus/system_bus_socket".to_string());
        let no_bus = |source: CallError| match source.no_descriptors() {
            Some(error) => Error::NoDescriptors(error),
            None => Error::NoDbus { address, source },
        };
        let bus = bounded(zbus::Connection::system()).await.map_err(no_bus)?;
        let missing = |e: zbus::Error| Error::NoNetworkManager(e.into());
        let root = uncached(proxy::NetworkManagerProxy::builder(&bus)).await.map_err(missing)?;
        let settings = uncached(proxy::SettingsProxy::builder(&bus)).await.map_err(missing)?;
        let nm = Self { bus, root, settings };
        nm.version().await?;
        Ok(nm)
    }

    pub async fn version(&self) -> Result<String> {
        bounded(self.root.version()).await.map_err(Error::NoNetworkManager)
    }

    /// It was started a moment ago, and has not yet made up its mind about every device.
    pub async fn starting(&self) -> bool {
        bounded(self.root.startup()).await.unwrap_or(false)
    }

    /// Whether a service of that name is on the bus, or would be started on demand.
    pub async fn has_service(&self, name: &str) -> Result<bool> {
        const WHAT: &str = "asking the system bus for its services";
        let bus = zbus::fdo::DBusProxy::new(&self.bus).await.map_err(|e| Error::call(WHAT, e))?;
        let is_meant = |names: Vec<zbus::names::OwnedBusName>| names.iter().any(|n| n.as_str() == name);
        let running = call(WHAT, async { Ok(bus.list_names().await?) }).await?;
        if is_meant(running) {
            return Ok(true);
        }
        Ok(is_meant(call(WHAT, async { Ok(bus.list_activatable_names().await?) }).await?))
    }

    pub async fn has_ovs_plugin(&self) -> bool {
        const OVS: u32 = 2;
        // Without the property (it came with 1.6) nmstate finds out itself.
        bounded(self.root.capabilities()).await.map_or(true, |all| all.contains(&OVS))
    }

    /// Open checkpoints, oldest first, whoever made them.
    pub async fn checkpoints(&self) -> Result<Vec<String>> {
        let paths = call("asking NetworkManager for its checkpoints", self.root.checkpoints()).await?;
        Ok(paths.into_iter().map(|p| p.to_string()).collect())
    }

    /// The next time a checkpoint is made, rolled back or destroyed.
    pub async fn checkpoint_events(&self) -> Result<impl StreamExt<Item = ()> + Unpin + use<>> {
        let failed = |e: zbus::Error| Error::call("watching NetworkManager's checkpoints", e);
        let properties = zbus::fdo::PropertiesProxy::builder(&self.bus)
            .destination("org.freedesktop.NetworkManager")
            .and_then(|b| b.path("/org/freedesktop/NetworkManager"))
            .map_err(failed)?
            .build()
            .await
            .map_err(failed)?;
        let changes = properties.receive_properties_changed().await.map_err(failed)?;
        Ok(changes
            .filter_map(|signal| {
                let ours = signal.args().is_ok_and(|a| a.changed_properties().contains_key("Checkpoints"));
                std::future::ready(ours.then_some(()))
            })
            .boxed_local())
    }

    /// Every signal of NetworkManager, as "look again".
    pub async fn events(&self) -> Result<impl StreamExt<Item = ()> + Unpin + use<>> {
        let failed = |e: zbus::Error| Error::call("watching NetworkManager", e);
        let signals = zbus::MatchRule::builder().msg_type(zbus::message::Type::Signal);
        let rule = signals.sender("org.freedesktop.NetworkManager").map_err(failed)?.build();
        let stream = zbus::MessageStream::for_match_rule(rule, &self.bus, Some(256)).await.map_err(failed)?;
        Ok(stream.map(|_| ()))
    }

    /// Devices whose activation fails, by object path, with NetworkManager's number for the reason. A moment later the
    /// device is disconnected, without one.
    pub async fn failures(&self) -> Result<impl StreamExt<Item = (String, u32)> + Unpin + use<>> {
        const FAILED: u32 = 120;
        let failed = |e: zbus::Error| Error::call("watching NetworkManager's devices", e);
        let signals = zbus::MatchRule::builder().msg_type(zbus::message::Type::Signal);
        let rule = signals
            .sender("org.freedesktop.NetworkManager")
            .and_then(|rule| rule.interface("org.freedesktop.NetworkManager.Device"))
            .and_then(|rule| rule.member("StateChanged"))
            .map_err(failed)?
            .build();
        let stream = zbus::MessageStream::for_match_rule(rule, &self.bus, Some(256)).await.map_err(failed)?;
        let failure = |message: zbus::Result<zbus::Message>| {
            let message = message.ok()?;
            let (state, _, reason): (u32, u32, u32) = message.body().deserialize().ok()?;
            let path = message.header().path()?.to_string();
            (state == FAILED).then_some((path, reason))
        };
        Ok(stream.filter_map(move |message| std::future::ready(failure(message))).boxed_local())
    }

    /// The owner of NetworkManager's name on the bus changes: it stopped, or started again.
    pub async fn restarts(&self) -> Result<impl StreamExt<Item = ()> + Unpin + use<>> {
        let failed = |e: zbus::Error| Error::call("watching NetworkManager's name", e);
        let bus = zbus::fdo::DBusProxy::new(&self.bus).await.map_err(failed)?;
        let changes = bus
            .receive_name_owner_changed_with_args(&[(0, "org.freedesktop.NetworkManager")])
            .await
            .map_err(failed)?;
        Ok(changes.map(|_| ()))
    }

    /// Sets the dead man's switch: without another call NetworkManager rolls back by itself after `seconds`.
    pub async fn wind(&self, checkpoint: &str, seconds: u32) -> Result<()> {
        let path = object(checkpoint)?;
        let wound = self.root.checkpoint_adjust_rollback_timeout(&path, seconds);
        call("extending the checkpoint's timer", wound).await
    }

    pub async fn commit(&self, checkpoint: &str) -> Result<()> {
        let path = object(checkpoint)?;
        call("committing the checkpoint", self.root.checkpoint_destroy(&path)).await
    }

    /// Rolls back; returns the devices that NetworkManager could not bring back, with its reason.
    pub async fn rollback(&self, checkpoint: &str) -> Result<Vec<(String, &'static str)>> {
        let path = object(checkpoint)?;
        // A rollback of hundreds of devices answers only when all of them are on their way.
        let call = tokio::time::timeout(Duration::from_secs(60), self.root.checkpoint_rollback(&path));
        let result: HashMap<String, u32> = match call.await {
            Ok(answer) => answer.map_err(|e| Error::call("rolling the checkpoint back", short(&e)))?,
            Err(_) => return Err(Error::call("rolling the checkpoint back", "no answer within 60 s")),
        };
        Ok(result
            .into_iter()
            .filter_map(|(device, code)| match code {
                0 => None,
                1 => Some((device, "the device is gone")),
                2 => Some((device, "the device is no longer managed")),
                _ => Some((device, "NetworkManager could not restore it")),
            })
            .collect())
    }

    pub async fn view(&self) -> Result<NmView> {
        view::read(&self.bus).await
    }

    pub async fn global_dns(&self) -> Result<GlobalDns> {
        let raw = self.root.global_dns_configuration();
        Ok(GlobalDns::from_bus(&call("reading NetworkManager's DNS configuration", raw).await?))
    }

    pub async fn set_global_dns(&self, dns: &GlobalDns) -> Result<()> {
        let set = self.root.set_global_dns_configuration(dns.to_bus());
        call("restoring NetworkManager's DNS configuration", set).await
    }

    pub async fn save_hostname(&self, name: &str) -> Result<()> {
        call("restoring the hostname", self.settings.save_hostname(name)).await
    }

    /// Reads the named files again; a file that is gone takes its profile with it.
    pub async fn load_profiles(&self, files: &[&str]) -> Result<()> {
        call("loading profiles", self.settings.load_connections(files)).await.map(drop)
    }

    pub async fn reload_profiles(&self) -> Result<()> {
        call("reloading profiles", self.settings.reload_connections()).await.map(drop)
    }

    pub async fn delete_profile(&self, uuid: &str) -> Result<()> {
        let Ok(path) = bounded(self.settings.get_connection_by_uuid(uuid)).await else { return Ok(()) };
        let profile = self.connection(path).await?;
        call("deleting a profile that the change had made", profile.delete()).await
    }

    pub async fn activate(&self, uuid: &str, device: Option<&str>) -> Result<()> {
        let profile = self.settings.get_connection_by_uuid(uuid);
        let profile = call("finding a profile to activate again", profile).await?;
        let none = ObjectPath::from_static_str_unchecked("/");
        let device = device.map(object).transpose()?.unwrap_or_else(|| none.clone());
        let activated = self.root.activate_connection(&profile, &device, &none);
        call("activating a profile again", activated).await.map(drop)
    }

    /// An interface that NetworkManager has made goes with it, and its profile does not come up by itself.
    pub async fn deactivate(&self, active: &str) -> Result<()> {
        let path = object(active)?;
        call("deactivating a profile", self.root.deactivate_connection(&path)).await
    }

    /// What the profile that a device runs on says about addresses.
    pub async fn ip_methods(&self, device: &str) -> Result<IpMethods> {
        let device = self.device(device).await?;
        let applied = device.get_applied_connection(0);
        let (settings, _) = call("reading the profile that a device runs on", applied).await?;
        let method = |section: &str| {
            let value = settings.get(section).and_then(|s| s.get("method"));
            value.and_then(|v| <&str>::try_from(v).ok()).unwrap_or_default().to_string()
        };
        let automatic = |section: &str| {
            let value = |key: &str| settings.get(section).and_then(|s| s.get(key));
            let ignores = |key: &str| value(key).and_then(|v| bool::try_from(v).ok()).unwrap_or(false);
            Automatic {
                metric: value("route-metric").and_then(|v| i64::try_from(v).ok()).unwrap_or(-1),
                table: value("route-table").and_then(|v| u32::try_from(v).ok()).unwrap_or(0),
                dns: !ignores("ignore-auto-dns"),
                routes: !ignores("ignore-auto-routes"),
                gateway: !ignores("never-default"),
            }
        };
        Ok(IpMethods {
            v4: method("ipv4"),
            v6: method("ipv6"),
            automatic4: automatic("ipv4"),
            automatic6: automatic("ipv6"),
        })
    }

    /// Numbers, texts and switches of the IP settings that a device runs with, in NetworkManager's words.
    pub async fn applied_ip(&self, device: &str) -> Result<serde_json::Value> {
        let device = self.device(device).await?;
        let applied = device.get_applied_connection(0);
        let (settings, _) = call("reading the profile that a device runs on", applied).await?;
        let plain = |section: &str| -> serde_json::Value {
            let fields = settings.get(section).into_iter().flatten();
            fields.filter_map(|(key, value)| Some((key.clone(), primitive(value)?))).collect()
        };
        Ok(serde_json::json!({ "ipv4": plain("ipv4"), "ipv6": plain("ipv6") }))
    }

    /// Another metric than NetworkManager chose, on the device alone: the profile stays as it is.
    pub async fn set_route_metric(&self, device: &str, family: &str, metric: i64) -> Result<()> {
        const WHAT: &str = "restoring the metric of a route";
        let device = self.device(device).await?;
        let (mut settings, version) = call(WHAT, device.get_applied_connection(0)).await?;
        settings.entry(family.to_string()).or_default().insert("route-metric".to_string(), metric.into());
        call(WHAT, device.reapply(settings, version, 0)).await
    }

    async fn device(&self, path: &str) -> Result<proxy::DeviceProxy<'_>> {
        let failed = |e: zbus::Error| Error::call("opening a device", e);
        let device = proxy::DeviceProxy::builder(&self.bus).path(path.to_string()).map_err(failed)?;
        uncached(device).await.map_err(failed)
    }

    pub async fn delete_device(&self, path: &str) -> Result<()> {
        let device = self.device(path).await?;
        call("deleting a device that the change had made", device.delete()).await
    }

    async fn connection(&self, path: OwnedObjectPath) -> Result<proxy::ConnectionProxy<'_>> {
        let failed = |e: zbus::Error| Error::call("opening a profile", e);
        let profile = proxy::ConnectionProxy::builder(&self.bus).path(path).map_err(failed)?;
        uncached(profile).await.map_err(failed)
    }
}

/// None: a list or a mapping.
fn primitive(value: &zbus::zvariant::Value<'_>) -> Option<serde_json::Value> {
    use zbus::zvariant::Value;
    Some(match value {
        Value::Bool(value) => (*value).into(),
        Value::I32(value) => (*value).into(),
        Value::U32(value) => (*value).into(),
        Value::I64(value) => (*value).into(),
        Value::U64(value) => (*value).into(),
        Value::Str(value) => value.as_str().into(),
        _ => return None,
    })
}

/// A proxy that asks for properties anew each time.
async fn uncached<'a, T: From<zbus::Proxy<'a>>>(builder: zbus::proxy::Builder<'a, T>) -> zbus::Result<T> {
    builder.cache_properties(zbus::proxy::CacheProperties::No).build().await
}

/// Makes a call; an error says what it was for.
async fn call<T>(what: &'static str, call: impl Future<Output = zbus::Result<T>>) -> Result<T> {
    bounded(call).await.map_err(|e| Error::call(what, e))
}

async fn bounded<T>(call: impl Future<Output = zbus::Result<T>>) -> Result<T, CallError> {
    tokio::time::timeout(CALL, call).await.map_err(|_| CallError::Timeout)?.map_err(CallError::from)
}

/// Why a call over D-Bus failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("{}", short(.0))]
    Bus(#[source] Box<zbus::Error>),
    #[error("no answer within {} s", CALL.as_secs())]
    Timeout,
}

impl CallError {
    /// The process cannot open anything: that says nothing about the bus.
    fn no_descriptors(&self) -> Option<std::io::Error> {
        let Self::Bus(error) = self else { return None };
        let zbus::Error::InputOutput(error) = &**error else { return None };
        let code = error.raw_os_error().filter(|_| descriptors::are_exhausted(error))?;
        Some(std::io::Error::from_raw_os_error(code))
    }
}

impl From<zbus::Error> for CallError {
    fn from(error: zbus::Error) -> Self {
        Self::Bus(Box::new(error))
    }
}

fn object(path: &str) -> Result<ObjectPath<'_>> {
    ObjectPath::try_from(path).map_err(|_| Error::call("reading a D-Bus path", format!("`{path}` is none")))
}

/// zbus prefixes errors with the name of the D-Bus error; people want its text.
fn short(error: &zbus::Error) -> String {
    match error {
        zbus::Error::MethodError(name, text, _) => text.clone().unwrap_or_else(|| name.to_string()),
        other => other.to_string(),
    }
}
