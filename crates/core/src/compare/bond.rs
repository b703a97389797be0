//! Bonds: mode, options and ports.

use serde_json::Value;

use super::findings::Findings;
use super::interface::{port_names, without};
use super::view::{Declared, View};
use crate::bond_option::is_shown;
use crate::path::Path;
use crate::state::{self, list, name};

pub(super) fn compare(view: &View<'_>, declared: &Declared, got: &Value, found: &mut Findings) {
    let (want, at) = (&declared.want["link-aggregation"], declared.path.key("link-aggregation"));
    let had = got.get("link-aggregation");
    found.holds(&at, &without(want, &["port", "ports-config", "options"]), had);
    let declared_options = shown(&want["options"], mode(Some(want)), mode(had));
    options(&at.key("options"), &declared_options, had.and_then(|had| had.get("options")), found);
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

fn mode(bond: Option<&Value>) -> Option<&str> {
    bond.and_then(|bond| bond.get("mode")).and_then(Value::as_str)
}

/// Without options that can never be seen: they are for other modes than the one that the bond has and keeps.
fn shown(options: &Value, wanted: Option<&str>, now: Option<&str>) -> Value {
    let mut options = options.clone();
    if let (Some(now), Some(all)) =
        (now.filter(|now| wanted.is_none_or(|wanted| wanted == *now)), options.as_object_mut())
    {
        all.retain(|option, _| is_shown(option, now));
    }
    options
}

const DELAYS: [&str; 3] = ["updelay", "downdelay", "peer_notif_delay"];

/// The driver rounds delays down to what it counts in.
fn options(at: &Path, want: &Value, got: Option<&Value>, found: &mut Findings) {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let tick =
        number(want.get("miimon")).or(number(got.and_then(|got| got.get("miimon")))).filter(|n| *n > 0);
    for (key, want) in want.as_object().into_iter().flatten() {
        if let (true, Some(tick), Some(want)) = (DELAYS.contains(&key.as_str()), tick, number(Some(want)))
            && number(got.and_then(|got| got.get(key))) == Some(want - want % tick)
        {
            continue;
        }
        let got = got.and_then(|got| got.get(key));
        if !(is_nothing(want) && got.is_none_or(is_nothing)) {
            found.holds(&at.key(key), want, got);
        }
    }
}

/// No targets, no primary port: what is not there is not shown.
fn is_nothing(option: &Value) -> bool {
    matches!(option.as_str(), Some("" | "none")) || option.as_array().is_some_and(Vec::is_empty)
}

fn port_configs(view: &View<'_>, at: &Path, want: &[Value], got: &[Value], found: &mut Findings) {
    for want in want {
        if let Some(got) = got.iter().find(|got| name(got) == view.device(name(want))) {
            found.holds(&at.item(name(want)), &without(want, &["name"]), Some(got));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differs(want: &Value, got: &Value) -> bool {
        let mut found = Findings::default();
        options(&Path::root(), want, Some(got), &mut found);
        !found.0.is_empty()
    }

    #[test]
    fn delays_are_rounded_by_the_driver() {
        let want = json!({"miimon": 100, "updelay": 250});
        assert!(!differs(&want, &json!({"miimon": 100, "updelay": 200})));
        assert!(differs(&want, &json!({"miimon": 100, "updelay": 100})));
        assert!(differs(&want, &json!({"miimon": 200, "updelay": 200})));
    }

    #[test]
    fn options_for_another_mode_are_not_compared() {
        let options = json!({"tlb_dynamic_lb": true, "fail_over_mac": "active", "lacp_rate": "fast"});
        let lacp = Some("802.3ad");
        assert_eq!(shown(&options, lacp, lacp), json!({"lacp_rate": "fast"}));
        assert_eq!(shown(&options, None, lacp), json!({"lacp_rate": "fast"}));
        assert_eq!(shown(&options, Some("balance-tlb"), lacp), options, "the mode changes");
        assert_eq!(shown(&options, lacp, None), options, "it is no bond yet");
        assert_eq!(shown(&Value::Null, lacp, lacp), Value::Null);
    }

    #[test]
    fn nothing_is_as_good_as_not_shown() {
        for key in ["primary", "arp_ip_target"] {
            assert!(!differs(&json!({key: ""}), &json!({})));
            assert!(!differs(&json!({key: ""}), &json!({key: ""})));
            assert!(differs(&json!({key: ""}), &json!({key: "10.0.0.1"})));
            assert!(differs(&json!({key: "10.0.0.1"}), &json!({})));
        }
        assert!(differs(&json!({"fail_over_mac": "none"}), &json!({"fail_over_mac": "active"})));
    }
}
