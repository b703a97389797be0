use std::net::IpAddr;

use nix::errno::Errno;
use rtnetlink::{
    LinkUnspec,
    packet_route::{
        AddressFamily,
        address::{AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage, CacheInfo},
    },
};

use super::{
    Error, Netlink, Result,
    facts::{AddressFact, LinkFact},
};

/// The flags a caller may choose; the others are the kernel's own findings.
const CHOSEN: AddressFlags = AddressFlags::Nodad
    .union(AddressFlags::Homeaddress)
    .union(AddressFlags::Noprefixroute)
    .union(AddressFlags::Mcautojoin);

impl Netlink {
    /// An address that is there already stays.
    pub async fn add_address(&self, interface: &str, ip: IpAddr, prefix: u8) -> Result<()> {
        let index = self.index_of(interface).await?;
        self.write_address(interface, plain_address(index, ip, prefix)).await
    }

    /// Puts an address back with the label, peer, lifetime and flags it had.
    pub async fn restore_address(&self, fact: &AddressFact) -> Result<()> {
        // By name: a link that was made anew has another index.
        let index = self.index_of(&fact.interface).await?;
        self.write_address(&fact.interface, full_address(index, fact)).await
    }

    /// Says whether it was there.
    pub async fn delete_address(&self, interface: &str, ip: IpAddr, prefix: u8) -> Result<bool> {
        let Some(index) = self.find(interface).await? else { return Ok(false) };
        let what = format!("delete {ip}/{prefix} from {interface}");
        let message = plain_address(index, ip, prefix);
        was_there(self.handle.address().del(message).execute().await.map_err(|error| Error::of(what, error)))
    }

    pub async fn set_link_up(&self, interface: &str) -> Result<()> {
        let index = self.index_of(interface).await?;
        let message = LinkUnspec::new_with_index(index).up().build();
        let answer = self.handle.link().change(message).execute().await;
        answer.map_err(|error| Error::of(format!("set {interface} up"), error))
    }

    pub async fn set_link_down(&self, interface: &str) -> Result<()> {
        let index = self.index_of(interface).await?;
        let message = LinkUnspec::new_with_index(index).down().build();
        let answer = self.handle.link().change(message).execute().await;
        answer.map_err(|error| Error::of(format!("set {interface} down"), error))
    }

    /// Attaches it to a bridge, or detaches it from the one it is on. One that is gone needs neither.
    pub async fn set_controller(&self, interface: &str, controller: Option<&str>) -> Result<()> {
        let Some(index) = self.find(interface).await? else { return Ok(()) };
        let controller = match controller {
            Some(name) => self.index_of(name).await?,
            None => 0,
        };
        let message = LinkUnspec::new_with_index(index).controller(controller).build();
        let answer = self.handle.link().change(message).execute().await;
        answer.map_err(|error| Error::of(format!("attach or detach {interface}"), error))
    }

    pub async fn set_promiscuous(&self, interface: &str, on: bool) -> Result<()> {
        let index = self.index_of(interface).await?;
        let message = LinkUnspec::new_with_index(index).promiscuous(on).build();
        let answer = self.handle.link().change(message).execute().await;
        answer.map_err(|error| Error::of(format!("set {interface} promiscuous or not"), error))
    }

    /// Gives a link that was made anew the MAC address, MTU and condition of its predecessor.
    pub async fn restore_link(&self, fact: &LinkFact) -> Result<()> {
        let index = self.index_of(&fact.name).await?;
        let mut message = LinkUnspec::new_with_index(index);
        if let Some(mac) = fact.mac.as_deref().and_then(mac_bytes) {
            message = message.address(mac);
        }
        if let Some(mtu) = fact.mtu {
            message = message.mtu(mtu);
        }
        let message = if fact.up { message.up() } else { message };
        let answer = self.handle.link().change(message.build()).execute().await;
        answer.map_err(|error| Error::of(format!("set {} up as before", fact.name), error))
    }

    pub async fn set_mtu(&self, interface: &str, mtu: u32) -> Result<()> {
        let index = self.index_of(interface).await?;
        let message = LinkUnspec::new_with_index(index).mtu(mtu).build();
        let answer = self.handle.link().change(message).execute().await;
        answer.map_err(|error| Error::of(format!("set the MTU of {interface}"), error))
    }

    pub async fn set_mac(&self, interface: &str, mac: &[u8]) -> Result<()> {
        let index = self.index_of(interface).await?;
        let message = LinkUnspec::new_with_index(index).address(mac.to_vec()).build();
        let answer = self.handle.link().change(message).execute().await;
        answer.map_err(|error| Error::of(format!("set the MAC address of {interface}"), error))
    }

    /// Adds and removes alternative names.
    pub async fn set_alternative_names(&self, interface: &str, add: &[&str], remove: &[&str]) -> Result<()> {
        let index = self.index_of(interface).await?;
        let failed = |error| Error::of(format!("set alternative names of {interface}"), error);
        if !remove.is_empty() {
            self.handle.link().property_del(index).alt_ifname(remove).execute().await.map_err(failed)?;
        }
        if !add.is_empty() {
            self.handle.link().property_add(index).alt_ifname(add).execute().await.map_err(failed)?;
        }
        Ok(())
    }

    /// Says whether it was there.
    pub async fn delete_link(&self, name: &str) -> Result<bool> {
        let Some(index) = self.find(name).await? else { return Ok(false) };
        let answer = self.handle.link().del(index).execute().await;
        was_there(answer.map_err(|error| Error::of(format!("delete {name}"), error)))
    }

    async fn write_address(&self, interface: &str, message: AddressMessage) -> Result<()> {
        let what = format!("add an address to {interface}");
        let unspecified = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        let mut request = self.handle.address().add(message.header.index, unspecified, 0).replace();
        *request.message_mut() = message;
        request.execute().await.map_err(|error| Error::of(what, error))
    }

    async fn index_of(&self, interface: &str) -> Result<u32> {
        self.find(interface).await?.ok_or_else(|| Error::NoInterface { name: interface.to_owned() })
    }

    async fn find(&self, interface: &str) -> Result<Option<u32>> {
        Ok(self.names().await?.into_iter().find_map(|(index, name)| (name == interface).then_some(index)))
    }
}

fn mac_bytes(text: &str) -> Option<Vec<u8>> {
    text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}

fn was_there(answer: Result<()>) -> Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.errno(), Some(Errno::EADDRNOTAVAIL | Errno::ENODEV | Errno::ENOENT)) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn plain_address(index: u32, ip: IpAddr, prefix: u8) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    message.header.index = index;
    message.header.prefix_len = prefix;
    message.attributes = vec![AddressAttribute::Local(ip), AddressAttribute::Address(ip)];
    message
}

fn full_address(index: u32, fact: &AddressFact) -> AddressMessage {
    let mut message = plain_address(index, fact.ip, fact.prefix);
    message.header.scope = fact.scope.into();
    let flags = AddressFlags::from_bits_retain(fact.flags).intersection(CHOSEN);
    message.header.flags = AddressHeaderFlags::from_bits_retain((flags.bits() & 0xff) as u8);
    message.attributes = vec![
        AddressAttribute::Local(fact.ip),
        AddressAttribute::Address(fact.peer.unwrap_or(fact.ip)),
        AddressAttribute::Flags(flags),
    ];
    message.attributes.extend(fact.broadcast.map(AddressAttribute::Broadcast));
    message.attributes.extend(fact.label.clone().map(AddressAttribute::Label));
    message.attributes.extend(fact.route_metric.map(AddressAttribute::RoutePriority));
    message.attributes.extend(fact.valid.map(|valid| lifetime(valid, fact.preferred)));
    message
}

fn lifetime(valid: u32, preferred: Option<u32>) -> AddressAttribute {
    let mut info = CacheInfo::default();
    info.ifa_valid = valid;
    info.ifa_preferred = preferred.unwrap_or(valid).min(valid);
    AddressAttribute::CacheInfo(info)
}
