//! What is left of a snapshot once the host has booted again. Pure.

use linesman_core::foreign_port;
use serde_json::Value;

use super::Snapshot;

impl Snapshot {
    /// Others set addresses, routes and ports of Linux bridges in the kernel alone: a boot ends them, and whoever wants
    /// them sets them again. A virtual IP may have moved to another host meanwhile, and the name of a tap to another guest.
    pub fn of_earlier_boot(mut self) -> Self {
        let mut state = std::mem::take(&mut self.state);
        for interface in list(&mut state, "/interfaces") {
            let name = interface["name"].as_str().unwrap_or_default().to_owned();
            for family in ["/ipv4/address", "/ipv6/address"] {
                if let Some(Value::Array(addresses)) = interface.pointer_mut(family) {
                    addresses.retain(|address| !self.is_address_of_others(&name, address));
                }
            }
        }
        if let Some(Value::Array(routes)) = state.pointer_mut("/routes/config") {
            routes.retain(|route| !self.is_route_of_others(route));
        }
        foreign_port::remove_from_linux_bridges(&mut state);
        Self { state, foreign: Vec::new(), routes: Vec::new(), links: Vec::new(), ..self }
    }

    pub(crate) fn is_address_of_others(&self, interface: &str, address: &Value) -> bool {
        let ip = address["ip"].as_str().and_then(|ip| ip.parse().ok());
        self.foreign.iter().any(|foreign| foreign.interface == interface && ip == Some(foreign.ip))
    }

    pub(crate) fn is_route_of_others(&self, route: &Value) -> bool {
        let table = route["table-id"].as_u64().unwrap_or(254);
        let hop = route["next-hop-interface"].as_str().unwrap_or_default();
        self.routes.iter().any(|foreign| {
            route["destination"] == foreign.destination
                && u64::from(foreign.table) == table
                && foreign.interfaces.iter().any(|interface| interface == hop)
        })
    }
}

fn list<'a>(state: &'a mut Value, at: &str) -> impl Iterator<Item = &'a mut Value> {
    state.pointer_mut(at).and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{AddressFact, RouteFact};
    use serde_json::json;

    #[test]
    fn what_others_had_in_the_kernel_ends_with_the_boot() {
        let mut state = json!({
            "interfaces": [
                { "name": "eth0", "type": "ethernet", "state": "up",
                  "ipv4": { "enabled": true, "address": [{ "ip": "10.9.0.2" }, { "ip": "10.9.0.99" }] } },
                { "name": "br0", "type": "linux-bridge", "state": "up",
                  "bridge": { "port": [{ "name": "eth1" }] } },
                { "name": "br-ex", "type": "ovs-bridge", "state": "up",
                  "bridge": { "port": [{ "name": "patch0" }] } }
            ],
            "routes": { "config": [
                { "destination": "0.0.0.0/0", "next-hop-interface": "eth0" },
                { "destination": "10.7.0.0/16", "next-hop-interface": "eth0" }
            ]}
        });
        let kept = state.clone();
        foreign_port::add(&mut state, "tap0", "br0");
        let route = RouteFact {
            destination: "10.7.0.0/16".into(),
            table: 254,
            metric: 0,
            protocol: 12,
            interfaces: vec!["eth0".into()],
            message: String::new(),
        };
        let foreign = vec![AddressFact::test("eth0", "10.9.0.99")];
        let snapshot =
            Snapshot { state, foreign, routes: vec![route], ..Snapshot::default() }.of_earlier_boot();
        let mut expected = kept;
        expected["interfaces"][0]["ipv4"]["address"] = json!([{ "ip": "10.9.0.2" }]);
        expected["routes"]["config"] = json!([{ "destination": "0.0.0.0/0", "next-hop-interface": "eth0" }]);
        assert_eq!(snapshot.state, expected);
        assert!(snapshot.foreign.is_empty() && snapshot.routes.is_empty() && snapshot.links.is_empty());
    }
}
