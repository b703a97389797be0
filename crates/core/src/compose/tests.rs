use super::*;
use serde_json::json;

fn policy(name: &str, state: Value) -> Policy {
    Policy { name: name.into(), state, capture: None, options: crate::policy::Options::default() }
}

fn composed(policies: &[Policy]) -> Result<Value, Vec<String>> {
    let all: Vec<&Policy> = policies.iter().collect();
    compose(&all).map_err(|conflicts| conflicts.iter().map(ToString::to_string).collect())
}

fn bridge(name: &str, ports: &[&str]) -> Value {
    let ports: Vec<Value> = ports.iter().map(|p| json!({ "name": p })).collect();
    json!({ "name": name, "type": "linux-bridge", "state": "up", "bridge": { "port": ports } })
}

#[test]
fn what_is_about_different_things_adds_up() {
    let route = |to: &str| json!({ "destination": to, "next-hop-interface": "br1" });
    let one = policy(
        "one",
        json!({ "interfaces": [bridge("br1", &["eth1"])], "routes": { "config": [route("10.1.0.0/16")] } }),
    );
    let two = policy(
        "two",
        json!({ "interfaces": [{ "name": "br1", "mtu": 9000 }], "routes": { "config": [route("10.2.0.0/16"), route("10.1.0.0/16")] } }),
    );
    let state = composed(&[one, two]).unwrap();
    assert_eq!(state["interfaces"].as_array().unwrap().len(), 1);
    assert_eq!(state["interfaces"][0]["mtu"], 9000);
    assert_eq!(state["interfaces"][0]["type"], "linux-bridge");
    assert_eq!(state["routes"]["config"].as_array().unwrap().len(), 2);
}

#[test]
fn a_conflict_names_both_policies_and_the_path() {
    let mtu = |name: &str, mtu: u64| policy(name, json!({ "interfaces": [{ "name": "eth1", "mtu": mtu }] }));
    let said = composed(&[mtu("storage", 9000), mtu("office", 1500)]).unwrap_err();
    assert_eq!(said, ["interfaces[eth1].mtu: office wants 1500, storage wants 9000"]);
}

#[test]
fn complete_lists_must_be_the_same_but_for_their_order() {
    let one = |ports| policy("one", json!({ "interfaces": [bridge("br1", ports)] }));
    let two = |ports| policy("two", json!({ "interfaces": [bridge("br1", ports)] }));
    assert!(composed(&[one(&["eth1", "eth2"]), two(&["eth2", "eth1"])]).is_ok());
    let said = composed(&[one(&["eth1"]), two(&["eth2"])]).unwrap_err();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("interfaces[br1].bridge.port: one wants"), "{said:?}");
}

#[test]
fn an_interface_cannot_be_up_and_absent() {
    let there = policy("there", json!({ "interfaces": [bridge("br1", &[])] }));
    let gone = policy("gone", json!({ "interfaces": [{ "name": "br1", "state": "absent" }] }));
    assert_eq!(
        composed(&[there, gone]).unwrap_err(),
        ["interfaces[br1].state: gone wants absent, there wants up"]
    );
}

#[test]
fn a_bridge_of_ovs_and_its_interface_are_two() {
    let one = policy("one", json!({ "interfaces": [{ "name": "br-ex", "type": "ovs-bridge", "mtu": 1 }] }));
    let two =
        policy("two", json!({ "interfaces": [{ "name": "br-ex", "type": "ovs-interface", "mtu": 2 }] }));
    assert_eq!(composed(&[one, two]).unwrap()["interfaces"].as_array().unwrap().len(), 2);
}

#[test]
fn routes_to_one_destination_conflict_unless_they_have_weights() {
    let way = |name: &str, gateway: &str, weight: Value| {
        policy(
            name,
            json!({ "routes": { "config": [{ "destination": "0.0.0.0/0", "next-hop-address": gateway,
            "next-hop-interface": "eth0", "weight": weight }] } }),
        )
    };
    assert!(composed(&[way("a", "10.0.0.1", Value::Null), way("b", "10.0.0.2", Value::Null)]).is_err());
    assert!(composed(&[way("a", "10.0.0.1", json!(1)), way("b", "10.0.0.2", json!(1))]).is_ok());
    let gone = policy(
        "gone",
        json!({ "routes": { "config": [{ "next-hop-interface": "eth0", "state": "absent" }] } }),
    );
    assert!(composed(&[way("a", "10.0.0.1", Value::Null), gone]).is_err());
}

#[test]
fn what_builds_on_what_comes_later_whatever_its_name() {
    let vlan = json!({ "name": "br1.7", "type": "vlan", "vlan": { "base-iface": "br1", "id": 7 } });
    let upper = policy("a-upper", json!({ "interfaces": [vlan] }));
    let lower = policy("z-lower", json!({ "interfaces": [bridge("br1", &["eth1"])] }));
    let mut first = policy("urgent", json!({ "interfaces": [{ "name": "eth9" }] }));
    first.options.priority = 5;
    let names: Vec<&str> = in_order(&[&upper, &lower, &first]).iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["urgent", "z-lower", "a-upper"]);
}

#[test]
fn a_bridge_mapping_comes_after_its_bridge() {
    let ovn = |mapping: Value| policy("a-mapping", json!({ "ovn": { "bridge-mappings": [mapping] } }));
    let br = policy("z-bridge", json!({ "interfaces": [{ "name": "br1", "type": "ovs-bridge" }] }));
    let order = |mapping: Value| -> Vec<String> {
        in_order(&[&ovn(mapping), &br]).iter().map(|p| p.name.clone()).collect()
    };
    assert_eq!(order(json!({ "localnet": "blue", "bridge": "br1" })), ["z-bridge", "a-mapping"]);
    assert_eq!(
        order(json!({ "localnet": "blue", "bridge": "br1", "state": "absent" })),
        ["a-mapping", "z-bridge"]
    );
}

#[test]
fn the_order_of_the_policies_does_not_matter() {
    let one = policy(
        "one",
        json!({ "interfaces": [bridge("br1", &["eth1"])], "dns-resolver": { "config": { "server": ["10.0.0.1"] } } }),
    );
    let two =
        policy("two", json!({ "interfaces": [bridge("br2", &["eth2"]), { "name": "br1", "mtu": 9000 }] }));
    assert_eq!(composed(&[one.clone(), two.clone()]), composed(&[two, one]));
}

#[test]
fn the_order_of_many_policies_is_found_soon() {
    // Each tenth builds on the one before; a cost that grew with the cube of their number would take hours.
    let all: Vec<Policy> = (0..1000)
        .rev()
        .map(|n| {
            let port = format!("br{}", n + 1);
            let ports: &[&str] = if n % 10 == 0 { &[&port] } else { &[] };
            policy(&format!("p{n:04}"), json!({ "interfaces": [bridge(&format!("br{n}"), ports)] }))
        })
        .collect();
    let ordered = in_order(&all.iter().collect::<Vec<_>>());
    let place = |n: usize| ordered.iter().position(|p| p.name == format!("p{n:04}")).unwrap();
    assert!((0..1000).step_by(10).all(|n| place(n + 1) < place(n)));
    assert!(compose(&all.iter().collect::<Vec<_>>()).is_ok());
}
