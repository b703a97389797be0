//! Settings of a real Open vSwitch: from a file of the host, and from ConfigMaps of a cluster.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use linesman_lab::{Cluster, Lab, Node, Running};
use linesman_tests::api::deploy;
use linesman_tests::binary;
use linesman_tests::wait::eventually;
use serde_json::{Value, json};

const FILE: &str = "/etc/linesman/open-vswitch/settings";

fn node(lab: &Lab) -> Node {
    lab.node("n1").systemd(true).binary(binary()).start().unwrap()
}

fn keeper(node: &Node, options: &[&str]) -> Running {
    let script = "exec linesman ovs-keeper --no-logs --listen 127.0.0.1:9475 \"$@\" 2>>/var/log/keeper.log";
    node.spawn(["sh", "-c", script, "keeper"].iter().chain(options)).unwrap()
}

fn log(node: &Node) -> String {
    String::from_utf8_lossy(&node.read_file("/var/log/keeper.log").unwrap_or_default()).into_owned()
}

fn settings(node: &Node, text: &str) {
    node.write_file(FILE, text, 0o644).unwrap();
}

/// The value of a key of the table Open_vSwitch; empty without it.
fn key(node: &Node, column: &str, key: &str) -> String {
    let words = ["--if-exists", "get", "open_vswitch", ".", &format!("{column}:{key}")];
    node.ovs_vsctl(&words).unwrap().trim().trim_matches('"').to_owned()
}

fn level_of_dpif(node: &Node) -> String {
    let list = node.run(["ovs-appctl", "-t", "ovs-vswitchd", "vlog/list"]).unwrap_or_default();
    let line = list.lines().find(|line| line.starts_with("dpif "));
    line.and_then(|line| line.split_whitespace().nth(3)).unwrap_or_default().to_owned()
}

fn property(node: &Node, name: &str) -> String {
    let words = ["systemctl", "show", "--value", "--property", name, "ovs-vswitchd.service"];
    node.run(words).unwrap().trim().to_owned()
}

#[track_caller]
fn wait(node: &Node, what: &str, holds: impl FnMut() -> bool) {
    let diagnostics = || {
        let row = node.ovs_vsctl(&["list", "open_vswitch"]).unwrap_or_default();
        let ledger = node.read_file("/var/lib/linesman/ovs-keeper/settings.json").unwrap_or_default();
        format!("{row}\n{}\n{}", String::from_utf8_lossy(&ledger), log(node))
    };
    eventually(what, holds, diagnostics);
}

fn metric(node: &Node, line: &str) -> bool {
    let request = "GET /metrics HTTP/1.1\\r\\nHost: lab\\r\\nConnection: close\\r\\n\\r\\n";
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/9475; printf '{request}' >&3; cat <&3");
    let text = node.run(["bash", "-c", &script]).unwrap_or_default();
    text.lines().any(|found| found.trim_end() == line)
}

/// One node for all: each part goes on from the one before.
#[test]
fn settings_of_a_file_are_applied_kept_and_removed() {
    let lab = Lab::start("ovs-settings").unwrap();
    let node = node(&lab);
    node.ovs_vsctl(&["set", "open_vswitch", ".", "other_config:flow-limit=100000"]).unwrap();
    settings(&node, "other_config:max-idle=30000\nlog-level:dpif:file=dbg\novs-vswitchd:memory-high=1G\n");
    let running = keeper(&node, &[]);

    wait(&node, "the key is set", || key(&node, "other_config", "max-idle") == "30000");
    wait(&node, "the level is set", || level_of_dpif(&node) == "DBG");
    wait(&node, "the limit is set", || property(&node, "MemoryHigh") == (1_u64 << 30).to_string());
    assert_eq!(key(&node, "other_config", "flow-limit"), "100000", "nobody asked for it");

    // A log level lasts as long as the process.
    node.run(["systemctl", "kill", "--signal=SIGKILL", "--kill-whom=main", "ovs-vswitchd.service"]).unwrap();
    wait(&node, "the level is set again", || level_of_dpif(&node) == "DBG");

    // An edit; one bad value does not keep the others from being applied, nor removes what was there.
    settings(
        &node,
        "other_config:max-idle=abc\nother_config:max-revalidator=700\nother_config:max-idel=1\n\
         other_config:flow-restore-wait=true\n",
    );
    wait(&node, "the good one is set", || key(&node, "other_config", "max-revalidator") == "700");
    wait(&node, "the level is as before", || level_of_dpif(&node) == "INFO");
    wait(&node, "the limit is gone", || property(&node, "MemoryHigh") == "infinity");
    assert_eq!(key(&node, "other_config", "max-idle"), "30000", "a bad edit changes nothing");
    assert_eq!(key(&node, "other_config", "max-idel"), "");
    assert_eq!(key(&node, "other_config", "flow-restore-wait"), "", "with it, nothing is forwarded");
    wait(&node, "three are refused", || metric(&node, "linesman_ovs_settings{state=\"refused\"} 3"));

    // What a person changes is set again, and not for ever.
    settings(&node, "other_config:max-idle=30000\n");
    wait(&node, "what was removed is gone", || key(&node, "other_config", "max-revalidator").is_empty());
    for round in 1..=3 {
        node.ovs_vsctl(&["set", "open_vswitch", ".", "other_config:max-idle=9000"]).unwrap();
        wait(&node, &format!("it is set again, {round}"), || {
            key(&node, "other_config", "max-idle") == "30000"
        });
    }
    node.ovs_vsctl(&["set", "open_vswitch", ".", "other_config:max-idle=9000"]).unwrap();
    wait(&node, "it is given up", || metric(&node, "linesman_ovs_settings{state=\"refused\"} 1"));
    assert_eq!(key(&node, "other_config", "max-idle"), "9000", "somebody else insists");

    // OVN comes, and owns its keys.
    settings(&node, "other_config:vlan-limit=2\n");
    wait(&node, "it is free", || key(&node, "other_config", "vlan-limit") == "2");
    assert_eq!(key(&node, "other_config", "max-idle"), "9000", "somebody else has set it");
    node.ovs_vsctl(&["set", "open_vswitch", ".", "external_ids:ovn-remote=tcp:10.9.0.1:6642"]).unwrap();
    wait(&node, "it is refused", || metric(&node, "linesman_ovs_settings{state=\"refused\"} 1"));
    node.ovs_vsctl(&["set", "open_vswitch", ".", "other_config:vlan-limit=0"]).unwrap();
    settings(
        &node,
        "other_config:vlan-limit=2\nother_config:bundle-idle-timeout=60\nother_config:max-idle=20000\n",
    );
    wait(&node, "the rest is applied", || key(&node, "other_config", "max-idle") == "20000");
    assert_eq!(key(&node, "other_config", "vlan-limit"), "0");
    assert_eq!(key(&node, "other_config", "bundle-idle-timeout"), "");

    // A keeper that was away removes what was removed meanwhile.
    drop(running);
    settings(&node, "");
    let _running = keeper(&node, &[]);
    wait(&node, "it is removed", || key(&node, "other_config", "max-idle").is_empty());
    assert_eq!(key(&node, "other_config", "flow-limit"), "100000");
}

#[test]
fn ovs_vswitchd_is_restarted_for_a_setting_only_where_that_is_allowed() {
    let lab = Lab::start("ovs-restart-for-settings").unwrap();
    let node = node(&lab);
    let pid = || node.read_file("/run/openvswitch/ovs-vswitchd.pid").unwrap_or_default();
    settings(&node, "other_config:n-offload-threads=2\n");
    let _running = keeper(&node, &[]);
    wait(&node, "it is pending", || metric(&node, "linesman_ovs_settings{state=\"pending\"} 1"));
    let before = pid();
    assert_eq!(key(&node, "other_config", "n-offload-threads"), "2");
    settings(&node, "other_config:n-offload-threads=2\nrestart-vswitchd=when-needed\n");
    wait(&node, "it is in effect", || metric(&node, "linesman_ovs_settings{state=\"applied\"} 1"));
    assert_ne!(pid(), before, "it was restarted");
    let after = pid();
    settings(
        &node,
        "other_config:n-offload-threads=2\nother_config:max-idle=30000\nrestart-vswitchd=when-needed\n",
    );
    wait(&node, "another one is set", || key(&node, "other_config", "max-idle") == "30000");
    assert_eq!(pid(), after, "once is enough");
}

fn config_map(name: &str, data: &Value) -> String {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": { "name": name, "namespace": "nmstate",
                          "labels": { "linesman.dev/open-vswitch-settings": "" } } })
    .to_string()
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
    found.unwrap_or(&Value::Null)
}

#[test]
fn config_maps_are_applied_and_the_status_is_in_the_cluster() {
    let lab = Lab::start("ovs-cluster").unwrap();
    let cluster = Cluster::start(&lab).unwrap();
    cluster.install(&deploy()).unwrap();
    let node = node(&lab);
    node.configure_static().unwrap();
    cluster.add_nodes(&["n1"], &[("role", "worker")]).unwrap();
    let taint =
        ["taint", "node", "n1", "linesman.dev/open-vswitch-not-ready:NoSchedule", "other=x:NoSchedule"];
    cluster.run(&taint).unwrap();
    let token = cluster.node_token("n1", "linesman-ovs-keeper").unwrap();
    node.write_file("/etc/keeper.kubeconfig", cluster.kubeconfig(&token), 0o600).unwrap();
    let good = json!({ "node-selector": "role=worker", "settings": "other_config:max-idle=30000" });
    cluster.apply(&config_map("workers", &good)).unwrap();
    let others = json!({ "node-selector": "role=infra", "settings": "other_config:flow-limit=7" });
    cluster.apply(&config_map("infra", &others)).unwrap();
    let bad = json!({ "settings.yaml": "other_config:\n  max-revalidator: 5\n" });
    cluster.apply(&config_map("bad", &bad)).unwrap();
    let options = ["--node-name", "n1", "--kubeconfig", "/etc/keeper.kubeconfig", "--remove-taint"];
    let running = keeper(&node, &options);

    let object = || cluster.get("nodeopenvswitch", "n1").unwrap().unwrap_or_default();
    let eventually = |what: &str, holds: &mut dyn FnMut() -> bool| {
        eventually(what, holds, || format!("{:#}\n{}", object(), log(&node)));
    };
    eventually("the key is set", &mut || key(&node, "other_config", "max-idle") == "30000");
    eventually("it is reported", &mut || object()["status"]["settings"]["appliedCount"] == 1);
    let status = object()["status"].clone();
    let refused = &status["settings"]["refused"][0];
    assert_eq!(refused["reason"], "InvalidValue", "{status:#}");
    assert_eq!(refused["source"], "ConfigMap nmstate/bad settings.yaml:2");
    assert_eq!(key(&node, "other_config", "flow-limit"), "", "it is for other nodes");
    eventually("it is available", &mut || condition(&object(), "Available")["status"] == "True");
    assert_eq!(condition(&object(), "Degraded")["reason"], "SettingsRefused");
    let of_node = || cluster.get("node", "n1").unwrap().unwrap_or_default();
    eventually("so is the Node", &mut || condition(&of_node(), "OpenVSwitchReady")["status"] == "True");
    let tainted = |key: &str| {
        let taints = of_node()["spec"]["taints"].clone();
        taints.as_array().is_some_and(|all| all.iter().any(|taint| taint["key"] == key))
    };
    eventually("the taint is removed", &mut || !tainted("linesman.dev/open-vswitch-not-ready"));
    assert!(tainted("other"), "the others stay");
    let shown = cluster.run(&["get", "novs"]).unwrap();
    assert!(shown.lines().next().unwrap().starts_with("NAME   AVAILABLE   DEGRADED   REASON"), "{shown}");

    // A second document contradicts the first: neither is applied, what is there stays.
    let contradiction = json!({ "settings": "other_config:max-idle=60000" });
    cluster.apply(&config_map("all", &contradiction)).unwrap();
    eventually("both are named", &mut || object()["status"]["settings"]["refusedCount"] == 3);
    assert_eq!(key(&node, "other_config", "max-idle"), "30000");
    cluster.run(&["delete", "configmap", "-n", "nmstate", "all", "bad"]).unwrap();
    eventually("all is well", &mut || condition(&object(), "Degraded")["status"] == "False");

    // Nothing happens, so nothing is written.
    let version = || object()["metadata"]["resourceVersion"].clone();
    let quiet = version();
    node.sh("for i in 1 2 3 4 5 6 7 8; do ovs-appctl -t ovs-vswitchd memory/show >/dev/null; sleep 1; done")
        .unwrap();
    assert_eq!(version(), quiet);

    // A crash is an event.
    node.run(["systemctl", "kill", "--signal=SIGKILL", "--kill-whom=main", "ovs-vswitchd.service"]).unwrap();
    let events = || cluster.run(&["get", "events.events.k8s.io", "-n", "default", "-o", "json"]).unwrap();
    eventually("an event tells of it", &mut || events().contains("UnitCrashed"));
    eventually("it is available again", &mut || condition(&object(), "Available")["status"] == "True");

    // The node loses its label, and with it the settings.
    cluster.run(&["label", "node", "n1", "role-"]).unwrap();
    eventually("it is removed", &mut || key(&node, "other_config", "max-idle").is_empty());
    drop(running);
}
