//! The interfaces of one state by name: a host may have hundreds, and they are looked up all the time.

use std::collections::HashMap;

use serde_json::Value;

use crate::interface_kind::InterfaceKind;
use crate::state::{interfaces, kind, name};

#[derive(Debug)]
pub(crate) struct InterfaceIndex<'a>(HashMap<&'a str, Vec<&'a Value>>);

impl<'a> InterfaceIndex<'a> {
    pub(crate) fn new(state: &'a Value) -> Self {
        let mut by_name: HashMap<&str, Vec<&Value>> = HashMap::new();
        for interface in interfaces(state) {
            by_name.entry(name(interface)).or_default().push(interface);
        }
        Self(by_name)
    }

    /// All of that name: at most an OVS bridge and a kernel interface.
    pub(crate) fn named(&self, wanted: &str) -> &[&'a Value] {
        self.0.get(wanted).map_or(&[], Vec::as_slice)
    }

    /// The interface of that name and type. Kernel names are unique, so any type matches there; without a type
    /// (`unknown`) an OVS bridge is found too, if nothing else has the name.
    pub(crate) fn find(&self, wanted: &str, wanted_kind: InterfaceKind) -> Option<&'a Value> {
        let named = self.named(wanted);
        let kernel = || named.iter().find(|interface| !kind(interface).is_userspace());
        let found = if wanted_kind.is_userspace() {
            named.iter().find(|interface| kind(interface) == wanted_kind)
        } else if wanted_kind == InterfaceKind::Unknown {
            kernel().or_else(|| named.first())
        } else {
            kernel()
        };
        found.copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bridge_and_its_internal_interface_share_a_name() {
        let state = json!({"interfaces": [{"name": "br-ex", "type": "ovs-bridge"}, {"name": "br9", "type": "ovs-bridge"},
                                          {"name": "br-ex", "type": "ovs-interface"}]});
        let index = InterfaceIndex::new(&state);
        assert_eq!(index.find("br-ex", InterfaceKind::OvsBridge).map(kind), Some(InterfaceKind::OvsBridge));
        assert_eq!(
            index.find("br-ex", InterfaceKind::OvsInterface).map(kind),
            Some(InterfaceKind::OvsInterface)
        );
        assert_eq!(index.find("br-ex", InterfaceKind::Unknown).map(kind), Some(InterfaceKind::OvsInterface));
        assert_eq!(index.find("br9", InterfaceKind::Unknown).map(kind), Some(InterfaceKind::OvsBridge));
        assert_eq!(index.find("br9", InterfaceKind::Ethernet), None);
    }
}
