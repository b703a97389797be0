//! Linux bridges: options, ports and their VLAN filters.

use serde_json::{Value, json};

use super::findings::Findings;
use super::interface::without;
use super::view::{Declared, View};
use crate::path::Path;
use crate::state::{self, flag, list, name};

/// Kernels that tick 250 times a second hand these back one smaller than they were set.
const ROUNDED: [&str; 5] = [
    "multicast-last-member-interval",
    "multicast-membership-interval",
    "multicast-querier-interval",
    "multicast-query-response-interval",
    "multicast-startup-query-interval",
];

pub(super) fn compare(view: &View<'_>, declared: &Declared, got: &Value, found: &mut Findings) {
    let (want, at) = (&declared.want["bridge"], declared.path.key("bridge"));
    options(&at.key("options"), &want["options"], state::at(got, &["bridge", "options"]), found);
    if let Some(wanted) = want.get("port").and_then(Value::as_array) {
        let extra = flag(want, "allow-extra-ports") == Some(true);
        let got = list(got, &["bridge", "port"]);
        let ports = Ports { view, bridge: &declared.want, at: at.key("port"), got, extra };
        ports.compare(wanted, linux_port, found);
    }
}

fn options(at: &Path, want: &Value, got: Option<&Value>, found: &mut Findings) {
    let mut want = without(want, &["gc-timer", "hello-timer"]);
    // Two names for one option; the kernel's state uses the short one.
    if let Some(mask) = want.as_object_mut().and_then(|fields| fields.shift_remove("group-forward-mask")) {
        want["group-fwd-mask"] = mask;
    }
    let settling = got.is_some_and(is_settling);
    for (key, want) in want.as_object().into_iter().flatten() {
        let got = got.and_then(|got| got.get(key));
        if settling && key == "mac-ageing-time" {
            continue;
        }
        if !(ROUNDED.contains(&key.as_str()) && is_one_less(got, want)) {
            found.holds(&at.key(key), want, got);
        }
    }
}

/// For half a minute after a change in a spanning tree the kernel ages addresses after twice the forward delay, and
/// shows that instead of what was set.
fn is_settling(options: &Value) -> bool {
    let number = |path: &[&str]| state::at(options, path).and_then(Value::as_u64);
    let delay = number(&["stp", "forward-delay"]);
    state::at(options, &["stp", "enabled"]) == Some(&Value::Bool(true))
        && delay.is_some_and(|delay| number(&["mac-ageing-time"]) == Some(2 * delay))
}

fn is_one_less(got: Option<&Value>, want: &Value) -> bool {
    match (got.and_then(Value::as_u64), want.as_u64()) {
        (Some(got), Some(want)) => got.checked_add(1) == Some(want),
        _ => false,
    }
}

/// The ports of a bridge: these and no others of NetworkManager's, unless extra ones are allowed.
pub(super) struct Ports<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) bridge: &'a Value,
    pub(super) at: Path,
    pub(super) got: &'a [Value],
    pub(super) extra: bool,
}

impl Ports<'_> {
    pub(super) fn compare(
        &self,
        wanted: &[Value],
        port: impl Fn(&View<'_>, &Path, &Value, &Value, &mut Findings),
        found: &mut Findings,
    ) {
        for want in wanted {
            let at = self.at.item(name(want));
            let same = |got: &&Value| name(got) == self.view.device(name(want)) && !self.is_phantom(got);
            match self.got.iter().find(same) {
                Some(got) => port(self.view, &at, want, got, found),
                None => found.missing(at, want.clone()),
            }
        }
        let wanted: Vec<&str> = wanted.iter().map(|port| self.view.device(name(port))).collect();
        for got in self.got.iter().filter(|got| !self.extra && !wanted.contains(&name(got))) {
            if !self.stays(got) {
                found.surplus(self.at.item(name(got)), json!({"name": name(got)}));
            }
        }
    }

    fn is_phantom(&self, port: &Value) -> bool {
        port.get("link-aggregation").is_none() && self.view.is_phantom(name(port))
    }

    /// An OVS bond is a port without a device: it belongs to those who attached all of its members.
    fn stays(&self, port: &Value) -> bool {
        match port.get("link-aggregation").filter(|bond| bond.is_object()) {
            None => self.view.stays_with(self.bridge, name(port)),
            Some(bond) => {
                let members = list(bond, &["port"]);
                !members.is_empty()
                    && members.iter().all(|member| self.view.stays_with(self.bridge, name(member)))
            }
        }
    }
}

fn linux_port(_: &View<'_>, at: &Path, want: &Value, got: &Value, found: &mut Findings) {
    found.holds(at, &without(want, &["name", "vlan"]), Some(got));
    if let Some(vlan) = want.get("vlan").filter(|vlan| !vlan.is_null()) {
        filter(&at.key("vlan"), vlan, got.get("vlan"), found);
    }
}

/// A port's VLAN filter; an empty one means that none is set.
pub(super) fn filter(at: &Path, want: &Value, got: Option<&Value>, found: &mut Findings) {
    let none = json!({});
    let got = got.unwrap_or(&none);
    if want.as_object().is_some_and(serde_json::Map::is_empty) {
        if got != &none {
            found.surplus(at.clone(), got.clone());
        }
        return;
    }
    found.holds(
        at,
        &without(want, if is_default_native(want, got) { &TRUNK } else { &TRUNK[..1] }),
        Some(got),
    );
    let had = got.get("trunk-tags").unwrap_or(&Value::Null);
    if let Some(tags) = want.get("trunk-tags").filter(|tags| every_tag(tags) != every_tag(had)) {
        found.add(at.key("trunk-tags"), tags.clone(), had.clone());
    }
}

const TRUNK: [&str; 3] = ["trunk-tags", "enable-native", "tag"];

/// nmstate leaves out the tag that the kernel gives to what comes without one anyway, as if there were no native VLAN.
fn is_default_native(want: &Value, got: &Value) -> bool {
    const OF_THE_KERNEL: u64 = 1;
    flag(want, "enable-native") == Some(true)
        && want["tag"] == OF_THE_KERNEL
        && flag(got, "enable-native") == Some(false)
        && got.get("tag").is_none()
}

/// Single tags and ranges as the sorted tags they stand for.
fn every_tag(tags: &Value) -> Vec<u64> {
    let bounds = |tag: &Value| {
        let id = |value: Option<&Value>| value.and_then(Value::as_u64);
        match id(tag.get("id")) {
            Some(id) => Some((id, id)),
            None => {
                Some((id(state::at(tag, &["id-range", "min"]))?, id(state::at(tag, &["id-range", "max"]))?))
            }
        }
    };
    let all = tags.as_array().into_iter().flatten().filter_map(bounds);
    let mut all: Vec<u64> = all.flat_map(|(low, high)| low..=high.min(4095)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(want: &Value, got: &Value) -> bool {
        let mut found = Findings::default();
        filter(&Path::root(), want, Some(got), &mut found);
        !found.0.is_empty()
    }

    #[test]
    fn a_native_vlan_that_is_the_kernels_default_is_not_shown_and_not_missed() {
        let native = |tag: u16| json!({"mode": "trunk", "enable-native": true, "tag": tag, "trunk-tags": [{"id": 500}]});
        let shown = json!({"mode": "trunk", "enable-native": false, "trunk-tags": [{"id": 500}]});
        assert!(!differs(&native(1), &shown));
        assert!(differs(&native(2), &shown));
        assert!(differs(&native(1), &native(2)));
        assert!(differs(
            &native(1),
            &json!({"mode": "trunk", "enable-native": false, "trunk-tags": [{"id": 501}]})
        ));
    }
}
