//! A node on which cell after cell is run, and the two states between which it goes to and fro.

use linesman_lab::{Daemon, Root};
use linesman_tests::{BRIDGE, Host, br_ex};

use super::cell::Change;
use super::foreign;
use super::picture::Picture;

#[derive(Debug)]
pub struct Bed {
    pub host: Host,
    pub change: Change,
    /// What the change makes of this node.
    pub new: Picture,
}

impl Bed {
    pub fn make(change: Change) -> Self {
        let root = if change.has_ovs() { Root::Forky } else { Root::Bookworm };
        let host = Host::built(&format!("faults-{change}"), |node| {
            node.root(root)
                .small_disk("/var/lib/linesman", 4 << 20)
                .small_disk("/etc/NetworkManager/system-connections", 1 << 20)
        });
        units(&host);
        foreign::make(&host, change.has_ovs());
        let mut bed = Self { host, change, new: Picture::default() };
        bed.host.apply(&bed.home());
        foreign::put_vip(&bed.host);
        bed.apply_and_look(&bed.document());
        bed.new = Picture::of(&bed.host);
        bed.apply_and_look(&bed.home());
        bed
    }

    fn apply_and_look(&self, document: &str) {
        let output = self.host.apply(document);
        assert_eq!(self.foreign_loss(true), None, "after {}{}", output.stdout, self.evidence());
    }

    pub fn document(&self) -> String {
        match self.change {
            Change::Additive => BRIDGE.to_string(),
            Change::OldNetworkManager => format!("{BRIDGE}{}", dns("other.test")),
            Change::BrEx => br_ex(&self.host.node),
        }
    }

    /// The state in which each cell begins.
    pub fn home(&self) -> String {
        let (v4, v6) = (self.host.node.mgmt_ipv4(), self.host.node.mgmt_ipv6());
        let bridge =
            if self.change.has_ovs() { "\n- {name: br-ex, type: ovs-bridge, state: absent}" } else { "" };
        format!(
            "interfaces:
- {{name: br1, type: linux-bridge, state: absent}}
- {{name: eth1, type: ethernet, state: absent}}{bridge}
- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {v4}, prefix-length: 24}}]}}
  ipv6: {{enabled: true, dhcp: false, autoconf: false, address: [{{ip: '{v6}', prefix-length: 64}}]}}
routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: 10.9.0.1, next-hop-interface: eth0}}
  - {{destination: '::/0', next-hop-address: 'fd09::1', next-hop-interface: eth0}}
{dns}",
            dns = dns("lab.test")
        )
    }

    pub fn wait_daemons(&self) {
        let of_ovs = |daemon: &Daemon| matches!(daemon, Daemon::OvsdbServer | Daemon::OvsVswitchd);
        for daemon in Daemon::ALL.into_iter().filter(|daemon| self.change.has_ovs() || !of_ovs(daemon)) {
            self.host.node.wait_daemon(daemon).expect("the node's init starts it again");
        }
    }

    /// What is wrong with the things of others, if anything.
    pub fn foreign_loss(&self, vip: bool) -> Option<String> {
        foreign::loss(&self.host, self.change.has_ovs(), vip)
    }

    /// From outside, by both families.
    pub fn reachable(&self) -> bool {
        let (hub, node) = (self.host.lab.hub(), &self.host.node);
        self.host.reachable() && hub.ping(node.mgmt_ipv6())
    }

    /// For whoever reads of a failed cell.
    pub fn evidence(&self) -> String {
        const LOOK: &str = "
            echo '-- history'; linesman history | tail -n 12 || :
            echo '-- addresses'; ip -br address || :
            echo '-- profiles'; nmcli -f NAME,UUID,TYPE,DEVICE,STATE,FILENAME connection || :
            echo '-- devices'; nmcli device || :
            echo '-- Open vSwitch'; ovs-vsctl --timeout=5 show || :
            echo '-- boot'; tail -n 30 /var/log/lab-boot.log || :
            echo '-- NetworkManager'; tail -n 80 /var/log/NM.log || :";
        match self.host.node.exec(["sh", "-c", LOOK]) {
            Ok(output) => format!("{}{}", output.stdout, output.stderr),
            Err(e) => format!("no evidence: {e}"),
        }
    }
}

fn dns(search: &str) -> String {
    format!("dns-resolver:\n  config: {{server: [10.9.0.1], search: [{search}]}}\n")
}

/// As the units under deploy/host do.
fn units(host: &Host) {
    for (folder, command) in [("boot.d", "linesman recover --boot"), ("boot-late.d", "linesman recover")] {
        let script = format!("#!/bin/sh\nexec {command}\n");
        let path = format!("/etc/lab/{folder}/50-linesman");
        host.node.write_file(path, script, 0o755).expect("a unit can be written");
    }
}
