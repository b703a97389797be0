//! Policy routing rules: NetworkManager forgets its own when it dies.

use std::net::IpAddr;

use nix::errno::Errno;
use rtnetlink::IpVersion;
use rtnetlink::packet_route::rule::{RuleAttribute, RuleMessage};

use super::{Error, Netlink, Result};

/// What distinguishes rules of one family, as far as anybody sets them here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFact {
    pub ipv6: bool,
    pub priority: u32,
    pub table: u32,
    pub source: Option<(IpAddr, u8)>,
    pub destination: Option<(IpAddr, u8)>,
}

impl Netlink {
    /// Says how many there were.
    pub async fn delete_rule(&self, rule: &RuleFact) -> Result<usize> {
        let version = if rule.ipv6 { IpVersion::V6 } else { IpVersion::V4 };
        let all = super::read::collect("list rules", self.handle.rule().get(version).execute()).await?;
        let mut count = 0;
        for message in all.into_iter().filter(|message| fact(message, rule.ipv6) == *rule) {
            match self.handle.rule().del(message).execute().await.map_err(|e| Error::of("delete a rule", e)) {
                Ok(()) => count += 1,
                Err(error) if error.errno() == Some(Errno::ENOENT) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

fn fact(message: &RuleMessage, ipv6: bool) -> RuleFact {
    let header = &message.header;
    let mut rule =
        RuleFact { ipv6, priority: 0, table: header.table.into(), source: None, destination: None };
    for attribute in &message.attributes {
        match attribute {
            RuleAttribute::Priority(priority) => rule.priority = *priority,
            RuleAttribute::Table(table) => rule.table = *table,
            RuleAttribute::Source(ip) => rule.source = Some((*ip, header.src_len)),
            RuleAttribute::Destination(ip) => rule.destination = Some((*ip, header.dst_len)),
            _ => {}
        }
    }
    rule
}
