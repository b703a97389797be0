//! What the keeper knows, and whether that is well.

use std::time::{Duration, Instant};

use crate::probes::{ProbeKind, ProbeReport};
use crate::units::Finding;
use crate::units::observed::{Unit, UnitReport};

/// A probe takes two seconds at most, and starts every two seconds.
const PROBES_LATE: Duration = Duration::from_secs(10);
/// The keeper looks at the units every 30 seconds, whether they change or not.
const LOOP_LATE: Duration = Duration::from_secs(90);
/// A daemon that is down or silent for longer is more than a restart.
const DOWN_TOO_LONG: u64 = 60;

#[derive(Clone, Debug)]
pub struct KeeperReport {
    pub units: Vec<UnitReport>,
    pub findings: Vec<Finding>,
    /// Daemons that could run and do not, and since when (seconds since 1970).
    pub down: Vec<(Unit, u64)>,
    /// When the units were last looked at.
    pub looked: Instant,
}

impl Default for KeeperReport {
    fn default() -> Self {
        Self { units: Vec::new(), findings: Vec::new(), down: Vec::new(), looked: Instant::now() }
    }
}

/// An answer to a probe: the first line says it all, the others one thing each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub good: bool,
    pub summary: String,
    pub lines: Vec<String>,
}

impl Health {
    fn new(name: &str, checks: &[Check]) -> Self {
        let failures: Vec<String> = checks.iter().filter_map(Check::failure).collect();
        let summary = match failures.is_empty() {
            true => name.to_owned(),
            false => format!("not {name}: {}", failures.join("; ")),
        };
        let line = |check: &Check| match &check.failure {
            None => format!("[+] {}: {}", check.what, check.detail),
            Some(failure) => format!("[-] {}: {failure}", check.what),
        };
        Self { good: failures.is_empty(), summary, lines: checks.iter().map(line).collect() }
    }

    pub fn text(&self) -> String {
        format!("{}\n{}", self.summary, self.lines.join("\n"))
    }
}

struct Check {
    what: String,
    detail: String,
    failure: Option<String>,
}

impl Check {
    fn of(what: impl ToString, result: Result<String, String>) -> Self {
        let (detail, failure) = match result {
            Ok(detail) => (detail, None),
            Err(failure) => (String::new(), Some(failure)),
        };
        Self { what: what.to_string(), detail, failure }
    }

    fn failure(&self) -> Option<String> {
        self.failure.as_ref().map(|failure| format!("{}: {failure}", self.what))
    }
}

/// Whether Open vSwitch can be used: both daemons run and answer.
pub fn readiness(report: &KeeperReport, probes: &ProbeReport, now: Instant) -> Health {
    let mut checks: Vec<Check> = Vec::new();
    let of_host = report.findings.iter().filter(|finding| finding.unit().is_none());
    checks.extend(of_host.map(|finding| Check::of("host", Err(finding.to_string()))));
    checks.extend(Unit::DAEMONS.map(|unit| Check::of(unit, report.state(unit))));
    let late = now.saturating_duration_since(probes.finished);
    for kind in ProbeKind::ALL {
        let result = match probes.result(kind) {
            _ if late > PROBES_LATE => Err(format!("the last probe ended {} s ago", late.as_secs())),
            Ok(()) => Ok("ok".to_owned()),
            Err(failure) => Err(failure.to_string()),
        };
        checks.push(Check::of(kind.name(), result));
    }
    Health::new("ready", &checks)
}

/// Whether the keeper does its work, and the daemons that it keeps are up but for a restart. A host on which there is nothing
/// to keep is no reason to restart the keeper.
pub fn liveness(report: &KeeperReport, probes: &ProbeReport, now: Instant, clock: u64) -> Health {
    let late = |what: &str, since: Instant, limit: Duration| {
        let late = now.saturating_duration_since(since);
        let result =
            if late > limit { Err(format!("not seen for {} s", late.as_secs())) } else { Ok("ok".into()) };
        Check::of(what, result)
    };
    let mut checks =
        vec![late("keeper", report.looked, LOOP_LATE), late("probes", probes.finished, LOOP_LATE)];
    for unit in Unit::DAEMONS {
        let since =
            |list: &[(Unit, u64)]| list.iter().find(|(other, _)| *other == unit).map(|(_, since)| *since);
        let for_seconds = |since: u64| Some(clock.saturating_sub(since)).filter(|s| *s > DOWN_TOO_LONG);
        let down = since(&report.down).and_then(for_seconds).map(|s| format!("not running for {s} s"));
        let silent = since(&probes.silent).and_then(for_seconds).map(|s| format!("no answer for {s} s"));
        checks.push(Check::of(unit, down.or(silent).map_or_else(|| Ok("ok".into()), Err)));
    }
    Health::new("live", &checks)
}

impl KeeperReport {
    pub fn unit(&self, unit: Unit) -> Option<&UnitReport> {
        self.units.iter().find(|report| report.observed.unit == unit)
    }

    /// Ok if it runs.
    fn state(&self, unit: Unit) -> Result<String, String> {
        let Some(UnitReport { observed, .. }) = self.unit(unit) else { return Err("unknown".into()) };
        let state = format!("{} ({})", observed.active_state, observed.sub_state);
        if observed.is_running() {
            let pid = observed.main_pid.map(|pid| format!(", PID {pid}")).unwrap_or_default();
            return Ok(format!("{state}{pid}"));
        }
        let findings = self.findings.iter().filter(|finding| finding.unit() == Some(unit));
        let why: Vec<String> = findings.map(ToString::to_string).collect();
        Err(if why.is_empty() { state } else { format!("{state}; {}", why.join("; ")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::ProbeFailure;
    use crate::units::observed::{ActiveState, LoadState, ObservedUnit, UnitFileState};

    fn unit(unit: Unit, active_state: ActiveState) -> UnitReport {
        let observed = ObservedUnit {
            unit,
            load_state: LoadState::Loaded,
            sub_state: if active_state == ActiveState::Active { "running" } else { "dead" }.into(),
            active_state,
            unit_file_state: UnitFileState::Static,
            main_pid: Some(7),
            invocation_id: None,
            started_at: None,
            systemd_restarts: 0,
            result: String::new(),
            exit: None,
            memory_current: None,
        };
        UnitReport { observed, restarts: 0, last_restart: None }
    }

    fn good() -> (KeeperReport, ProbeReport) {
        let units = Unit::DAEMONS.map(|name| unit(name, ActiveState::Active)).into();
        let results = ProbeKind::ALL.map(|kind| (kind, Ok(())));
        (KeeperReport { units, ..KeeperReport::default() }, ProbeReport { results, ..ProbeReport::default() })
    }

    #[test]
    fn it_is_ready_while_both_daemons_run_and_answer() {
        let (mut report, mut probes) = good();
        let health = readiness(&report, &probes, Instant::now());
        assert_eq!((health.good, health.summary.as_str()), (true, "ready"));
        assert_eq!(health.lines[0], "[+] ovsdb-server.service: active (running), PID 7");

        probes.results[1].1 = Err(ProbeFailure::Silent { state: Some("stopped (SIGSTOP)".into()) });
        let health = readiness(&report, &probes, Instant::now());
        assert_eq!(
            (health.good, health.summary.as_str()),
            (false, "not ready: switch: no answer within 1500 ms; the process is stopped (SIGSTOP)")
        );

        report.units[1] = unit(Unit::OvsVswitchd, ActiveState::Failed);
        report.findings.push(Finding::UnitMasked { unit: Unit::OvsVswitchd });
        let health = readiness(&report, &probes, Instant::now());
        assert!(
            health.summary.contains("ovs-vswitchd.service: failed (dead); ovs-vswitchd.service is masked")
        );
    }

    #[test]
    fn what_was_true_long_ago_is_not_reported_as_true() {
        let (report, probes) = good();
        let later = Instant::now() + PROBES_LATE + Duration::from_secs(1);
        assert!(readiness(&report, &probes, later).summary.contains("the last probe ended 11 s ago"));
        assert!(liveness(&report, &probes, later, 0).good);
        let later = Instant::now() + LOOP_LATE + Duration::from_secs(1);
        assert!(liveness(&report, &probes, later, 0).summary.contains("keeper: not seen for 91 s"));
    }

    #[test]
    fn a_restart_is_no_end_of_life_and_a_host_without_open_vswitch_is_none() {
        let (mut report, mut probes) = good();
        report.down = vec![(Unit::OvsVswitchd, 100)];
        assert!(liveness(&report, &probes, Instant::now(), 160).good);
        let health = liveness(&report, &probes, Instant::now(), 161);
        assert_eq!(health.summary, "not live: ovs-vswitchd.service: not running for 61 s");
        report.down.clear();
        probes.silent = vec![(Unit::OvsdbServer, 100)];
        assert!(!liveness(&report, &probes, Instant::now(), 161).good);

        let report = KeeperReport { findings: vec![Finding::NotInstalled], ..KeeperReport::default() };
        assert!(liveness(&report, &ProbeReport::default(), Instant::now(), 1000).good);
        assert!(!readiness(&report, &ProbeReport::default(), Instant::now()).good);
    }
}
