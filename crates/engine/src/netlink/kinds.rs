//! Which types of interfaces the kernel can make.

use nix::errno::Errno;
use rtnetlink::packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkMessage};

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
}
