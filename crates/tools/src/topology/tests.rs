use serde_json::json;

use super::*;

fn host() -> Topology {
    Topology::of(&json!({"interfaces": [
        {"name": "lo", "type": "loopback", "state": "up"},
        {"name": "eth0", "type": "ethernet", "state": "up"},
        {"name": "eth1", "type": "ethernet", "state": "up"},
        {"name": "eth0.5", "type": "vlan", "state": "up", "vlan": {"id": 5, "base-iface": "eth0"}},
        {"name": "br5", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth0.5"}, {"name": "tap0"}]}},
        {"name": "tap0", "type": "tun", "state": "up", "controller": "br5"},
    ], "routes": {"running": [{"destination": "0.0.0.0/0", "next-hop-interface": "br5", "next-hop-address": "192.0.2.1"}]}}))
}

fn names(topology: &Topology) -> Vec<&str> {
    topology.interfaces.iter().map(|interface| interface.name.as_str()).collect()
}

#[test]
fn around_an_interface_is_what_it_stands_on_and_what_it_carries() {
    let around = |name: &str| host().around(&[name.to_owned()]).unwrap();
    assert_eq!(names(&around("br5")), ["eth0", "eth0.5", "br5", "tap0"]);
    assert_eq!(names(&around("eth1")), ["eth1"]);
    assert_eq!(names(&around("lo")), ["lo"]);
    assert!(around("lo").text(false).contains("lo"));
    assert_eq!(host().around(&[]).unwrap(), host());
}

#[test]
fn an_unknown_interface_lists_the_known_ones() {
    let error = host().around(&["eth7".into()]).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no interface eth7 in this state; there are: br5, eth0, eth0.5, eth1, lo, tap0"
    );
}

#[test]
fn the_path_of_the_default_route_is_marked_down_to_the_hardware() {
    let host = host();
    let marked = host.interfaces.iter().filter(|i| i.on_default_path).map(|i| i.name.as_str());
    assert_eq!(marked.collect::<Vec<_>>(), ["eth0", "eth0.5", "br5"]);
}

#[test]
fn a_circle_is_drawn_and_does_not_hang() {
    let vlan =
        |name: &str, base: &str| json!({"name": name, "type": "vlan", "vlan": {"id": 5, "base-iface": base}});
    let circle = Topology::of(&json!({"interfaces": [vlan("a", "b"), vlan("b", "a"), vlan("c", "c")]}));
    assert!(["a", "b", "c"].iter().all(|name| circle.text(false).contains(&format!("● {name}"))));
    assert!(circle.svg().ends_with("</svg>\n"));
}

#[test]
fn a_chain_without_end_stays_readable() {
    let vlan = |n: usize| json!({"name": format!("v{n}"), "type": "vlan", "vlan": {"id": 5, "base-iface": format!("v{}", n + 1)}});
    let chain = Topology::of(&json!({"interfaces": (0..300).map(vlan).collect::<Vec<_>>()}));
    let text = chain.text(false);
    assert!(text.lines().all(|line| line.chars().count() < 160), "{text}");
    assert!((0..=300).all(|n| text.contains(&format!(" v{n} "))), "{text}");
    assert!(chain.svg().ends_with("</svg>\n"));
}

#[test]
fn colours_only_when_asked() {
    assert!(!host().text(false).contains('\x1b') && host().text(true).contains('\x1b'));
}

#[test]
fn hostile_names_stay_text() {
    let evil = json!({"interfaces": [{"name": "<script>\u{1}&\"", "type": "dummy"}]});
    let svg = Topology::of(&evil).svg();
    assert!(svg.contains("&lt;script&gt;\u{fffd}&amp;&quot;") && !svg.contains("<script"));
}

#[test]
fn an_empty_state_has_no_interfaces() {
    let empty = Topology::of(&json!({}));
    assert_eq!(empty.text(false), "no interfaces\n");
    assert!(empty.svg().ends_with("</svg>\n"));
}
