//! Rows of `tests/kinds/table` on a virtual machine, some of them in one policy: applied, repeated, altered behind
//! NetworkManager's back, rolled back, cut off, changed, and reverted. After each step another tool is asked.
//! What is wrong with one row is noted for it, and the others go on; what stops all of them fails the batch.
//!
//! `cargo test` runs one. LINESMAN_SOAK=1 runs all of them, LINESMAN_KIND=TEXT (or TEXT|TEXT) those whose kind, property
//! and interface contain the text.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use linesman_kinds::Case;
use linesman_lab::Output;
use linesman_tests::Host;
use linesman_tests::agent_host::AgentHost;
use serde_json::{Value, json};

const POLICY: &str = "kinds";
/// Emulated, a change takes many times as long.
const PATIENT: &[&str] = &["--dead-man", "120s", "--settle", "90s", "--timeout", "600s"];
/// All of that one after the other, and a rollback.
const LONGEST: Duration = Duration::from_secs(1200);
/// Each look at the host takes longer with each interface.
const MOST_INTERFACES: usize = 28;
/// NetworkManager has started before; this is for what it starts then.
const BOOT: Duration = Duration::from_secs(240);

#[test]
fn properties_of_every_kind_are_kept() {
    let failed: Vec<String> = batches(chosen()).iter().flat_map(|batch| failures_of(batch)).collect();
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
fn failures_of(batch: &[Case]) -> Vec<String> {
    let rows = batch.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    println!("{rows}");
    let journey = Journey::new(batch);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| journey.travel()));
    let mut failures: Vec<String> =
        journey.troubles.into_inner().into_iter().map(|(row, why)| format!("{row}: {why}")).collect();
    match ended {
        Ok(()) => {
            record(batch.iter().filter(|case| !failures.iter().any(|why| why.starts_with(&case.to_string()))))
        }
        Err(panic) => {
            let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            failures.push(format!("{rows}: {why}"));
        }
    }
    failures
}

/// What has held from the first step to the last, for the reference.
fn record<'a>(held: impl Iterator<Item = &'a Case>) {
    if std::env::var_os("LINESMAN_SOAK").is_none() {
        return;
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/kinds"));
    std::fs::create_dir_all(folder).expect("the folder can be made");
    let file = OpenOptions::new().create(true).append(true).open(folder.join("held.txt"));
    let lines: String = held.map(|case| format!("{case}\n")).collect();
    file.and_then(|mut file| file.write_all(lines.as_bytes())).expect("it can be written");
}

/// Some rows on their way through all steps.
struct Journey<'a> {
    cases: &'a [Case],
    /// By row, the first thing that was wrong.
    troubles: RefCell<BTreeMap<String, String>>,
    begun: Instant,
}

impl<'a> Journey<'a> {
    fn new(cases: &'a [Case]) -> Self {
        Self { cases, troubles: RefCell::default(), begun: Instant::now() }
    }

    fn travel(&self) {
        let nics: Vec<Case> = self.cases.iter().filter(|case| case.is_nic).cloned().collect();
        let host = Host::built("kinds", |node| node.vm(true).intel_nics(!nics.is_empty()));
        let agent_host = AgentHost::with(host, PATIENT);
        let host = &agent_host.host;
        let state = linesman_kinds::together(self.cases.iter().map(|case| case.state.clone()));
        let changed = linesman_kinds::together(self.cases.iter().map(|case| case.changed.clone()));
        let at_first = seen(host, &nics);

        self.is_applied(&agent_host, &state, 0, "applied");
        self.is_repeated(host, &state);
        self.is_drawn(host);
        self.step("repeated and drawn");

        agent_host.stop();
        self.is_corrected(host, &state);
        self.is_rolled_back(host, &changed);
        // `full_kernel` loses power in every run.
        if std::env::var_os("LINESMAN_SOAK").is_some() {
            self.is_up_after_a_power_cut(host);
        }

        agent_host.start();
        self.is_applied(&agent_host, &changed, 1, "changed");
        self.is_reverted(&agent_host, &nics, &at_first);
    }

    fn step(&self, what: &str) {
        println!("{:6.0} s  {what}", self.begun.elapsed().as_secs_f64());
    }

    fn note(&self, case: &Case, when: &str, why: &str) {
        println!("          {when}: {case}: {why}");
        self.troubles.borrow_mut().entry(case.to_string()).or_insert_with(|| format!("{when}: {why}"));
    }

    /// The agent makes one change, which is committed; the value of that column is there.
    fn is_applied(&self, agent_host: &AgentHost, interfaces: &Value, column: usize, when: &str) {
        let host = &agent_host.host;
        let before = host.history().len();
        agent_host.write(POLICY, &policy(interfaces));
        let is_over = || {
            let history = host.history();
            history.len() > before && history.last().is_some_and(|last| !last["outcome"].is_null())
        };
        host.eventually("the agent has made its change", is_over);
        let last = host.history().pop().expect("something was applied");
        assert_eq!(last["outcome"]["verdict"], "committed", "{when}: {:#}", last["outcome"]);
        agent_host.wait_phase(POLICY, "in-sync");
        self.is_shown(host, column, when);
        self.is_judged(host, &[], when);
        self.step(when);
    }

    fn is_repeated(&self, host: &Host, state: &Value) {
        let again = host.linesman(&["plan", &host.document(&json!({"interfaces": state}).to_string())]);
        if again.code() == Some(0) {
            return;
        }
        let text = format!("{}{}", again.stdout, again.stderr);
        let named: Vec<&Case> =
            self.cases.iter().filter(|case| names(case).any(|name| text.contains(name))).collect();
        assert!(!named.is_empty(), "the second time\n{text}");
        named.iter().for_each(|case| self.note(case, "the second time", &text));
    }

    fn is_drawn(&self, host: &Host) {
        let drawn = host.linesman(&["topology"]).stdout;
        for case in self.cases.iter().filter(|case| !drawn.contains(&case.interface)) {
            self.note(case, "drawn", &drawn);
        }
    }

    /// Each alteration is seen, by its name, and nothing else; then the same document corrects them.
    fn is_corrected(&self, host: &Host, state: &Value) {
        let altered: Vec<&Case> = self.cases.iter().filter(|case| self.is_altered(host, case)).collect();
        self.is_judged(host, &altered, "altered by hand");
        let applied = try_apply(host, &json!({"interfaces": state}), &[]);
        assert!(applied.success(), "corrected: {}{}", applied.stdout, applied.stderr);
        self.is_shown(host, 0, "corrected");
        self.is_judged(host, &[], "corrected");
        self.step("altered and corrected");
    }

    fn is_altered(&self, host: &Host, case: &Case) -> bool {
        let Some(command) = &case.by_hand else { return false };
        let done = host.node.sh(command);
        if let Err(why) = &done {
            self.note(case, "altered by hand", &format!("{why}"));
        }
        done.is_ok()
    }

    /// All properties are changed, and the host is cut off by the same document.
    fn is_rolled_back(&self, host: &Host, changed: &Value) {
        let away = host.node.mgmt_ipv4().to_string().replace("10.9.", "10.8.");
        let mut document = json!({"interfaces": changed});
        if let Some(interfaces) = document["interfaces"].as_array_mut() {
            let ipv4 =
                json!({"enabled": true, "dhcp": false, "address": [{"ip": away, "prefix-length": 24}]});
            interfaces.push(json!({"name": "eth0", "type": "ethernet", "state": "up", "ipv4": ipv4}));
        }
        let flags = ["--probe", "gateway:v4", "--patience", "5s"];
        let failed = try_apply(host, &document, &flags);
        assert_eq!(host.last_verdict(), "rolled-back", "{}{}", failed.stdout, failed.stderr);
        let reason = host.history().last().expect("it is recorded")["outcome"]["reason"].to_string();
        assert!(reason.contains("gateway:v4"), "for another reason: {reason}");
        self.is_shown(host, 0, "rolled back");
        self.is_judged(host, &[], "rolled back");
        self.step("rolled back");
    }

    fn is_up_after_a_power_cut(&self, host: &Host) {
        host.node.power_cut().unwrap();
        host.node.boot().unwrap();
        host.assert_settled();
        let deadline = Instant::now() + BOOT;
        host.eventually("all of it is up again", || {
            Instant::now() > deadline || wrong(host, self.cases, 0).is_empty()
        });
        self.is_shown(host, 0, "after a power cut");
        self.is_judged(host, &[], "after a power cut");
        self.step("up again after a power cut");
    }

    /// What was made is gone; NICs are as they were.
    fn is_reverted(&self, agent_host: &AgentHost, nics: &[Case], at_first: &[String]) {
        agent_host.remove(POLICY);
        agent_host.host.eventually("NICs are as they were", || seen(&agent_host.host, nics) == at_first);
        agent_host.host.eventually("all of it is reverted", || {
            let links = agent_host.host.node.run(["ls", "/sys/class/net"]).unwrap_or_default();
            let mut made = self.cases.iter().filter(|case| !case.is_nic);
            made.all(|case| !links.lines().any(|link| link == case.interface))
        });
        agent_host.stop();
        self.step("reverted");
    }

    /// The other tools show the value of that column.
    fn is_shown(&self, host: &Host, column: usize, when: &str) {
        for (case, why) in wrong(host, self.cases, column) {
            self.note(case, when, &why);
        }
    }

    /// `linesman diff` names each alteration, and there is no difference that no row explains.
    fn is_judged(&self, host: &Host, altered: &[&Case], when: &str) {
        let differences = differences(host);
        let about = |difference: &Value, case: &Case| {
            let path = difference["path"].as_str().unwrap_or_default();
            // Rows share a NIC.
            let below = if case.is_nic { format!(".{}", case.property) } else { String::new() };
            names(case).any(|name| path.starts_with(&format!("interfaces[{name}]{below}")))
        };
        for case in
            altered.iter().filter(|case| !differences.iter().any(|difference| about(difference, case)))
        {
            let shown = seen(host, std::slice::from_ref(case)).join(" ");
            self.note(case, when, &format!("the alteration is not seen, the host shows {shown:?}"));
        }
        for difference in
            differences.iter().filter(|difference| !altered.iter().any(|case| about(difference, case)))
        {
            let case = self.cases.iter().find(|case| about(difference, case));
            let case = case.unwrap_or_else(|| panic!("{when}: {difference} differs, and is of no row"));
            self.note(case, when, &format!("{difference} differs, and nobody altered it"));
        }
    }
}

fn try_apply(host: &Host, document: &Value, flags: &[&str]) -> Output {
    let file = host.document(&document.to_string());
    let words = [&["linesman", "apply", &file], PATIENT, flags].concat();
    let command = host.node.command(words).expect("linesman can be run");
    command.limit(LONGEST).output().expect("linesman ends")
}

/// All interfaces of a row.
fn names(case: &Case) -> impl Iterator<Item = &str> {
    case.state.iter().chain(&case.changed).filter_map(|interface| interface["name"].as_str())
}

fn policy(interfaces: &Value) -> String {
    let manifest = json!({
        "apiVersion": "nmstate.io/v1",
        "kind": "NodeNetworkConfigurationPolicy",
        "metadata": {"name": POLICY},
        "spec": {"onDelete": "Revert", "desiredState": {"interfaces": interfaces}},
    });
    manifest.to_string()
}

fn differences(host: &Host) -> Vec<Value> {
    let output = host.linesman(&["diff", "-o", "json"]);
    let found: Value = serde_json::from_str(&output.stdout).expect("diff prints JSON");
    found[POLICY].as_array().cloned().unwrap_or_default()
}

/// What the other tools print, one line for each case.
fn seen(host: &Host, cases: &[Case]) -> Vec<String> {
    let line = |case: &Case| format!("echo \"= $( ({}) 2>&1 | xargs )\"\n", case.see);
    let lines = host.node.sh(&cases.iter().map(line).collect::<String>()).expect("the node runs a script");
    lines.lines().map(|line| line.trim_start_matches("= ").to_owned()).collect()
}

/// Where the other tools do not show the value of that column.
fn wrong<'a>(host: &Host, cases: &'a [Case], column: usize) -> Vec<(&'a Case, String)> {
    let seen = seen(host, cases);
    let all = cases.iter().zip(&seen).map(|(case, seen)| (case, case.shows[column].trim_matches('"'), seen));
    let wrong = all.filter(|(_, wanted, seen)| wanted != seen);
    wrong.map(|(case, wanted, seen)| (case, format!("{seen:?} instead of {wanted:?}"))).collect()
}
