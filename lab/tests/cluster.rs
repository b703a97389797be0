//! A real control plane in a lab.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::time::{Duration, Instant};

use linesman_lab::cluster::{KUBECONFIG, NAMESPACE};
use linesman_lab::{Cluster, Kubernetes, Lab};

fn deploy() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy"))
}

fn config_map(name: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: default}}}}")
}

#[test]
fn the_api_server_is_stopped_and_restored_from_a_backup() {
    let lab = Lab::start("api-server").unwrap();
    let cluster = Cluster::start(&lab).unwrap();
    cluster.apply(&config_map("before")).unwrap();
    let backup = cluster.backup().unwrap();
    cluster.apply(&config_map("after")).unwrap();
    cluster.stop_api_server().unwrap();
    assert!(!cluster.kubectl(&["get", "configmaps", "--request-timeout=2s"]).unwrap().success());
    cluster.start_api_server().unwrap();
    assert!(cluster.get("configmap", "after").unwrap().is_some());
    cluster.restore(&backup).unwrap();
    assert!(cluster.get("configmap", "before").unwrap().is_some());
    assert!(cluster.get("configmap", "after").unwrap().is_none());
    let audit = cluster.audit().unwrap();
    let written =
        |name: &str| audit.iter().any(|event| event.name == name && event.writes() && event.code < 300);
    assert!(written("before") && written("after"), "{audit:#?}");
}

#[test]
fn nodes_join_with_tokens_that_name_them_and_leave_nothing() {
    let lab = Lab::start("joined").unwrap();
    let cluster = Cluster::start(&lab).unwrap();
    cluster.install(deploy()).unwrap();
    let node = lab.node("n1").start().unwrap();
    node.configure_static().unwrap();
    cluster.join(&node, &[("zone", "a")]).unwrap();
    let node_object = cluster.get("node", "n1").unwrap().unwrap();
    assert_eq!(node_object["metadata"]["labels"]["zone"], "a");
    assert_eq!(node_object["status"]["conditions"][0]["status"], "True");
    assert!(String::from_utf8(node.read_file(KUBECONFIG).unwrap()).unwrap().contains("10.9.0.1:6443"));
    let token = cluster.agent_token("n1").unwrap();
    let me = cluster.kubectl_as(&token, &["auth", "whoami", "-o", "json"], "").unwrap().stdout;
    let me: serde_json::Value = serde_json::from_str(&me).unwrap();
    assert_eq!(
        me["status"]["userInfo"]["extra"]["authentication.kubernetes.io/node-name"][0], "n1",
        "{me:#}"
    );
    // From the node itself, over its own NIC.
    let greeting = "exec 3<>/dev/tcp/10.9.0.1/6443";
    assert!(node.exec(["bash", "-c", greeting]).unwrap().success());

    cluster.set_ready("n1", false).unwrap();
    cluster.agent_ready("n1", false).unwrap();
    cluster.cordon("n1", true).unwrap();
    cluster.label("n1", "zone", None).unwrap();
    let node_object = cluster.get("node", "n1").unwrap().unwrap();
    assert_eq!(node_object["status"]["conditions"][0]["status"], "False");
    assert_eq!(node_object["spec"]["unschedulable"], true);
    assert!(node_object["metadata"]["labels"]["zone"].is_null());

    let state = serde_json::json!({
        "apiVersion": "nmstate.io/v1beta1", "kind": "NodeNetworkState",
        "metadata": { "name": "n1", "ownerReferences": [
            { "apiVersion": "v1", "kind": "Node", "name": "n1", "uid": node_object["metadata"]["uid"] }] },
    });
    cluster.apply(&state.to_string()).unwrap();
    let _collector = cluster.collect_garbage().unwrap();
    cluster.delete_node("n1").unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while cluster.get("nodenetworkstate", "n1").unwrap().is_some() {
        assert!(Instant::now() < deadline, "garbage is not collected");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_machine_reaches_it_through_a_forwarder() {
    let lab = Lab::start("forwarded").unwrap();
    let cluster = Cluster::start(&lab).unwrap();
    let forwarder = cluster.forward(0).unwrap();
    let folder = std::env::temp_dir().join(format!("linesman-forwarded-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let config = folder.join("kubeconfig");
    std::fs::write(&config, cluster.admin_at(&format!("https://{}", forwarder.address())).unwrap()).unwrap();
    let kubectl = Kubernetes::ensure().unwrap().program("kubectl");
    let namespaces = std::process::Command::new(kubectl)
        .args(["get", "namespaces", "-o", "name"])
        .env("KUBECONFIG", &config)
        .env("KUBECACHEDIR", &folder)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(String::from_utf8_lossy(&namespaces.stdout).contains("namespace/kube-system"), "{namespaces:?}");
}

#[test]
fn nodes_that_are_objects_only_join_by_the_hundred() {
    let lab = Lab::start("hundred").unwrap();
    let cluster = Cluster::start(&lab).unwrap();
    cluster.install(deploy()).unwrap();
    let names: Vec<String> = (1..=100).map(|number| format!("w{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    cluster.add_nodes(&names, &[("zone", "a")]).unwrap();
    let nodes = cluster.run(&["get", "nodes", "--selector", "zone=a", "--no-headers"]).unwrap();
    assert_eq!(nodes.lines().filter(|line| line.contains(" Ready ")).count(), 100, "{nodes}");
    let pods = cluster.run(&["get", "pods", "--namespace", NAMESPACE, "--no-headers"]).unwrap();
    assert_eq!(pods.lines().filter(|line| line.contains("Running")).count(), 100, "{pods}");
}
