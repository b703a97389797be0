//! All hosts that the files declare, and what else the files tell about them.

use linesman_core::codes::day1::{HOST_TWICE, NO_CONFIGURATION};
use linesman_core::mac_address::MacAddress;

use crate::configuration::Configuration;
use crate::fault::Fault;
use crate::host::{Host, Network};
use crate::host_name::HostName;
use crate::place::{Place, Written};

#[derive(Debug, Default)]
pub struct Cluster {
    pub(crate) hosts: Vec<Host>,
    pub(crate) cluster_wide: Option<Box<Configuration>>,
    /// There is one, and it was complained about.
    pub(crate) cluster_wide_unreadable: bool,
    pub(crate) platform: Option<Written<String>>,
    /// Hosts that the platform knows by name.
    pub(crate) expected: Vec<Expected>,
    pub(crate) needs_br_ex: bool,
    /// `controlPlane.replicas`
    pub(crate) control_planes: Option<u64>,
    /// Where the hosts are listed.
    pub(crate) place: Option<Place>,
}

/// A host of `platform.baremetal.hosts[]`.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub name: Written<HostName>,
    pub boot_mac: Option<Written<MacAddress>>,
    pub role: Option<Written<String>>,
}

/// A cluster with nothing wrong in it; only such a one can be written out.
#[derive(Debug)]
pub struct Checked(pub(crate) Cluster);

impl Cluster {
    pub(crate) fn set_cluster_wide(&mut self, network: Network, place: &Place, faults: &mut Vec<Fault>) {
        if self.cluster_wide.is_some() || self.cluster_wide_unreadable {
            let message = "there are two cluster-wide documents";
            return faults.push(place.fault(HOST_TWICE, message, "keep one of them"));
        }
        self.place.get_or_insert_with(|| place.clone());
        match network {
            Network::Declared(configuration) => self.cluster_wide = Some(configuration),
            Network::Unreadable => self.cluster_wide_unreadable = true,
            Network::Missing => {
                self.cluster_wide_unreadable = true;
                let hint = "add 'networkConfig:' with an NMState document";
                faults.push(place.fault(
                    NO_CONFIGURATION,
                    "the cluster-wide entry has no networkConfig",
                    hint,
                ));
            }
        }
    }

    pub(crate) fn has_cluster_wide(&self) -> bool {
        self.cluster_wide.is_some() || self.cluster_wide_unreadable
    }

    /// Every document, with the host it is for; none: all hosts.
    pub(crate) fn configurations(&self) -> impl Iterator<Item = (Option<&Host>, &Configuration)> {
        let own = self.hosts.iter().filter_map(|host| Some((Some(host), host.network.configuration()?)));
        own.chain(self.cluster_wide.iter().map(|wide| (None, wide.as_ref())))
    }

    /// What the platform knows of a host completes what is declared: by name, as the installer compares them.
    pub(crate) fn complete(&mut self) {
        for host in &mut self.hosts {
            let Some(name) = &host.name else { continue };
            let Some(known) = self.expected.iter().find(|known| known.name.value == name.value) else {
                continue;
            };
            host.role = host.role.take().or_else(|| known.role.clone());
            let is_new = |mac: &Written<MacAddress>| host.macs.iter().all(|listed| listed.value != mac.value);
            let boot = known.boot_mac.clone().filter(is_new);
            host.macs.extend(boot);
        }
    }
}
