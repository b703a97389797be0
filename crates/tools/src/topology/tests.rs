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

/// The width of a picture, which also has to name every interface.
fn width(name: &str, interfaces: Vec<Value>) -> f64 {
    let topology = Topology::of(&json!({ "interfaces": interfaces }));
    let svg = topology.svg();
    for interface in &topology.interfaces {
        let name = &interface.name;
        assert!(
            svg.contains(&format!(">{name}<")) || svg.contains(&format!(">{name} ")),
            "{name} is missing"
        );
    }
    let path = std::env::var_os("LINESMAN_PICTURES").map(std::path::PathBuf::from);
    if let Some(folder) = path {
        std::fs::write(folder.join(format!("{name}.svg")), &svg).unwrap();
    }
    svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
}

/// LINESMAN_PICTURES=FOLDER leaves the pictures there to be looked at.
#[test]
fn a_picture_is_as_wide_as_a_screen_however_many_interfaces_there_are() {
    let address = |n: usize| json!({"enabled": true, "address": [{"ip": format!("10.{}.{}.1", n / 250, n % 250), "prefix-length": 24}]});
    let plain = |n: usize| json!({"name": format!("eth{n}"), "type": "ethernet", "state": "up"});
    let addressed =
        |n: usize| json!({"name": format!("eth{n}"), "type": "ethernet", "state": "up", "ipv4": address(n)});
    let vlan = |n: usize| {
        json!({"name": format!("eth0.{n}"), "type": "vlan", "state": "up", "ipv4": address(n),
        "vlan": {"id": n, "base-iface": "eth0"}})
    };
    let bridge = |n: usize| {
        json!({"name": format!("br{n}"), "type": "linux-bridge", "state": "up",
        "bridge": {"port": [{"name": format!("eth0.{n}")}]}})
    };
    let own_bridge = |n: usize| {
        json!({"name": format!("br{n}"), "type": "linux-bridge", "state": "up",
        "ipv4": address(n), "bridge": {"port": [{"name": format!("eth{n}")}]}})
    };
    let port =
        |n: usize| json!({"name": format!("eth{n}"), "type": "ethernet", "state": "up", "controller": "br0"});
    for count in [1, 5, 500] {
        let all = |make: &dyn Fn(usize) -> Value| (0..count).map(make).collect::<Vec<_>>();
        let hosts = [
            ("plain", all(&plain)),
            ("addressed", all(&addressed)),
            ("vlans", [vec![plain(0)], all(&vlan)].concat()),
            ("stacks", [vec![plain(0)], all(&vlan), all(&bridge)].concat()),
            ("pairs", [all(&plain), all(&own_bridge)].concat()),
            ("ports", [all(&port), vec![json!({"name": "br0", "type": "linux-bridge", "state": "up",
                "bridge": {"port": (0..count).map(|n| json!({"name": format!("eth{n}")})).collect::<Vec<_>>()}})]].concat()),
        ];
        for (name, interfaces) in hosts {
            let width = width(&format!("{name}-{count}"), interfaces);
            assert!(width <= 1600.0, "{name} {count}: {width}");
        }
    }
}

/// Rows that nothing holds in place used to wander apart.
#[test]
fn what_nothing_holds_stays_beside_the_rest() {
    let tunnels =
        ["gre0", "erspan0", "tunl0"].map(|name| json!({"name": name, "type": "dummy", "state": "down"}));
    let mut interfaces = vec![
        json!({"name": "eth0", "type": "ethernet", "state": "up"}),
        json!({"name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth0"}]}}),
        json!({"name": "tap0", "type": "tun", "state": "up"}),
        json!({"name": "tap1", "type": "tun", "state": "up"}),
        json!({"name": "eth1", "type": "ethernet", "state": "up"}),
    ];
    interfaces.extend(tunnels);
    assert!(width("loose", interfaces) < 1200.0);
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
