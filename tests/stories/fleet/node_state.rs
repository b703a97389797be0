//! The NodeNetworkState is complete, and is written only when it changed.

use linesman_tests::fleet::{Fleet, STATES};
use linesman_tests::observe::list;
use serde_json::{Value, json};

fn state(fleet: &Fleet, node: &str) -> Value {
    fleet.get(STATES, node).unwrap_or_default()["status"]["currentState"].clone()
}

fn interface(fleet: &Fleet, node: &str, name: &str) -> Option<Value> {
    list(&state(fleet, node)["interfaces"]).iter().find(|i| i["name"] == name).cloned()
}

/// How often the state of a node was written, by the API server's own log.
fn writes(fleet: &Fleet, node: &str) -> usize {
    let own =
        |e: &&linesman_lab::cluster::Event| e.resource == "nodenetworkstates" && e.name == node && e.writes();
    fleet.audit().iter().filter(own).count()
}

/// The next thing that is seen comes after everything that was to be seen before.
fn until_seen(fleet: &Fleet, node: &str, name: &str) {
    fleet.node(node).run(["ip", "link", "add", name, "type", "bridge"]).unwrap();
    fleet.eventually(&format!("{name} is reported"), || interface(fleet, node, name).is_some());
}

#[test]
fn a_node_reports_its_state_when_it_changes() {
    let fleet = Fleet::without_agents("node-state", 1);
    let node = fleet.node("n1");
    node.ovs_vsctl(&["set", "Open_vSwitch", ".", "external_ids:rack=r7"]).unwrap();
    node.run(["ip", "rule", "add", "from", "192.0.2.0/24", "lookup", "100", "priority", "777"]).unwrap();
    // As network plugins have it: NetworkManager leaves Pods' interfaces alone.
    let config = "[keyfile]\nunmanaged-devices=interface-name:veth*\n";
    node.write_file("/etc/NetworkManager/conf.d/pods.conf", config, 0o644).unwrap();
    node.nmcli(&["general", "reload"]).unwrap();
    fleet.start_agent_with_options(node, &["--interface-filter", "cali*"]);
    fleet.eventually("a first report", || interface(&fleet, "n1", "eth0").is_some());

    let seen = state(&fleet, "n1");
    assert_eq!(seen["ovs-db"]["external_ids"]["rack"], "r7");
    assert!(seen["hostname"]["running"].is_string(), "{}", seen["hostname"]);
    assert!(
        list(&seen["route-rules"]["config"]).iter().any(|rule| rule["priority"] == 777),
        "{}",
        seen["route-rules"]
    );
    assert!(list(&seen["routes"]["running"]).iter().any(|route| route["destination"] == "0.0.0.0/0"));
    assert!(list(&seen["dns-resolver"]["running"]["server"]).contains(&json!("10.9.0.1")), "{seen:#}");

    // Traffic and lifetimes are no change; veths of Pods and what the filter names are not shown.
    let before = writes(&fleet, "n1");
    node.sh("for i in 1 2 3 4 5; do ping -c1 -W1 10.9.0.1 >/dev/null; done; \
             ip address change 10.9.0.11/24 dev eth0 valid_lft 4000 preferred_lft 4000 2>/dev/null; \
             ip link add cali1 type bridge; \
             ip netns add pod; ip link add vethpod type veth peer name vethin netns pod; ip link set vethpod up")
        .unwrap();
    until_seen(&fleet, "n1", "mark1");
    assert!(interface(&fleet, "n1", "cali1").is_none(), "the filter");
    assert_eq!(
        interface(&fleet, "n1", "vethpod"),
        None,
        "a veth that NetworkManager leaves alone is a Pod's"
    );
    let after = writes(&fleet, "n1");
    assert!(after > before && after - before <= 2, "from {before} to {after}: one change, one report");

    // A change by hand arrives; that nothing changed does not.
    node.run(["ip", "link", "set", "eth2", "mtu", "1400"]).unwrap();
    fleet.eventually("the MTU arrives", || interface(&fleet, "n1", "eth2").is_some_and(|i| i["mtu"] == 1400));

    // Somebody asks for a report.
    let before = writes(&fleet, "n1");
    let object = format!("{STATES}/n1");
    fleet.cluster.run(&["label", &object, "nmstate.io/force-nns-refresh=1"]).unwrap();
    fleet.eventually("a forced report", || writes(&fleet, "n1") > before);

    // Deleted, it is made again; it goes with its node.
    let uid = |object: &Option<Value>| object.as_ref().map(|o| o["metadata"]["uid"].clone());
    let old = uid(&fleet.get(STATES, "n1"));
    fleet.cluster.run(&["delete", &object]).unwrap();
    fleet.eventually("made again", || {
        let new = fleet.get(STATES, "n1");
        new.is_some() && uid(&new) != old && interface(&fleet, "n1", "eth0").is_some()
    });
    let owner = fleet.get(STATES, "n1").unwrap()["metadata"]["ownerReferences"][0].clone();
    assert_eq!((&owner["kind"], &owner["name"]), (&json!("Node"), &json!("n1")));
}

#[test]
fn an_address_that_flaps_is_not_reported_each_time() {
    let fleet = Fleet::without_agents("flapping", 1);
    let node = fleet.node("n1");
    node.run(["ip", "link", "add", "cali1", "type", "bridge"]).unwrap();
    node.run(["ip", "link", "set", "cali1", "up"]).unwrap();
    fleet.start_agent_with_options(node, &["--interface-filter", "cali*"]);
    until_seen(&fleet, "n1", "mark1");
    // What starting up set in motion is reported before the answer to a request.
    fleet.refresh("n1");

    let flap = |device: &str| {
        format!(
            "for i in $(seq 60); do ip address add 192.0.2.7/32 dev {device}; sleep 0.1; \
             ip address del 192.0.2.7/32 dev {device}; sleep 0.05; done"
        )
    };
    let (before, start) = (writes(&fleet, "n1"), std::time::Instant::now());
    node.sh(&flap("eth2")).unwrap();
    node.run(["ip", "address", "add", "192.0.2.9/32", "dev", "eth2"]).unwrap();
    fleet.eventually("the last state arrives", || {
        interface(&fleet, "n1", "eth2").is_some_and(|i| i["ipv4"].to_string().contains("192.0.2.9"))
    });
    let (written, seconds) = (writes(&fleet, "n1") - before, start.elapsed().as_secs());
    // The first one at once, one a second at most, the last one.
    assert!(written >= 2, "no report, so this proves nothing");
    assert!(written as u64 <= seconds + 2, "{written} writes in {seconds} s");

    fleet.refresh("n1");
    let before = writes(&fleet, "n1");
    node.sh(&flap("cali1")).unwrap();
    until_seen(&fleet, "n1", "mark2");
    let written = writes(&fleet, "n1") - before;
    assert!(written <= 2, "only mark2 is news: {written} writes");
}
