//! What a host knows of itself: its name and its NICs.

use linesman_day1::select::{Identity, Nic};
use linesman_engine::netlink::Netlink;

/// Interfaces whose MAC address is another's, or comes and goes. veth is none of them: it is the NIC of a container.
const MADE_BY_SOFTWARE: [&str; 12] = [
    "bond",
    "bridge",
    "dummy",
    "geneve",
    "gretap",
    "ipvlan",
    "macvlan",
    "macvtap",
    "openvswitch",
    "team",
    "tun",
    "vlan",
];

pub async fn read() -> Result<Identity, linesman_engine::netlink::Error> {
    let hostname = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let nics = Netlink::open()?.nics().await?;
    let is_own = |kind: Option<&str>| kind.is_none_or(|kind| !MADE_BY_SOFTWARE.contains(&kind));
    let nics = nics.into_iter().filter(|nic| is_own(nic.kind.as_deref()));
    let nics = nics.filter_map(|nic| Some(Nic { mac: nic.mac.parse().ok()?, name: nic.name }));
    Ok(Identity {
        hostname: hostname.unwrap_or_default(),
        nics: nics.filter(|nic| !nic.mac.is_zero()).collect(),
    })
}
