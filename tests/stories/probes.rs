//! Probes on a real node: with NetworkManager's own addresses, routes and resolv.conf, against the hub.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use linesman_lab::{Lab, Node, Service};
use serde_json::{Value, json};

use crate::on_node::{say, start};

fn connected(lab: &Lab) -> Node {
    let node = start(lab);
    node.configure_static().unwrap();
    node
}

fn probe(node: &Node, probes: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = ["probe"].iter().chain(probes).copied().collect();
    say(node, &words, Value::Null).as_array().unwrap().clone()
}

fn results(reports: &[Value]) -> Vec<&str> {
    reports.iter().map(|report| report["status"]["result"].as_str().unwrap()).collect()
}

/// Waits for the probes, with so much patience that giving up fails the test.
fn wait(node: &Node, before: &[Value], probes: &[&str]) -> Value {
    let words: Vec<&str> = ["wait", "240000"].iter().chain(probes).copied().collect();
    say(node, &words, json!(before))
}

#[test]
fn a_connected_node_passes_them_all() {
    let lab = Lab::start("probes").unwrap();
    let node = connected(&lab);
    let defaults = probe(&node, &[]);
    assert_eq!(results(&defaults), ["passed", "passed", "passed"], "{defaults:#?}");
    let more = [
        "tcp:gateway.lab.test:80",
        "http://gateway.lab.test/",
        "ping:10.9.0.1",
        "ping:fd09::1",
        "dns:n1.lab.test",
    ];
    let reports = probe(&node, &more);
    assert_eq!(results(&reports), ["passed"; 5], "{reports:#?}");
}

#[test]
fn probes_without_an_answer_fail_and_name_the_target() {
    let lab = Lab::start("probes-silent").unwrap();
    let node = connected(&lab);
    for service in [Service::Dns, Service::Gateway, Service::Http] {
        lab.hub().silence(service).unwrap();
    }
    let reports = probe(&node, &["gateway:v4", "dns", "tcp:10.9.0.1:80", "ping:10.9.0.1"]);
    assert_eq!(results(&reports), ["passed", "failed", "failed", "failed"], "{reports:#?}");
    let note = reports[0]["status"]["note"].as_str().unwrap();
    assert!(note.contains("layer 2"), "{note}");
    assert!(reports[1]["status"]["why"].as_str().unwrap().contains("10.9.0.1 does not answer"));
    lab.hub().block(&node).unwrap();
    assert_eq!(results(&probe(&node, &["gateway:v4", "gateway:v6"])), ["failed", "failed"]);
}

/// Probes that failed before are not waited for: this would take four minutes otherwise, and the lab's limit is five.
#[test]
fn probes_that_failed_before_the_change_cost_little_time() {
    let lab = Lab::start("probes-before").unwrap();
    let node = connected(&lab);
    lab.hub().silence(Service::Dns).unwrap();
    let probes = ["gateway", "dns"];
    let before = probe(&node, &probes);
    assert_eq!(results(&before), ["passed", "passed", "failed"]);
    let after = wait(&node, &before, &probes);
    assert_eq!(after["holds"], true);
    assert_eq!(results(after["after"].as_array().unwrap()), ["passed", "passed", "failed"]);
}

#[test]
fn a_temporary_loss_of_packets_is_waited_for() {
    let lab = Lab::start("probes-late").unwrap();
    let node = connected(&lab);
    let probes = ["gateway", "dns"];
    let before = probe(&node, &probes);
    lab.hub().block(&node).unwrap();
    let words = ["on-node", "wait", "240000"].iter().chain(&probes);
    let waiting = node.command(words).unwrap().input(json!(before).to_string()).spawn().unwrap();
    assert_eq!(results(&probe(&node, &["gateway:v4"])), ["failed"]);
    assert!(waiting.status().is_none(), "it still waits");
    lab.hub().unblock(&node).unwrap();
    let output = waiting.wait().unwrap();
    let after: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(after["holds"], true, "{after:#}");
}

#[test]
fn a_lost_default_route_fails_the_change() {
    let lab = Lab::start("probes-route").unwrap();
    let node = connected(&lab);
    let probes = ["gateway"];
    let before = probe(&node, &probes);
    // One family alone may go, unless somebody names it.
    node.sh("ip -6 route del default").unwrap();
    assert_eq!(say(&node, &["wait", "1000", "gateway"], json!(before))["holds"], true);
    assert_eq!(say(&node, &["wait", "1000", "gateway:v6"], json!(before))["holds"], false);
    node.sh("ip route del default").unwrap();
    let after = say(&node, &["wait", "1000", "gateway"], json!(before));
    assert_eq!(after["holds"], false);
    let reason = after["reason"].as_str().unwrap();
    assert!(reason.starts_with("gateway:v4 failed: there is no IPv4 default route"), "{reason}");
}
