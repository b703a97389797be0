//! Bridges, their ports and spanning tree.

use linesman_core::interface_kind::InterfaceKind;
use serde_json::{Value, json};

use super::Work;
use super::bonds::{per_port, seconds};
use crate::import::draft::{self, Section, put, put_section};
use crate::import::fields::Fields;

impl Work<'_> {
    pub(super) fn bridge(&mut self, fields: &mut Fields, interface: &mut Section) {
        let ports: Vec<String> =
            fields.texts("interfaces", &mut self.log).into_iter().map(|at| at.value).collect();
        let mut parameters = fields.map("parameters", &mut self.log).unwrap_or_default();
        let options = self.bridge_options(&mut parameters);
        let log = &mut self.log;
        let (priorities, costs) =
            (per_port(&mut parameters, "port-priority", log), per_port(&mut parameters, "path-cost", log));
        parameters.leave("not supported by NMState", log);

        let port = |id: &String| {
            let mut port = Section::from_iter([("name".to_owned(), Value::from(self.named(id)))]);
            put(&mut port, "stp-path-cost", costs.get(id).copied());
            put(&mut port, "stp-priority", priorities.get(id).copied());
            Value::Object(port)
        };
        let ports: Vec<Value> = ports.iter().map(port).collect();
        interface.insert("bridge".into(), json!({ "options": options, "port": ports }));
    }

    fn bridge_options(&mut self, parameters: &mut Fields) -> Section {
        let log = &mut self.log;
        let mut options = Section::new();
        for key in ["ageing-time", "aging-time"] {
            if let Some(at) = parameters.text(key, log) {
                put(&mut options, "mac-ageing-time", seconds(&at, log));
            }
        }
        // Without the key netplan switches it on.
        let mut stp =
            Section::from_iter([("enabled".to_owned(), parameters.flag("stp", log).unwrap_or(true).into())]);
        put(&mut stp, "priority", parameters.number::<u32>("priority", log));
        for key in ["forward-delay", "hello-time", "max-age"] {
            if let Some(at) = parameters.text(key, log) {
                put(&mut stp, key, seconds(&at, log));
            }
        }
        put_section(&mut options, "stp", stp);
        options
    }

    /// A bridge of Open vSwitch; its addresses are those of an internal port of the same name.
    pub(super) fn ovs_bridge(&mut self, fields: &mut Fields, name: &str) -> Section {
        let mut bridge = draft::interface(name, &InterfaceKind::OvsBridge);
        let mut settings = fields.map("openvswitch", &mut self.log).unwrap_or_default();
        let mut options = Section::new();
        put(&mut options, "fail-mode", settings.value("fail-mode", &mut self.log));
        put(&mut options, "mcast-snooping-enable", settings.flag("mcast-snooping", &mut self.log));
        put(&mut options, "rstp", settings.flag("rstp", &mut self.log));
        settings.leave("not supported by NMState", &mut self.log);
        let listed = fields.texts("interfaces", &mut self.log);
        let ports = listed.iter().map(|at| self.named(&at.value)).chain([name.to_owned()]);
        let ports: Vec<Value> = ports.map(|port| json!({ "name": port })).collect();
        let mut section = Section::new();
        put_section(&mut section, "options", options);
        section.insert("port".into(), ports.into());
        put_section(&mut bridge, "bridge", section);
        bridge
    }
}
