use serde_json::Value;

use super::Node;
use crate::boot::PATIENCE;
use crate::error::{Doing, Result};
use crate::{gateway_v4, gateway_v6};

impl Node {
    /// A persistent profile on eth0 with the planned addresses; returns once the hub reaches both.
    pub fn configure_static(&self) -> Result<()> {
        self.assert_in_lab()?;
        let (v4, v6) = (format!("{}/24", self.mgmt_ipv4()), format!("{}/64", self.mgmt_ipv6()));
        let (gateway4, gateway6) = (gateway_v4(0).to_string(), gateway_v6(0).to_string());
        let ethernet = ["connection", "add", "type", "ethernet", "ifname", "eth0", "con-name", "eth0"];
        let ip4 = [
            "ipv4.method",
            "manual",
            "ipv4.addresses",
            &v4,
            "ipv4.gateway",
            &gateway4,
            "ipv4.dns",
            &gateway4,
        ];
        let ip6 = ["ipv6.method", "manual", "ipv6.addresses", &v6, "ipv6.gateway", &gateway6];
        self.nmcli(&[&ethernet[..], &["autoconnect", "yes"], &ip4, &ip6].concat())?;
        self.nmcli(&["--wait", "60", "connection", "up", "eth0"])?;
        self.wait_reachable()
    }

    /// From the hub, at both planned addresses of eth0.
    pub fn wait_reachable(&self) -> Result<()> {
        self.shared.hub.wait_reachable(self.mgmt_ipv4(), PATIENCE)?;
        self.shared.hub.wait_reachable(self.mgmt_ipv6(), PATIENCE)
    }

    pub fn nmcli(&self, arguments: &[&str]) -> Result<String> {
        self.run([&["nmcli"], arguments].concat())
    }

    pub fn ovs_vsctl(&self, arguments: &[&str]) -> Result<String> {
        self.run([&["ovs-vsctl", "--timeout=60"], arguments].concat())
    }

    /// `ip -json …`, parsed; `Null` if it printed nothing.
    pub fn ip_json(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.run([&["ip", "-json", "-details"], arguments].concat())?;
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(std::io::Error::from).doing(|| format!("read ip's JSON: {text}"))
    }
}
