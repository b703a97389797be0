//! A node on which cell after cell is run: its state at home, and things of others that must survive.

use linesman_lab::Daemon;
use linesman_tests::{BRIDGE, Host, br_ex};

use super::cell::Change;
use super::picture::Picture;

/// Somebody's virtual IP, added by hand.
const VIP: &str = "10.9.0.211";
/// What somebody's profile asks for.
const FOREIGN: &str = "10.9.2.177";

#[derive(Debug)]
pub struct Bed {
    pub host: Host,
    pub change: Change,
    /// What the change makes of this node.
    pub new: Picture,
}

impl Bed {
    pub fn make(change: Change) -> Self {
        let name = format!("faults-{change}");
        let host = Host::built(&name, |node| {
            node.small_disk("/var/lib/linesman", 4 << 20)
                .small_disk("/etc/NetworkManager/system-connections", 1 << 20)
        });
        units(&host);
        foreign(&host);
        let mut bed = Self { host, change, new: Picture::default() };
        bed.host.apply(&bed.home());
        bed.put_vip();
        let there = bed.host.apply(&bed.document());
        assert_eq!(bed.foreign_loss(true), None, "after {}{}", there.stdout, bed.evidence());
        bed.new = Picture::of(&bed.host);
        let back = bed.host.apply(&bed.home());
        assert_eq!(bed.foreign_loss(true), None, "after {}{}", back.stdout, bed.evidence());
        bed
    }

    pub fn document(&self) -> String {
        match self.change {
            Change::Additive => BRIDGE.to_string(),
            Change::BrEx => br_ex(&self.host.node),
        }
    }

    /// The state in which each cell begins.
    pub fn home(&self) -> String {
        let (v4, v6) = (self.host.node.mgmt_ipv4(), self.host.node.mgmt_ipv6());
        format!(
            "interfaces:
- {{name: br1, type: linux-bridge, state: absent}}
- {{name: eth1, type: ethernet, state: absent}}
- {{name: br-ex, type: ovs-bridge, state: absent}}
- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {v4}, prefix-length: 24}}]}}
  ipv6: {{enabled: true, dhcp: false, autoconf: false, address: [{{ip: '{v6}', prefix-length: 64}}]}}
routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: 10.9.0.1, next-hop-interface: eth0}}
  - {{destination: '::/0', next-hop-address: 'fd09::1', next-hop-interface: eth0}}
dns-resolver:
  config: {{server: [10.9.0.1], search: [lab.test]}}
"
        )
    }

    /// A virtual IP does not survive a power cut; its owner would add it again.
    pub fn put_vip(&self) {
        let address = format!("{VIP}/24");
        self.host
            .node
            .run(["ip", "address", "replace", &address, "dev", "eth0"])
            .expect("eth0 takes an address");
    }

    pub fn wait_daemons(&self) {
        for daemon in Daemon::ALL {
            self.host.node.wait_daemon(daemon).expect("the node's init starts it again");
        }
    }

    /// What is wrong with the things of others; `None` if all of them are as they were.
    pub fn foreign_loss(&self, vip: bool) -> Option<String> {
        let node = &self.host.node;
        let ask = |what: &[&str]| node.ovs_vsctl(what).unwrap_or_else(|e| e.to_string());
        let hub = self.host.lab.hub();
        let global = ask(&["get", "Open_vSwitch", ".", "external_ids", "other_config"]);
        let bridge = ask(&["get", "bridge", "br-foreign", "external_ids", "other_config"]);
        let port = ask(&["--if-exists", "get", "interface", "foreign0", "external_ids"]);
        let profile =
            node.nmcli(&["-t", "-f", "NAME,DEVICE", "connection", "show", "--active"]).unwrap_or_default();
        let ping = |ip: &str| ip.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| hub.ping(ip));
        if !(global.contains("ovn-remote") && global.contains("vlan-limit")) {
            return Some(format!("keys of Open_vSwitch: {global}"));
        }
        if !(bridge.contains("owner=somebody") && bridge.contains("mac-table-size")) {
            return Some(format!("keys of br-foreign: {bridge}"));
        }
        if !port.contains("iface-id") {
            return Some(format!("keys of foreign0: {port}"));
        }
        if !profile.lines().any(|line| line == "foreign:eth2") || !ping(FOREIGN) {
            return Some(format!("the profile on eth2, active are: {profile}"));
        }
        (vip && !ping(VIP)).then(|| format!("the virtual IP {VIP}"))
    }

    /// From outside, by both families.
    pub fn reachable(&self) -> bool {
        let (hub, node) = (self.host.lab.hub(), &self.host.node);
        self.host.reachable() && hub.ping(node.mgmt_ipv6())
    }

    /// Evidence for whoever reads of a failed cell.
    pub fn evidence(&self) -> String {
        const LOOK: &str = "
            echo '-- history'; linesman history || :
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

/// As the units under deploy/host do.
fn units(host: &Host) {
    for (folder, command) in [("boot.d", "linesman recover --boot"), ("boot-late.d", "linesman recover")] {
        let script = format!("#!/bin/sh\nexec {command}\n");
        host.node
            .write_file(format!("/etc/lab/{folder}/50-linesman"), script, 0o755)
            .expect("a unit can be written");
    }
}

fn foreign(host: &Host) {
    let node = &host.node;
    node.ovs_vsctl(&[
        "set",
        "Open_vSwitch",
        ".",
        "external_ids:ovn-remote=tcp:10.9.0.1:6642",
        "external_ids:ovn-encap-ip=10.9.0.2",
        "other_config:vlan-limit=2",
        "--",
        "add-br",
        "br-foreign",
        "--",
        "set",
        "bridge",
        "br-foreign",
        "datapath_type=netdev",
        "external_ids:owner=somebody",
        "other_config:mac-table-size=4096",
        "--",
        "add-port",
        "br-foreign",
        "foreign0",
        "--",
        "set",
        "interface",
        "foreign0",
        "type=internal",
        "external_ids:iface-id=somebody",
    ])
    .expect("Open vSwitch takes a bridge of others");
    let address = format!("{FOREIGN}/24");
    node.nmcli(&[
        "connection",
        "add",
        "type",
        "ethernet",
        "ifname",
        "eth2",
        "con-name",
        "foreign",
        "autoconnect",
        "yes",
        "ipv4.method",
        "manual",
        "ipv4.addresses",
        &address,
        "ipv6.method",
        "disabled",
    ])
    .and_then(|_| node.nmcli(&["--wait", "60", "connection", "up", "foreign"]))
    .expect("NetworkManager takes a profile of others");
}
