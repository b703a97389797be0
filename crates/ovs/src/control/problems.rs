//! What units and probes say, as problems of a status.

use linesman_api::reasons::OpenVSwitchReason;

use crate::probes::{ProbeFailure, ProbeKind, ProbeReport};
use crate::report::KeeperReport;
use crate::status::{Problem, Severity};
use crate::units::Finding;
use crate::units::observed::Unit;

pub fn problems(report: &KeeperReport, probes: &ProbeReport) -> Vec<Problem> {
    let mut problems: Vec<Problem> = report.findings.iter().map(of_finding).collect();
    let failures = ProbeKind::ALL.into_iter().filter_map(|kind| {
        let failure = probes.result(kind).as_ref().err()?;
        Some(of_probe(kind, failure))
    });
    problems.extend(failures);
    problems
}

fn of_finding(finding: &Finding) -> Problem {
    use OpenVSwitchReason::{
        Containerised, CrashLooping, NotInstalled, Starting, SystemdUnreachable, UnitNotRunning, UnitUnusable,
    };
    let (severity, reason) = match finding {
        Finding::SystemdUnreachable { .. } => (Severity::Degraded, SystemdUnreachable),
        Finding::NotInstalled => (Severity::Unavailable, NotInstalled),
        Finding::Containerised { .. } | Finding::ContainerEnded { .. } => (Severity::Unavailable, Containerised),
        Finding::ProcessesHidden => (Severity::Degraded, Containerised),
        Finding::NotEnabled { .. } => (Severity::Degraded, UnitUnusable),
        Finding::UnitMissing { .. } | Finding::UnitMasked { .. } | Finding::UnitUnreadable { .. } => {
            (Severity::Unavailable, UnitUnusable)
        }
        Finding::HostStopping | Finding::Changing { .. } => (Severity::Progressing, Starting),
        Finding::Dead { .. } => (Severity::Unavailable, UnitNotRunning),
        Finding::CrashLoop { .. } => (Severity::Degraded, CrashLooping),
        Finding::Hung { unit, .. } => (Severity::Unavailable, silent(*unit)),
    };
    Problem::new(severity, reason, finding.to_string())
}

fn of_probe(kind: ProbeKind, failure: &ProbeFailure) -> Problem {
    let reason = match failure {
        ProbeFailure::NotRunning { .. } => OpenVSwitchReason::UnitNotRunning,
        ProbeFailure::NotYet | ProbeFailure::Unconfirmed { .. } => OpenVSwitchReason::Starting,
        ProbeFailure::Behind { .. } => OpenVSwitchReason::ConfigurationLagging,
        ProbeFailure::Silent { .. } | ProbeFailure::Refused(_) => match kind {
            ProbeKind::Switch => OpenVSwitchReason::VswitchdNotAnswering,
            ProbeKind::Database | ProbeKind::Configuration => OpenVSwitchReason::DatabaseNotAnswering,
        },
    };
    Problem::new(Severity::Unavailable, reason, format!("{}: {failure}", kind.name()))
}

fn silent(unit: Unit) -> OpenVSwitchReason {
    match unit {
        Unit::OvsdbServer => OpenVSwitchReason::DatabaseNotAnswering,
        _ => OpenVSwitchReason::VswitchdNotAnswering,
    }
}
