//! Pure crates decide and touch nothing: no crate that does IO can be reached from them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::process::Command;

use serde_json::Value;

/// Crates that read or change the world, or exist to do so.
const IO: &[&str] = &[
    "async-std",
    "axum",
    "hickory-proto",
    "hickory-resolver",
    "hyper",
    "hyper-util",
    "kube",
    "kube-client",
    "linesman-engine",
    "linesman-lab",
    "mio",
    "netlink-proto",
    "netlink-sys",
    "nispor",
    "nix",
    "nmstate",
    "reqwest",
    "rtnetlink",
    "rustix",
    "rustls",
    "smol",
    "socket2",
    "tempfile",
    "tokio",
    "tower",
    "zbus",
];

/// Packages and what each needs to be built for use, tests and build scripts left out.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The shortest way from `start` to a crate that does IO.
fn chain_to_io(graph: &Graph, start: &str) -> Option<Vec<String>> {
    let mut queue = VecDeque::from([vec![start.to_owned()]]);
    let mut seen = BTreeSet::from([start.to_owned()]);
    while let Some(chain) = queue.pop_front() {
        let here = chain.last()?;
        for next in graph.get(here).into_iter().flatten().filter(|next| seen.insert((*next).clone())) {
            let longer: Vec<String> = chain.iter().chain([next]).cloned().collect();
            if IO.contains(&next.as_str()) {
                return Some(longer);
            }
            queue.push_back(longer);
        }
    }
    None
}

fn graph_of(metadata: &Value) -> Graph {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let names: BTreeMap<&str, &str> =
        packages.filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?))).collect();
    let mut graph = Graph::new();
    for node in metadata["resolve"]["nodes"].as_array().into_iter().flatten() {
        let name = names[node["id"].as_str().expect("a node has an id")];
        let normal = node["deps"].as_array().into_iter().flatten().filter(|dependency| is_normal(dependency));
        let needs = normal.map(|dependency| {
            names[dependency["pkg"].as_str().expect("a dependency names its package")].to_owned()
        });
        // Two versions of one crate become one node: that can only find more ways, not fewer.
        graph.entry(name.to_owned()).or_default().extend(needs);
    }
    graph
}

fn is_normal(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"].is_null())
}

/// Of this platform alone: the crates of the others were never downloaded, as no build needs them. With what `cargo test
/// --workspace` has downloaded, no network is needed.
fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let words = ["metadata", "--locked", "--format-version", "1", "--filter-platform", &host()];
    let output = stdout(Command::new(cargo).args(words).args(["--manifest-path", manifest]));
    serde_json::from_str(&output).expect("cargo prints JSON")
}

fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = stdout(Command::new(rustc).arg("-vV"));
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

fn stdout(command: &mut Command) -> String {
    let output = command.output().expect("the toolchain runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the toolchain prints UTF-8")
}

#[test]
fn pure_crates_reach_no_io() {
    let graph = graph_of(&metadata());
    for pure in ["linesman-api", "linesman-core", "linesman-day1", "linesman-fleet", "linesman-tools"] {
        assert!(graph.get(pure).is_some_and(|needs| needs.contains("serde_json")), "the graph was read");
        if let Some(chain) = chain_to_io(&graph, pure) {
            panic!("{pure} must stay pure, but: {}", chain.join(" -> "));
        }
    }
}

#[test]
fn a_crate_with_io_is_found_with_its_chain() {
    let graph = graph_of(&metadata());
    let chain = chain_to_io(&graph, "linesman-engine");
    assert!(chain.is_some_and(|chain| chain.len() >= 2 && chain[0] == "linesman-engine"));
}

#[test]
fn the_shortest_chain_is_named() {
    let edges = [
        ("core", "a"),
        ("a", "b"),
        ("b", "tokio"),
        ("core", "c"),
        ("c", "core"),
        ("c", "d"),
        ("d", "e"),
        ("e", "nix"),
    ];
    let mut graph = Graph::new();
    for (from, to) in edges {
        graph.entry(from.to_owned()).or_default().insert(to.to_owned());
    }
    assert_eq!(chain_to_io(&graph, "core").unwrap(), ["core", "a", "b", "tokio"]);
    graph.get_mut("b").unwrap().remove("tokio");
    assert_eq!(chain_to_io(&graph, "core").unwrap(), ["core", "c", "d", "e", "nix"]);
    graph.get_mut("e").unwrap().remove("nix");
    assert_eq!(chain_to_io(&graph, "core"), None);
}

#[test]
fn dependencies_of_tests_do_not_count() {
    let kinds = |kind: &str| serde_json::json!({"dep_kinds": [{"kind": kind}]});
    assert!(!is_normal(&kinds("dev")) && !is_normal(&kinds("build")));
    assert!(is_normal(&serde_json::json!({"dep_kinds": [{"kind": "dev"}, {"kind": null}]})));
}
