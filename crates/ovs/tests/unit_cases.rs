//! Golden cases of what is done about the units: `cases/units/NAME/observation.yaml` to `decision.txt`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::time::Duration;

use linesman_golden::Tree;
use linesman_ovs::units::decide::{Decision, HostObservation, Options, decide};
use linesman_ovs::units::history::History;
use linesman_ovs::units::observed::{Exit, ObservedUnit, Unit};
use linesman_ovs::units::processes::{Process, Processes};
use serde::Deserialize;

const CASES: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/units"),
    outputs: &["decision.txt"],
    at_least: 16,
};

/// What goes in. A unit is installed, static, and runs unless the case says otherwise.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    units: Vec<CaseUnit>,
    #[serde(default)]
    processes: Vec<Process>,
    #[serde(default)]
    processes_hidden: bool,
    #[serde(default)]
    host_stopping: bool,
    #[serde(default)]
    silent: Vec<(Unit, u64)>,
    #[serde(default)]
    restart_hung: bool,
    foreign_seen: Option<u64>,
    #[serde(default)]
    attempts: Vec<Attempt>,
    /// InvocationIDs before this one, and when they were seen.
    #[serde(default)]
    invocations: Vec<(Unit, String, u64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attempt {
    unit: Unit,
    at: u64,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseUnit {
    unit: Unit,
    load: Option<String>,
    active: Option<String>,
    sub: Option<String>,
    file: Option<String>,
    result: Option<String>,
    exit: Option<Exit>,
    #[serde(default)]
    started: Option<u64>,
}

const NOW: u64 = 1000;

impl CaseUnit {
    fn observed(&self, invocation: &str) -> ObservedUnit {
        let missing = self.load.as_deref() == Some("not-found");
        let active = self.active.as_deref().unwrap_or(if missing { "inactive" } else { "active" });
        let sub = self.sub.as_deref().unwrap_or(if active == "active" { "running" } else { "dead" });
        let file = if missing { "" } else { "static" };
        ObservedUnit {
            unit: self.unit,
            load_state: self.load.as_deref().unwrap_or("loaded").to_owned().into(),
            active_state: active.to_owned().into(),
            sub_state: sub.into(),
            unit_file_state: self.file.as_deref().unwrap_or(file).to_owned().into(),
            main_pid: (active == "active" && self.unit.is_daemon()).then_some(7),
            invocation_id: Some(invocation.into()),
            started_at: self.started.or((active == "active").then_some(100)),
            systemd_restarts: 0,
            result: self.result.clone().unwrap_or_else(|| "success".into()),
            exit: self.exit,
            memory_current: None,
        }
    }
}

fn text(decision: &Decision) -> String {
    let mut text = String::new();
    for action in &decision.actions {
        text += &format!("action: {action}\n");
    }
    for finding in &decision.findings {
        let kind = if finding.is_transient() { "note" } else { "finding" };
        text += &format!("{kind} {}: {finding}\n", finding.reason());
    }
    if let Some(seconds) = decision.again_in {
        text += &format!("again in {seconds} s\n");
    }
    text
}

#[test]
fn what_is_done_about_the_units() {
    CASES.compare(|case| {
        let input: Input = yaml_serde::from_str(&case.text("observation.yaml"))
            .unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        let mut history = History::default();
        history.foreign_seen = input.foreign_seen;
        for (unit, invocation, at) in &input.invocations {
            let found = input.units.iter().find(|observed| observed.unit == *unit).unwrap();
            history.observe(&[found.observed(invocation)], *at);
        }
        let units: Vec<_> = input.units.iter().map(|unit| unit.observed("now")).collect();
        history.observe(&units, NOW);
        for attempt in &input.attempts {
            history.attempted(attempt.unit, attempt.error.clone(), attempt.at);
        }
        let observation = HostObservation {
            units,
            foreign: Processes { found: input.processes.clone(), hidden: false }.foreign(),
            processes_hidden: input.processes_hidden,
            host_stopping: input.host_stopping,
            silent: input.silent.clone(),
            now: NOW,
        };
        let options = Options { restart_hung: input.restart_hung, hung_after: Duration::from_secs(30) };
        [text(&decide(&observation, &history, options))]
    });
}
