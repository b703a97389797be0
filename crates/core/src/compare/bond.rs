//! Bonds: mode, options and ports.

use serde_json::Value;

use super::findings::Findings;
use super::interface::{port_names, without};
use super::view::{Declared, View};
use crate::path::Path;
use crate::state::{self, list, name};

pub(super) fn compare(view: &View<'_>, declared: &Declared, got: &Value, found: &mut Findings) {
    let (want, at) = (&declared.want["link-aggregation"], declared.path.key("link-aggregation"));
    let had = got.get("link-aggregation");
    found.holds(&at, &without(want, &["port", "ports-config", "options"]), had);
    options(&at.key("options"), &want["options"], had.and_then(|had| had.get("options")), found);
    let got_ports = state::ports(got).unwrap_or_default();
    if let Some(ports) = want.get("port").map(state::strings) {
        port_names(view, &at.key("port"), &ports, &got_ports, found);
    }
    if let Some(configs) = want.get("ports-config").and_then(Value::as_array) {
        if want.get("port").is_none() {
            let names: Vec<&str> = configs.iter().map(name).collect();
            port_names(view, &at.key("ports-config"), &names, &got_ports, found);
        }
        port_configs(
            view,
            &at.key("ports-config"),
            configs,
            list(got, &["link-aggregation", "ports-config"]),
            found,
        );
    }
}

/// Empty lists of targets are the same as none.
fn options(at: &Path, want: &Value, got: Option<&Value>, found: &mut Findings) {
    for (key, want) in want.as_object().into_iter().flatten() {
        let empty = matches!(want.as_str(), Some("")) || want.as_array().is_some_and(Vec::is_empty);
        let target = matches!(key.as_str(), "arp_ip_target" | "ns_ip6_target");
        if !(empty && target) {
            found.holds(&at.key(key), want, got.and_then(|got| got.get(key)));
        }
    }
}

fn port_configs(view: &View<'_>, at: &Path, want: &[Value], got: &[Value], found: &mut Findings) {
    for want in want {
        if let Some(got) = got.iter().find(|got| name(got) == view.device(name(want))) {
            found.holds(&at.item(name(want)), &without(want, &["name"]), Some(got));
        }
    }
}
