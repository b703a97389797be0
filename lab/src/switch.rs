//! A switch between cables of nodes and networks of the hub: with VLANs and LACP, which the kernel below the hub may
//! lack. It is Open vSwitch in userspace.

use crate::error::Result;
use crate::hub::Hub;
use crate::lab::lock;
use crate::node::Node;

const START: &str = include_str!("scripts/switch.sh");
const BRIDGE: &str = "sw";

/// Runs as long as its hub.
#[derive(Debug, Clone, Copy)]
pub struct Switch<'a> {
    hub: &'a Hub,
}

impl Hub {
    pub fn switch(&self) -> Switch<'_> {
        Switch { hub: self }
    }
}

impl Switch<'_> {
    /// Once; nothing is connected to it yet.
    pub fn start(&self) -> Result<()> {
        self.hub.assert_in_lab()?;
        self.hub.sh(START).map(drop)
    }

    /// Untagged frames belong to that network of the hub.
    pub fn uplink(&self, network: u8) -> Result<()> {
        self.connect_network(network, &format!("up{network}"), &[])
    }

    /// Frames with that tag belong to it, too.
    pub fn uplink_tagged(&self, network: u8, tag: u16) -> Result<()> {
        self.connect_network(network, &format!("up{network}.{tag}"), &[&format!("tag={tag}")])
    }

    fn connect_network(&self, network: u8, port: &str, settings: &[&str]) -> Result<()> {
        let add = [&["--", "add-port", BRIDGE, port], settings].concat();
        let internal = ["--", "set", "interface", port, "type=internal"];
        self.ovs_vsctl(&[&add[..], &internal].concat())?;
        self.hub.ip(&["link", "set", port, "master", &format!("net{network}"), "up"])?;
        // Two of them would send to each other what they have from the switch.
        self.hub.run(["bridge", "link", "set", "dev", port, "isolated", "on"]).map(drop)
    }

    /// Each of these NICs is in a port of its own, which takes any tag. They are in no network of the hub any more, boots
    /// included.
    pub fn plug(&self, node: &Node, nics: &[u8]) -> Result<()> {
        self.silence(node, nics)?;
        nics.iter().try_for_each(|nic| self.ovs_vsctl(&["--", "add-port", BRIDGE, &node.port(*nic)]))
    }

    /// All of these NICs are one port, by LACP: without it, nothing passes.
    pub fn aggregate(&self, node: &Node, nics: &[u8]) -> Result<()> {
        self.silence(node, nics)?;
        let members: Vec<String> = nics.iter().map(|nic| node.port(*nic)).collect();
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let lacp = ["lacp=active", "other_config:lacp-time=fast", "bond_mode=balance-slb"];
        self.ovs_vsctl(&[&["--", "add-bond", BRIDGE, &lag(node)], &members[..], &lacp].concat())
    }

    /// They have a carrier, and nobody hears or answers them.
    pub fn silence(&self, node: &Node, nics: &[u8]) -> Result<()> {
        self.ovs_vsctl(&["--", "--if-exists", "del-port", BRIDGE, &lag(node)])?;
        for nic in nics {
            let port = node.port(*nic);
            self.ovs_vsctl(&["--", "--if-exists", "del-port", BRIDGE, &port])?;
            self.hub.ip(&["link", "set", &port, "nomaster"])?;
            lock(&self.hub.switched).insert(port);
        }
        Ok(())
    }

    fn ovs_vsctl(&self, words: &[&str]) -> Result<()> {
        self.hub.run([&["ovs-vsctl", "--timeout=60"], words].concat()).map(drop)
    }
}

fn lag(node: &Node) -> String {
    format!("lag-{}", node.name())
}
