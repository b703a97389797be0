//! Faults around a node: a gateway that does not answer, no DNS, no DHCP, an unplugged cable, a cable that drops packets.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::NETWORKS;
use crate::error::Result;
use crate::hub::Hub;
use crate::lab::lock;
use crate::node::Node;

/// Something the hub does for its nodes, and may stop doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// Answers to echo requests, both families. Nodes can still be watched: their own answers pass.
    Gateway,
    Dns,
    Dhcp,
    /// Router advertisements, solicited or not.
    RouterAdvertisements,
    Http,
}

/// What is broken at the moment.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    silent: BTreeSet<Service>,
    blocked: BTreeSet<String>,
}

impl Hub {
    /// From now on requests for it go unanswered; nothing says so, they just vanish.
    pub fn silence(&self, service: Service) -> Result<()> {
        self.change_faults(|faults| _ = faults.silent.insert(service))
    }

    pub fn restore(&self, service: Service) -> Result<()> {
        self.change_faults(|faults| _ = faults.silent.remove(&service))
    }

    /// Nothing that the node sends arrives, though its links stay up. Holds over its reboots.
    pub fn block(&self, node: &Node) -> Result<()> {
        self.change_faults(|faults| faults.blocked.extend(node.ports()))
    }

    pub fn unblock(&self, node: &Node) -> Result<()> {
        self.change_faults(|faults| faults.blocked.retain(|port| !node.ports().contains(port)))
    }

    /// Takes the carrier away from a NIC.
    pub fn unplug(&self, node: &Node, nic: u8) -> Result<()> {
        self.ip(&["link", "set", &node.port(nic), "down"])?;
        node.set_link(nic, false)
    }

    pub fn plug(&self, node: &Node, nic: u8) -> Result<()> {
        self.ip(&["link", "set", &node.port(nic), "up"])?;
        node.set_link(nic, true)
    }

    fn change_faults(&self, change: impl FnOnce(&mut Faults)) -> Result<()> {
        self.assert_in_lab()?;
        let mut faults = lock(&self.faults);
        change(&mut faults);
        self.command(["nft", "-f", "-"]).input(rules(&faults)).run().map(drop)
    }
}

/// The whole rule set, put in place at once.
fn rules(faults: &Faults) -> String {
    let mut text = String::from(
        "table inet lab\ndelete table inet lab\ntable bridge lab\ndelete table bridge lab\n\
         table inet lab {\n chain input { type filter hook input priority 0; }\n \
         chain output { type filter hook output priority 0; }\n}\n\
         table bridge lab {\n chain prerouting { type filter hook prerouting priority -300; }\n}\n",
    );
    for rule in faults.silent.iter().flat_map(|service| service.drops()) {
        _ = writeln!(text, "add rule inet lab {rule} drop");
    }
    for port in &faults.blocked {
        _ = writeln!(text, "add rule bridge lab prerouting iifname \"{port}\" drop");
    }
    text
}

impl Service {
    fn drops(self) -> &'static [&'static str] {
        match self {
            Self::Gateway => &["input icmp type echo-request", "input icmpv6 type echo-request"],
            Self::Dns => &["input meta l4proto { tcp, udp } th dport 53"],
            Self::Dhcp => &["input udp dport 67"],
            Self::RouterAdvertisements => &["output icmpv6 type nd-router-advert"],
            Self::Http => &["input tcp dport 80"],
        }
    }
}

impl Node {
    /// The hub's ends of its cables.
    fn ports(&self) -> Vec<String> {
        (0..NETWORKS).map(|nic| self.port(nic)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_faults_nothing_is_dropped() {
        assert!(!rules(&Faults::default()).contains("drop"));
    }

    #[test]
    fn each_fault_has_its_rules() {
        let mut faults = Faults::default();
        faults.silent.insert(Service::Dns);
        faults.blocked.insert("p1.0".into());
        let text = rules(&faults);
        assert!(text.contains("add rule inet lab input meta l4proto { tcp, udp } th dport 53 drop\n"));
        assert!(text.contains("add rule bridge lab prerouting iifname \"p1.0\" drop\n"));
    }
}
