//! Which types of interfaces the kernel can make, and what they can do.

use nix::errno::Errno;
use rtnetlink::packet_core::DefaultNla;
use rtnetlink::packet_route::link::{InfoBridge, InfoData, InfoKind, LinkAttribute, LinkInfo, LinkMessage};

use super::{Error, Netlink, Result};

impl Netlink {
    /// Asks for a link of this kind with no queue to send from, which no kernel makes. One that has the driver, or
    /// finds it among its modules, dislikes the request in one way or another; one that has not says that it does not
    /// know the kind.
    pub async fn can_make(&self, kind: &str) -> Result<bool> {
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Other(kind.to_owned()))]),
            LinkAttribute::NumTxQueues(0),
        ];
        let answer = self.handle.link().add(message).execute().await;
        match answer.map_err(|error| Error::of(format!("say whether it can make a {kind}"), error)) {
            Err(error) if error.errno() == Some(Errno::EOPNOTSUPP) => Ok(false),
            Err(error) if error.errno().is_none() => Err(error),
            _ => Ok(true),
        }
    }

    /// Asks for a bridge that filters by the tags of a protocol that has none, and that could not send anyway. Only a kernel that
    /// filters at all looks at the protocol.
    pub async fn filters_vlans(&self) -> Result<bool> {
        const IPV4: u16 = 0x0800;
        const IFLA_BR_VLAN_PROTOCOL: u16 = 8;
        let protocol = DefaultNla::new(IFLA_BR_VLAN_PROTOCOL, IPV4.to_be_bytes().to_vec());
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Bridge),
                LinkInfo::Data(InfoData::Bridge(vec![InfoBridge::Other(protocol)])),
            ]),
            LinkAttribute::NumTxQueues(0),
        ];
        let answer = self.handle.link().add(message).execute().await;
        match answer.map_err(|error| Error::of("say whether its bridges filter by VLAN".to_owned(), error)) {
            Err(error) if error.errno() == Some(Errno::EPROTONOSUPPORT) => Ok(true),
            Err(error) if error.errno().is_none() => Err(error),
            _ => Ok(false),
        }
    }
}
