//! Rows of `tests/kinds/table` on a virtual machine, some of them in one policy: applied, repeated, altered behind
//! NetworkManager's back, rolled back, cut off, changed, and reverted. After each step another tool is asked.
//!
//! `cargo test` runs one. LINESMAN_SOAK=1 runs all of them, LINESMAN_KIND=TEXT (or TEXT|TEXT) those whose kind, property
//! and interface contain the text.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use linesman_kinds::Case;
use linesman_tests::Host;
use linesman_tests::agent_host::AgentHost;
use serde_json::{Value, json};

const POLICY: &str = "kinds";
/// Emulated, a change takes many times as long.
const PATIENT: &[&str] = &["--dead-man", "60s", "--settle", "60s", "--timeout", "280s"];
/// Each look at the host takes longer with each interface.
const MOST_INTERFACES: usize = 16;

#[test]
fn properties_of_every_kind_are_kept() {
    let failed: Vec<String> = batches(chosen()).iter().filter_map(|batch| failure_of(batch)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn chosen() -> Vec<Case> {
    let all = linesman_kinds::cases();
    if let Ok(only) = std::env::var("LINESMAN_KIND") {
        let named = |case: &Case| only.split('|').any(|text| case.to_string().contains(text));
        return all.into_iter().filter(named).collect();
    }
    if std::env::var_os("LINESMAN_SOAK").is_some() {
        return all;
    }
    all.into_iter().filter(linesman_kinds::in_every_run).collect()
}

/// As many as one machine can take.
fn batches(cases: Vec<Case>) -> Vec<Vec<Case>> {
    let mut batches: Vec<Vec<Case>> = vec![];
    for case in cases {
        let interfaces = |batch: &Vec<Case>| batch.iter().map(|case| case.state.len()).sum::<usize>();
        match batches.last_mut() {
            Some(batch) if interfaces(batch) + case.state.len() <= MOST_INTERFACES => batch.push(case),
            _ => batches.push(vec![case]),
        }
    }
    batches
}

/// One batch that fails does not keep the others from being tried.
fn failure_of(batch: &[Case]) -> Option<String> {
    let rows = batch.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    println!("{rows}");
    let Err(panic) = std::panic::catch_unwind(|| are_kept(batch)) else {
        record(batch);
        return None;
    };
    let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
    Some(format!("{rows}: {why}"))
}

/// What has held from the first step to the last, for the reference.
fn record(batch: &[Case]) {
    if std::env::var_os("LINESMAN_SOAK").is_none() {
        return;
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/kinds"));
    std::fs::create_dir_all(folder).expect("the folder can be made");
    let file = OpenOptions::new().create(true).append(true).open(folder.join("held.txt"));
    let lines: String = batch.iter().map(|case| format!("{case}\n")).collect();
    file.and_then(|mut file| file.write_all(lines.as_bytes())).expect("it can be written");
}

fn are_kept(cases: &[Case]) {
    let begun = Instant::now();
    let step = |what: &str| println!("{:6.0} s  {what}", begun.elapsed().as_secs_f64());
    let nics: Vec<Case> = cases.iter().filter(|case| case.is_nic).cloned().collect();
    let host = Host::built("kinds", |node| node.vm(true).intel_nics(!nics.is_empty()));
    let agent_host = AgentHost::with(host, PATIENT);
    let host = &agent_host.host;
    let state = linesman_kinds::together(cases.iter().map(|case| case.state.clone()));
    let changed = linesman_kinds::together(cases.iter().map(|case| case.changed.clone()));
    let at_first = seen(host, &nics);

    agent_host.write(POLICY, &policy(&state));
    in_sync(&agent_host);
    assert_shown(host, cases, 0, "applied");
    assert_eq!(misjudged(host, &[]), NOTHING, "applied");
    step("applied");
    let again = host.linesman(&["plan", &host.document(&json!({"interfaces": state}).to_string())]);
    assert_eq!(again.code(), Some(0), "the second time\n{}{}", again.stdout, again.stderr);
    let drawn = host.linesman(&["topology"]).stdout;
    let names = cases.iter().map(|case| &case.interface);
    let missing: Vec<&String> = names.filter(|name| !drawn.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} not drawn:\n{drawn}");

    step("repeated and drawn");

    agent_host.stop();
    is_corrected(host, cases, &state);
    step("altered and corrected");
    is_rolled_back(host, cases, &changed);
    step("rolled back");

    // `full_kernel` loses power in every run.
    if std::env::var_os("LINESMAN_SOAK").is_some() {
        host.node.power_cut().unwrap();
        host.node.boot().unwrap();
        host.assert_settled();
        host.eventually("all of it is up again", || wrong(host, cases, 0).is_empty());
        assert_eq!(misjudged(host, &[]), NOTHING, "after a power cut");
        step("up again after a power cut");
    }

    agent_host.start();
    agent_host.write(POLICY, &policy(&changed));
    host.eventually("the policy is changed", || wrong(host, cases, 1).is_empty());
    in_sync(&agent_host);
    assert_eq!(misjudged(host, &[]), NOTHING, "changed");
    step("changed");
    agent_host.remove(POLICY);
    host.eventually("all of it is reverted", || {
        let links = host.node.run(["ls", "/sys/class/net"]).unwrap_or_default();
        let made = cases.iter().filter(|case| !case.is_nic);
        made.into_iter().all(|case| !links.lines().any(|link| link == case.interface))
    });
    host.eventually("NICs are as they were", || seen(host, &nics) == at_first);
    agent_host.stop();
    step("reverted");
}

/// Each alteration is seen, by its name, and nothing else; then the same document corrects them.
fn is_corrected(host: &Host, cases: &[Case], state: &Value) {
    let altered: Vec<&Case> = cases.iter().filter(|case| case.by_hand.is_some()).collect();
    let commands: Vec<&str> = altered.iter().filter_map(|case| case.by_hand.as_deref()).collect();
    host.node.sh(&format!("set -e\n{}\n", commands.join("\n"))).expect("the kernel takes each of them");
    assert_eq!(misjudged(host, &altered), NOTHING, "altered by hand");
    let applied = host.try_apply(&json!({"interfaces": state}).to_string(), PATIENT);
    assert!(applied.success(), "{}{}", applied.stdout, applied.stderr);
    assert_shown(host, cases, 0, "corrected");
    assert_eq!(misjudged(host, &[]), NOTHING, "corrected");
}

/// All properties are changed, and the host is cut off by the same document.
fn is_rolled_back(host: &Host, cases: &[Case], changed: &Value) {
    let away = host.node.mgmt_ipv4().to_string().replace("10.9.", "10.8.");
    let mut document = json!({"interfaces": changed});
    if let Some(interfaces) = document["interfaces"].as_array_mut() {
        let ipv4 = json!({"enabled": true, "dhcp": false, "address": [{"ip": away, "prefix-length": 24}]});
        interfaces.push(json!({"name": "eth0", "type": "ethernet", "state": "up", "ipv4": ipv4}));
    }
    let flags = ["--probe", "gateway:v4", "--patience", "5s"];
    let failed = host.try_apply(&document.to_string(), &[PATIENT, &flags].concat());
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", failed.stdout, failed.stderr);
    let reason = host.history().last().expect("it is recorded")["outcome"]["reason"].to_string();
    assert!(reason.contains("gateway:v4"), "for another reason: {reason}");
    assert_shown(host, cases, 0, "rolled back");
    assert_eq!(misjudged(host, &[]), NOTHING, "rolled back");
}

const NOTHING: [&str; 0] = [];

fn policy(interfaces: &Value) -> String {
    let manifest = json!({
        "apiVersion": "nmstate.io/v1",
        "kind": "NodeNetworkConfigurationPolicy",
        "metadata": {"name": POLICY},
        "spec": {"onDelete": "Revert", "desiredState": {"interfaces": interfaces}},
    });
    manifest.to_string()
}

fn in_sync(agent_host: &AgentHost) {
    agent_host.wait_phase(POLICY, "in-sync");
}

/// What the other tools print, one line for each case.
fn seen(host: &Host, cases: &[Case]) -> Vec<String> {
    let line = |case: &Case| format!("echo \"= $( ({}) 2>&1 | xargs )\"\n", case.see);
    let lines = host.node.sh(&cases.iter().map(line).collect::<String>()).expect("the node runs a script");
    lines.lines().map(|line| line.trim_start_matches("= ").to_owned()).collect()
}

/// Where the other tools do not show the value of that column.
fn wrong(host: &Host, cases: &[Case], column: usize) -> Vec<String> {
    let seen = seen(host, cases);
    let all = cases.iter().zip(&seen).map(|(case, seen)| (case, case.shows[column].trim_matches('"'), seen));
    let wrong = all.filter(|(_, wanted, seen)| wanted != seen);
    wrong.map(|(case, wanted, seen)| format!("{case}: {seen:?} instead of {wanted:?}")).collect()
}

#[track_caller]
fn assert_shown(host: &Host, cases: &[Case], column: usize, when: &str) {
    let wrong = wrong(host, cases, column);
    assert!(wrong.is_empty(), "{when}:\n{}", wrong.join("\n"));
}

/// Rows whose alteration `linesman diff` does not name, and differences that no row explains.
fn misjudged(host: &Host, altered: &[&Case]) -> Vec<String> {
    let output = host.linesman(&["diff", "-o", "json"]);
    let found: Value = serde_json::from_str(&output.stdout).expect("diff prints JSON");
    let found = found[POLICY].as_array().cloned().unwrap_or_default();
    let paths: Vec<&str> = found.iter().filter_map(|difference| difference["path"].as_str()).collect();
    let about = |path: &str, case: &Case| match case.is_nic {
        true => path.starts_with(&format!("interfaces[{}].{}", case.interface, case.property)),
        false => path.starts_with(&format!("interfaces[{}", case.interface)),
    };
    let unseen = altered.iter().filter(|case| !paths.iter().any(|path| about(path, case)));
    let unexplained = paths.iter().filter(|path| !altered.iter().any(|case| about(path, case)));
    let unseen = unseen.map(|case| format!("{case} was altered, and is not seen"));
    unseen.chain(unexplained.map(|path| format!("{path} differs, and nobody altered it"))).collect()
}
