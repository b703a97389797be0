//! What was observed becomes the status. Pure, bounded, and the same as before when nothing is worth a write.

use linesman_api::condition::{Condition, Truth, dated, is_true};
use linesman_api::conditions::OpenVSwitchCondition::{self, Available, Degraded, Progressing};
use linesman_api::limits::{OVS_BRIDGES, OVS_INTERFACE_ERRORS, OVS_NAME, OVS_SETTINGS, OVS_TEXT};
use linesman_api::open_vswitch::{
    AppliedSetting, BridgeStatus, InterfaceError, OpenVSwitchStatus, RefusedSetting, SettingsStatus,
    UnitStatus, Versions,
};
use linesman_api::reasons::OpenVSwitchReason::{
    self, AsExpected, InterfaceErrors, RestartNeeded, SettingsApplying, SettingsRefused, Starting,
    VersionSkew,
};
use linesman_api::time::Time;

use super::facts::{BridgeFacts, DatabaseFacts};
use super::observation::{Observation, Problem, Severity};
use crate::settings::decide::Stage;
use crate::settings::{Outcome, Restart};
use crate::units::observed::{Exit, UnitReport};

/// Memory is reported anew when it has changed by a fifth.
const STEADY: u64 = 5;
/// What the database calls the datapath of a bridge that names none.
const KERNEL: &str = "system";

/// What is equal to `previous` need not be written.
pub fn build(previous: &OpenVSwitchStatus, seen: &Observation, now: Time) -> OpenVSwitchStatus {
    let units: Vec<UnitStatus> = seen.units.iter().map(|unit| unit_status(unit, previous)).collect();
    let mut status = match &seen.database {
        Some(database) => of_database(database),
        // The last that is known of bridges; that it is old, the conditions say.
        None => OpenVSwitchStatus {
            datapath_types: previous.datapath_types.clone(),
            bridges: previous.bridges.clone(),
            bridge_count: previous.bridge_count,
            port_count: previous.port_count,
            interface_errors: previous.interface_errors.clone(),
            interface_error_count: previous.interface_error_count,
            ..OpenVSwitchStatus::default()
        },
    };
    status.versions = versions(seen, previous);
    status.skew = skew(status.versions.as_ref());
    status.restarts = units.iter().map(|unit| unit.restarts).fold(0, u32::saturating_add);
    status.units = units;
    status.settings = seen.settings.as_ref().map_or_else(|| previous.settings.clone(), settings);
    let problems = problems(seen, &status);
    status.conditions = dated(&previous.conditions, conditions(&problems), now);
    status
}

/// Whether others may rely on Open vSwitch.
pub fn is_ready(status: &OpenVSwitchStatus) -> bool {
    is_true(&status.conditions, Available)
}

fn unit_status(report: &UnitReport, previous: &OpenVSwitchStatus) -> UnitStatus {
    let unit = &report.observed;
    let name = unit.unit.name();
    let before = previous.units.iter().find(|before| before.name == name);
    let reported = before.and_then(|before| before.memory_mebibytes);
    let crash = report.last_restart.as_ref().and_then(|restart| restart.crash);
    UnitStatus {
        name: name.into(),
        state: cut(unit.active_state.as_str(), OVS_NAME),
        pid: unit.main_pid,
        started: unit.started_at.map(Time),
        restarts: report.restarts,
        last_crash: crash.map(exit),
        memory_mebibytes: unit.memory_current.map(|bytes| steady(bytes.div_ceil(1 << 20), reported)),
    }
}

fn exit(exit: Exit) -> String {
    match exit {
        Exit::Exited(status) => format!("exit status {status}"),
        Exit::Killed(signal) => format!("killed by signal {signal}"),
        Exit::Dumped(signal) => format!("killed by signal {signal}, with a core dump"),
    }
}

fn steady(now: u64, reported: Option<u64>) -> u64 {
    reported.filter(|reported| now.abs_diff(*reported) <= reported / STEADY).unwrap_or(now)
}

fn of_database(database: &DatabaseFacts) -> OpenVSwitchStatus {
    let errors = database.bridges.iter().flat_map(errors_of);
    let bridge = |bridge: &BridgeFacts| BridgeStatus {
        name: cut(&bridge.name, OVS_NAME),
        datapath_type: if bridge.datapath_type.is_empty() {
            KERNEL.into()
        } else {
            cut(&bridge.datapath_type, OVS_NAME)
        },
        ports: count(bridge.ports),
    };
    OpenVSwitchStatus {
        datapath_types: database
            .datapath_types
            .iter()
            .take(OVS_BRIDGES)
            .map(|it| cut(it, OVS_NAME))
            .collect(),
        bridges: database.bridges.iter().take(OVS_BRIDGES).map(bridge).collect(),
        bridge_count: count(database.bridges.len()),
        port_count: count(database.bridges.iter().map(|bridge| bridge.ports).sum()),
        interface_error_count: count(errors.clone().count()),
        interface_errors: errors.take(OVS_INTERFACE_ERRORS).collect(),
        ..OpenVSwitchStatus::default()
    }
}

fn errors_of(bridge: &BridgeFacts) -> impl Iterator<Item = InterfaceError> + Clone {
    bridge.errors.iter().map(|(interface, error)| InterfaceError {
        interface: cut(interface, OVS_NAME),
        bridge: cut(&bridge.name, OVS_NAME),
        error: cut(error, OVS_TEXT),
    })
}

/// A daemon that does not answer still has the version that it had.
fn versions(seen: &Observation, previous: &OpenVSwitchStatus) -> Option<Versions> {
    let before = previous.versions.clone().unwrap_or_default();
    let database = seen.database.as_ref();
    let text = |now: Option<&String>, before: Option<String>| now.map(|it| cut(it, OVS_NAME)).or(before);
    let ovs = seen.versions.ovs.as_ref().or(database.and_then(|it| it.ovs_version.as_ref()));
    let versions = Versions {
        ovs: text(ovs, before.ovs),
        ovsdb_server: text(seen.versions.ovsdb_server.as_ref(), before.ovsdb_server),
        schema: text(database.map(|it| &it.schema), before.schema),
        kernel: text(seen.versions.kernel.as_ref(), before.kernel),
    };
    (versions != Versions::default()).then_some(versions)
}

fn skew(versions: Option<&Versions>) -> Option<String> {
    let versions = versions?;
    let (ovs, ovsdb) = (versions.ovs.as_ref()?, versions.ovsdb_server.as_ref()?);
    (ovs != ovsdb).then(|| {
        format!("ovs-vswitchd {ovs} runs with ovsdb-server {ovsdb}; restart the daemon that was not restarted after the upgrade")
    })
}

fn settings(outcome: &Outcome) -> SettingsStatus {
    let in_effect = outcome.settings.iter().filter(|setting| setting.stage == Stage::Applied);
    let applied = |setting: &crate::settings::decide::Standing| AppliedSetting {
        key: cut(&setting.key, OVS_NAME),
        value: cut(&setting.value, OVS_TEXT),
    };
    let refused = |refusal: &crate::settings::refusal::Refusal| RefusedSetting {
        key: cut(&refusal.key, OVS_NAME),
        source: refusal.place.as_ref().map(|place| cut(&place.to_string(), OVS_TEXT)).unwrap_or_default(),
        reason: refusal.cause.as_str().into(),
        message: cut(&format!("{}; {}", refusal.message, refusal.remedy), OVS_TEXT),
    };
    SettingsStatus {
        applied_count: count(in_effect.clone().count()),
        refused_count: count(outcome.refusals.len()),
        applied: in_effect.take(OVS_SETTINGS).map(applied).collect(),
        refused: outcome.refusals.iter().take(OVS_SETTINGS).map(refused).collect(),
        needs_restart: outcome
            .needs_restart
            .iter()
            .take(OVS_SETTINGS)
            .map(|key| cut(key, OVS_NAME))
            .collect(),
    }
}

/// Those that were observed, and those that follow from the rest of the status.
fn problems(seen: &Observation, status: &OpenVSwitchStatus) -> Vec<Problem> {
    let mut problems = seen.problems.clone();
    let mut add = |severity, reason, message| problems.push(Problem::new(severity, reason, message));
    if let Some(skew) = &status.skew {
        add(Severity::Degraded, VersionSkew, skew.clone());
    }
    if let Some(first) = status.interface_errors.first() {
        let message = format!("{}: {}", first.interface, first.error);
        add(Severity::Degraded, InterfaceErrors, and_more(&message, status.interface_error_count));
    }
    if let Some(first) = status.settings.refused.first() {
        let message = format!("{} {}: {}", first.source, first.key, first.message);
        add(Severity::Degraded, SettingsRefused, and_more(message.trim(), status.settings.refused_count));
    }
    let Some(outcome) = &seen.settings else { return problems };
    if !outcome.needs_restart.is_empty() {
        let keys = outcome.needs_restart.join(", ");
        match outcome.restart {
            Restart::Waiting => {
                add(
                    Severity::Progressing,
                    RestartNeeded,
                    format!("ovs-vswitchd waits for its turn to restart for {keys}"),
                );
            }
            Restart::Done => {}
            Restart::None => add(
                Severity::Degraded,
                RestartNeeded,
                format!("{keys}: restart ovs-vswitchd, or set restart-vswitchd: when-needed"),
            ),
        }
    }
    let waiting = |stage: &Stage| matches!(stage, Stage::Applying | Stage::Waiting);
    if let Some(setting) = outcome.settings.iter().find(|setting| waiting(&setting.stage)) {
        add(Severity::Progressing, SettingsApplying, format!("{} waits for its daemon", setting.key));
    }
    problems
}

fn and_more(message: &str, all: u32) -> String {
    match all {
        0 | 1 => message.to_owned(),
        all => format!("{message} (and {} more)", all - 1),
    }
}

fn conditions(problems: &[Problem]) -> Vec<Condition> {
    let of = |severity| problems.iter().find(move |problem: &&Problem| problem.severity == severity);
    let unavailable = of(Severity::Unavailable);
    let condition =
        |kind: OpenVSwitchCondition, problem: Option<&Problem>, truth, message: &str| match problem {
            Some(problem) => Condition::new(kind, truth, problem.reason, cut(&problem.message, OVS_TEXT)),
            None => {
                let opposite = if truth == Truth::True { Truth::False } else { Truth::True };
                Condition::new(kind, opposite, AsExpected, message)
            }
        };
    vec![
        condition(Available, unavailable, Truth::False, "Open vSwitch answers and follows its database"),
        condition(Progressing, of(Severity::Progressing), Truth::True, ""),
        condition(Degraded, unavailable.or_else(|| of(Severity::Degraded)), Truth::True, ""),
    ]
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// At most so many bytes, and so characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most - "…".len()).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}…", &text[..end])
}

/// Of the conditions, for the word on a Node.
pub(super) fn summary(status: &OpenVSwitchStatus) -> (bool, OpenVSwitchReason, String) {
    let found = linesman_api::condition::find(&status.conditions, Available);
    let reason = found.and_then(|it| OpenVSwitchReason::parse(&it.reason)).unwrap_or(Starting);
    (is_ready(status), reason, found.map(|it| it.message.clone()).unwrap_or_default())
}

#[cfg(test)]
mod tests;
