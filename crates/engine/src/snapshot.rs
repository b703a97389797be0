//! What a rollback restores from, written to disk before anything is changed.
//!
//! NetworkManager's checkpoint is quicker, but it dies with NetworkManager, and it never covers the hostname, the Open
//! vSwitch database, what somebody else set on an interface, and the files that nmstate writes itself.

mod earlier_boot;

use std::collections::BTreeSet;
use std::net::IpAddr;

use linesman_core::foreign_port;
use linesman_core::interface_name::InterfaceName;
use linesman_core::plan::Plan;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::journal::VERSION;
use crate::keyfile::ProfileFile;
use crate::netlink::{self, AddressFact, LinkFact, Netlink, RouteFact};
use crate::nm::{GlobalDns, Nm, NmView};
use crate::ovs::OvsKeys;
use crate::side_files::{self, SideFile};
use crate::{Error, Result, others, ovs};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    #[serde(default)]
    pub version: u32,
    /// The whole state before the change.
    pub state: Value,
    pub profiles: Vec<ProfileFile>,
    pub active: Vec<ActiveProfile>,
    pub dns: GlobalDns,
    pub hostname: Hostname,
    pub ovs: Option<OvsKeys>,
    /// Addresses that no profile declares: virtual IPs, and addresses added by hand.
    pub foreign: Vec<AddressFact>,
    /// Routes that no profile declares: of routing daemons, and added by hand.
    #[serde(default)]
    pub routes: Vec<RouteFact>,
    /// Ports of others that Open vSwitch makes anew with their bridge.
    #[serde(default)]
    pub links: Vec<LinkFact>,
    /// None: an older version took the snapshot, and did not look.
    #[serde(default)]
    pub files: Option<Vec<SideFile>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveProfile {
    pub uuid: String,
    pub interface: String,
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hostname {
    pub running: String,
    /// None: there is no /etc/hostname.
    pub fixed: Option<String>,
}

/// Reads what a rollback needs but for the kernel's part. `state`, `view` and `profiles` were read for the plan already.
pub async fn take(nm: &Nm, view: &NmView, profiles: &[ProfileFile], state: &Value) -> Result<Snapshot> {
    let ovs = if ovs::running().await {
        Some(ovs::read_keys().await.map_err(|e| Error::Snapshot(e.into()))?)
    } else {
        None
    };
    let unreadable = |e: std::io::Error| Error::Snapshot(e.into());
    let files = side_files::read_all().map_err(unreadable)?;
    Ok(Snapshot {
        version: VERSION,
        state: state.clone(),
        profiles: profiles.to_vec(),
        active: active_profiles(view),
        dns: nm.global_dns().await?,
        hostname: Hostname::read(),
        ovs,
        files: Some(files),
        ..Snapshot::default()
    })
}

impl Snapshot {
    /// What others have in the kernel, read as late as possible: they are not idle before a change either.
    pub async fn read_kernel(&mut self, view: &NmView, plan: &Plan) -> Result<()> {
        let made = self.ovs.as_ref().map(|keys| foreign_interfaces(keys, &plan.touched)).unwrap_or_default();
        let names: BTreeSet<String> =
            plan.touched.iter().map(|name| name.to_string()).chain(made.iter().cloned()).collect();
        let kernel = Kernel::read(&names).await.map_err(|e| Error::Snapshot(e.into()))?;
        for (port, bridge) in others::ports(&kernel, view, &self.state, plan) {
            foreign_port::add(&mut self.state, &port, &bridge);
        }
        self.foreign = foreign(&kernel.addresses, view, &self.profiles, &names);
        self.routes = foreign_routes(kernel.routes, view, &self.profiles);
        self.links = kernel.links.into_iter().filter(|link| made.contains(&link.name)).collect();
        Ok(())
    }
}

/// What the kernel has at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub addresses: Vec<AddressFact>,
    /// Those through some interfaces.
    pub routes: Vec<RouteFact>,
    pub links: Vec<LinkFact>,
}

impl Kernel {
    pub async fn read(names: &BTreeSet<String>) -> netlink::Result<Self> {
        let netlink = Netlink::open()?;
        let (routes, too_many) = netlink.routes(names).await?;
        if too_many {
            tracing::warn!(
                kept = routes.len(),
                "the changed interfaces have too many routes to keep; a rollback leaves the rest to their daemon"
            );
        }
        Ok(Self { addresses: netlink.addresses().await?, routes, links: netlink.links().await? })
    }
}

/// Interfaces of others' ports that Open vSwitch itself makes: with their bridge they lose their MAC address and MTU.
fn foreign_interfaces(keys: &OvsKeys, touched: &BTreeSet<InterfaceName>) -> BTreeSet<String> {
    let is_internal = |name: &str| {
        let columns = keys.interfaces.get(name).map(|interface| &interface.row.columns);
        columns.is_some_and(|c| c.get("type").is_some_and(|kind| kind == "internal" || kind == "tap"))
    };
    let ports = ovs::foreign_ports(keys, touched);
    let names = ports.iter().flat_map(|port| ovs::names_of(keys, port));
    names.filter(|name| is_internal(name)).map(|name| name.to_string()).collect()
}

fn active_profiles(view: &NmView) -> Vec<ActiveProfile> {
    view.active
        .iter()
        .filter(|a| a.up && !a.external)
        .flat_map(|a| a.devices.iter().filter_map(|d| view.device(d)).map(move |d| (a, d)))
        .map(|(a, d)| ActiveProfile {
            uuid: a.uuid.clone(),
            interface: d.interface.clone(),
            kind: a.kind.clone(),
        })
        .collect()
}

impl Hostname {
    pub fn read() -> Self {
        let running = nix::unistd::gethostname().ok().and_then(|n| n.into_string().ok()).unwrap_or_default();
        let fixed = std::fs::read_to_string("/etc/hostname").ok().map(|n| n.trim().to_string());
        Self { running, fixed }
    }
}

/// Addresses with an end come from DHCP or router advertisements, link-local ones from the kernel; of
/// the rest, what no active profile names was put there by somebody else. A server or router may also give an address
/// for ever: NetworkManager leaves the route of its network to itself, which hardly anybody else does.
pub(crate) fn foreign(
    addresses: &[AddressFact],
    view: &NmView,
    profiles: &[ProfileFile],
    names: &BTreeSet<String>,
) -> Vec<AddressFact> {
    let declared: BTreeSet<(String, IpAddr)> = profiles
        .iter()
        .filter_map(|p| Some((p, view.active_on(p.uuid()?)?)))
        .flat_map(|(p, interface)| p.addresses().into_iter().map(move |(ip, _)| (interface.clone(), ip)))
        .collect();
    let automatic: BTreeSet<(String, bool)> = profiles
        .iter()
        .filter_map(|p| Some((p, view.active_on(p.uuid()?)?)))
        .flat_map(|(p, on)| {
            [true, false].into_iter().filter(|v4| p.is_automatic(*v4)).map(move |v4| (on.clone(), v4))
        })
        .collect();
    // An IPv4 link-local address is NetworkManager's own by the same mark. Others choose from that network, too: OVN-Kubernetes
    // has its masquerade address on br-ex there.
    let chosen = |ip: IpAddr| matches!(ip, IpAddr::V4(ip) if ip.is_link_local());
    let learnt = |a: &AddressFact| {
        let is_automatic = automatic.contains(&(a.interface.clone(), a.ip.is_ipv4()));
        a.leaves_prefix_route() && (is_automatic || chosen(a.ip))
    };
    addresses
        .iter()
        .filter(|a| !learnt(a))
        .filter(|a| a.permanent && names.contains(&a.interface))
        .filter(|a| chosen(a.ip) || !is_local(a.ip))
        .filter(|a| !declared.contains(&(a.interface.clone(), a.ip)))
        .cloned()
        .collect()
}

/// The kernel's own routes, and those of leases and router advertisements, come and go with addresses. NetworkManager
/// marks its own as static; of these, what no active profile names was put there by somebody else.
pub(crate) fn foreign_routes(
    routes: Vec<RouteFact>,
    view: &NmView,
    profiles: &[ProfileFile],
) -> Vec<RouteFact> {
    const KERNEL: u8 = 2;
    const STATIC: u8 = 4;
    const ROUTER_ADVERTISEMENT: u8 = 9;
    const DHCP: u8 = 16;
    let declared: BTreeSet<(String, String)> = profiles
        .iter()
        .filter_map(|p| Some((p, view.active_on(p.uuid()?)?)))
        .flat_map(|(p, interface)| p.route_destinations().into_iter().map(move |to| (interface.clone(), to)))
        .collect();
    let is_declared = |route: &RouteFact| {
        let mut interfaces = route.interfaces.iter();
        interfaces.any(|interface| declared.contains(&(interface.clone(), route.destination.clone())))
    };
    let is_foreign = |route: &RouteFact| match route.protocol {
        KERNEL | ROUTER_ADVERTISEMENT | DHCP => false,
        STATIC => !is_declared(route),
        _ => true,
    };
    routes.into_iter().filter(is_foreign).collect()
}

pub(crate) fn is_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nm::{Active, Device};
    use serde_json::json;

    /// As version 0.1 wrote it: no routes, links and files, and fewer columns of Open vSwitch.
    #[test]
    fn a_snapshot_of_an_older_version_is_read() {
        let row = json!({ "uuid": "1", "external_ids": { "a": "1" }, "other_config": {} });
        let old = json!({
            "version": 1,
            "state": { "interfaces": [] },
            "profiles": [],
            "active": [],
            "dns": GlobalDns::default(),
            "hostname": { "running": "n1", "fixed": null },
            "ovs": { "global": row, "bridges": { "br-ex": row }, "ports": { "eth0": row }, "interfaces": { "eth0": row } },
            "foreign": []
        });
        let snapshot: Snapshot = serde_json::from_value(old).unwrap();
        assert!(snapshot.routes.is_empty() && snapshot.links.is_empty());
        assert_eq!(snapshot.files, None, "what was not looked for must not be removed");
        let ports = &snapshot.ovs.unwrap().ports;
        assert!(ports["eth0"].columns.is_empty() && ports["eth0"].members.is_empty());
    }

    #[test]
    fn routes_of_daemons_and_undeclared_ones_are_foreign() {
        let view = NmView {
            devices: vec![Device {
                path: "/d/1".into(),
                interface: "eth0".into(),
                kind: 1,
                managed: true,
                state: 100,
                real: true,
                software: false,
                active: None,
                reason: 0,
            }],
            active: vec![Active {
                path: "/a/1".into(),
                uuid: "u-1".into(),
                id: "eth0".into(),
                kind: "802-3-ethernet".into(),
                devices: vec!["/d/1".into()],
                up: true,
                external: false,
            }],
            ..NmView::default()
        };
        let content =
            "[connection]\nuuid=u-1\n[ipv4]\naddress1=10.9.0.2/24,10.9.0.1\nroute1=192.0.2.0/24,10.9.0.1\n";
        let profile = ProfileFile { path: "/etc/a".into(), mode: 0o600, content: content.into() };
        let route = |destination: &str, protocol| RouteFact {
            destination: destination.into(),
            table: 254,
            metric: 0,
            protocol,
            interfaces: vec!["eth0".into()],
            message: String::new(),
        };
        let theirs = [route("203.0.113.0/24", 12), route("198.51.100.0/24", 3), route("10.1.0.0/16", 4)];
        let ours =
            [route("0.0.0.0/0", 4), route("192.0.2.0/24", 4), route("10.9.0.0/24", 2), route("::/0", 9)];
        let all = theirs.iter().chain(&ours).cloned().collect();
        assert_eq!(foreign_routes(all, &view, &[profile]), theirs);
    }
}
