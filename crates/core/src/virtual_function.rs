//! Virtual functions of a NIC that a document calls by their number, as NMState does: `sriov:eth1:0`.

use serde_json::Value;

use crate::state::{self, interfaces, name, text};

const PREFIX: &str = "sriov:";

/// `sriov:NIC:NUMBER`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VirtualFunction<'a> {
    pub nic: &'a str,
    pub id: u64,
}

impl<'a> VirtualFunction<'a> {
    pub fn parse(called: &'a str) -> Option<Self> {
        let (nic, id) = called.strip_prefix(PREFIX)?.split_once(':')?;
        let id = id.parse().ok().filter(|_| !nic.is_empty())?;
        Some(Self { nic, id })
    }

    /// The interface that it is on a host.
    pub fn interface(self, host: &Value) -> Option<&str> {
        let nic = interfaces(host).iter().find(|interface| name(interface) == self.nic)?;
        let all = state::list(nic, &["ethernet", "sr-iov", "vfs"]);
        let this = all.iter().find(|vf| vf.get("id").and_then(Value::as_u64) == Some(self.id))?;
        text(this, "iface-name").filter(|name| !name.is_empty())
    }
}

pub fn is_reference(called: &str) -> bool {
    called.starts_with(PREFIX)
}

/// How many a NIC has, or shall have.
pub fn count(nic: &Value) -> Option<u64> {
    state::at(nic, &["ethernet", "sr-iov", "total-vfs"])?.as_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_function_is_called_by_its_nic_and_its_number() {
        assert_eq!(
            VirtualFunction::parse("sriov:ens1f0:12"),
            Some(VirtualFunction { nic: "ens1f0", id: 12 })
        );
        for other in
            ["eth0", "sriov:", "sriov:eth0", "sriov::1", "sriov:eth0:x", "sriov:eth0:1:2", "sriov:eth0:-1"]
        {
            assert_eq!(VirtualFunction::parse(other), None, "{other}");
        }
    }

    #[test]
    fn its_interface_is_the_one_that_the_nic_shows() {
        let host = json!({ "interfaces": [{ "name": "eth1", "type": "ethernet", "ethernet": { "sr-iov": {
            "total-vfs": 2, "vfs": [{ "id": 0, "iface-name": "" }, { "id": 1, "iface-name": "eth4" }] } } }] });
        let interface =
            |called| VirtualFunction::parse(called).and_then(|function| function.interface(&host));
        assert_eq!(interface("sriov:eth1:1"), Some("eth4"));
        assert_eq!(interface("sriov:eth1:0"), None, "no driver has taken it yet");
        assert_eq!(interface("sriov:eth1:2"), None);
        assert_eq!(interface("sriov:eth2:1"), None);
    }
}
