//! Every row of `tests/kinds/table` on a virtual machine, all in one policy: applied, repeated, altered behind
//! NetworkManager's back, rolled back, rebooted, cut off, changed, and reverted. After each step another tool is asked.
//!
//! `LINESMAN_KINDS="bond|vlan.id"` takes only rows whose `kind property` contains one of these.

use linesman_kinds::Case;
use linesman_tests::Host;
use linesman_tests::agent_host::AgentHost;
use serde_json::{Value, json};

const POLICY: &str = "kinds";
/// Emulated, a change takes many times as long.
const PATIENT: &[&str] = &["--settle", "120s", "--timeout", "580s", "--dead-man", "60s"];

fn chosen() -> Vec<Case> {
    let only = std::env::var("LINESMAN_KINDS").unwrap_or_default();
    let only: Vec<&str> = only.split('|').collect();
    let named = |case: &Case| format!("{} {}", case.kind, case.property);
    let all = linesman_kinds::cases().into_iter();
    all.filter(|case| only.iter().any(|text| named(case).contains(text))).collect()
}

fn interfaces(cases: &[Case], of: impl Fn(&Case) -> &Vec<Value>) -> Value {
    cases.iter().flat_map(|case| of(case).clone()).collect()
}

fn policy(interfaces: &Value, drift: &str) -> String {
    let manifest = json!({
        "apiVersion": "nmstate.io/v1",
        "kind": "NodeNetworkConfigurationPolicy",
        "metadata": {"name": POLICY},
        "spec": {"onDelete": "Revert", "drift": drift, "desiredState": {"interfaces": interfaces}},
    });
    manifest.to_string()
}

/// What the other tools print, one line for each case.
fn seen(host: &Host, cases: &[Case]) -> Vec<String> {
    let commands: String = cases.iter().map(|case| format!("echo \"= $( ({}) 2>&1 | xargs )\"\n", case.see)).collect();
    let lines = host.node.sh(&commands).expect("the node runs a script");
    lines.lines().map(|line| line.trim_start_matches("= ").to_owned()).collect()
}

/// Where the other tools do not show the value of that column.
fn wrong(host: &Host, cases: &[Case], column: usize) -> Vec<String> {
    let all = cases.iter().zip(seen(host, cases));
    let wrong = all.filter(|(case, seen)| case.shows[column].trim_matches('"') != seen.trim_matches('"'));
    wrong.map(|(case, seen)| format!("{} {}: {} shows {seen:?} instead of {:?}", case.kind, case.property, case.interface, case.shows[column])).collect()
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
    let paths: Vec<String> = found[POLICY].as_array().into_iter().flatten().map(|d| d["path"].to_string()).collect();
    let about = |path: &String, case: &Case| path.contains(&format!("[{}", case.interface));
    let unseen = altered.iter().filter(|case| !paths.iter().any(|path| about(path, case)));
    let unseen = unseen.map(|case| format!("{} {}: {} was altered, and is not seen", case.kind, case.property, case.interface));
    let unexplained = paths.iter().filter(|path| !altered.iter().any(|case| about(path, case)));
    unseen.chain(unexplained.map(|path| format!("{path} differs, and nobody altered it"))).collect()
}

#[test]
fn every_property_of_every_kind_is_kept() {
    let cases = chosen();
    let agent_host = AgentHost::with(Host::built("kinds", |node| node.vm(true)), PATIENT);
    let host = &agent_host.host;
    let (state, changed) = (interfaces(&cases, |case| &case.state), interfaces(&cases, |case| &case.changed));
    let document = |interfaces: &Value| json!({"interfaces": interfaces}).to_string();

    agent_host.write(POLICY, &policy(&state, "Report"));
    in_sync(&agent_host);
    assert_shown(host, &cases, 0, "applied");
    assert_eq!(misjudged(host, &[]), NOTHING, "applied");
    let again = host.linesman(&["plan", &host.document(&document(&state))]);
    assert_eq!(again.code(), Some(0), "the second time\n{}{}", again.stdout, again.stderr);
    let drawn = host.linesman(&["topology"]).stdout;
    let missing: Vec<&String> = cases.iter().map(|case| &case.interface).filter(|name| !drawn.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} not drawn:\n{drawn}");

    let altered: Vec<&Case> = cases.iter().filter(|case| case.by_hand.is_some()).collect();
    let commands: Vec<&str> = altered.iter().filter_map(|case| case.by_hand.as_deref()).collect();
    host.node.sh(&format!("set -e\n{}\n", commands.join("\n"))).expect("the kernel takes each of them");
    assert_eq!(misjudged(host, &altered), NOTHING, "altered by hand");
    agent_host.write(POLICY, &policy(&state, "Correct"));
    agent_host.host.eventually("drift is corrected", || wrong(host, &cases, 0).is_empty());
    in_sync(&agent_host);
    agent_host.stop();

    let failing = [PATIENT, &["--probe", "tcp:127.0.0.1:1", "--patience", "1s"]].concat();
    let failed = host.try_apply(&document(&changed), &failing);
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", failed.stdout, failed.stderr);
    assert_shown(host, &cases, 0, "rolled back");
    assert_eq!(misjudged(host, &[]), NOTHING, "rolled back");

    host.node.reboot().unwrap();
    settled(host, &cases, "rebooted");
    host.node.power_cut().unwrap();
    host.node.boot().unwrap();
    settled(host, &cases, "after a power cut");

    agent_host.start();
    agent_host.write(POLICY, &policy(&changed, "Report"));
    host.eventually("the policy is changed", || wrong(host, &cases, 1).is_empty());
    in_sync(&agent_host);
    assert_eq!(misjudged(host, &[]), NOTHING, "changed");
    agent_host.remove(POLICY);
    host.eventually("all of it is reverted", || {
        let links = host.node.run(["ls", "/sys/class/net"]).unwrap_or_default();
        cases.iter().all(|case| !links.lines().any(|link| link == case.interface))
    });
}

const NOTHING: [&str; 0] = [];

fn in_sync(agent_host: &AgentHost) {
    agent_host.wait_phase(POLICY, "in-sync");
}

/// Whatever comes up late is waited for.
fn settled(host: &Host, cases: &[Case], when: &str) {
    host.assert_settled();
    host.eventually(when, || wrong(host, cases, 0).is_empty() && misjudged(host, &[]).is_empty());
}
