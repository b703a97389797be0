use super::*;
use crate::settings::decide::Standing;
use crate::settings::document::Place;
use crate::settings::refusal::{Cause, Refusal};
use crate::status::events::{Event, events};
use crate::units::observed::{
    ActiveState, LoadState, ObservedUnit, Restart as UnitRestart, Unit, UnitFileState,
};
use linesman_api::condition::find;
use linesman_api::reasons::OpenVSwitchEvent;
use linesman_api::reasons::OpenVSwitchReason::{CrashLooping, VswitchdNotAnswering};

fn unit(memory: u64, restarts: u32, crash: Option<Exit>) -> UnitReport {
    let observed = ObservedUnit {
        unit: Unit::OvsVswitchd,
        load_state: LoadState::Loaded,
        active_state: ActiveState::Active,
        sub_state: "running".into(),
        unit_file_state: UnitFileState::Enabled,
        main_pid: Some(7),
        invocation_id: Some("a".into()),
        started_at: Some(100),
        systemd_restarts: 0,
        result: "success".into(),
        exit: None,
        memory_current: Some(memory),
    };
    let last_restart = (restarts > 0).then_some(UnitRestart { at: 1, crash });
    UnitReport { observed, restarts, last_restart }
}

fn bridge(name: String, ports: usize, errors: usize) -> BridgeFacts {
    let error = |n| (format!("eth{n}"), "could not open network device".to_owned());
    BridgeFacts { name, datapath_type: String::new(), ports, errors: (0..errors).map(error).collect() }
}

fn observation() -> Observation {
    Observation {
        units: vec![unit(100 << 20, 0, None)],
        versions: Versions {
            ovs: Some("3.5.0".into()),
            ovsdb_server: Some("3.5.0".into()),
            ..Versions::default()
        },
        database: Some(DatabaseFacts {
            schema: "8.8.0".into(),
            bridges: vec![bridge("br-ex".into(), 2, 0)],
            ..DatabaseFacts::default()
        }),
        settings: Some(Outcome::default()),
        problems: Vec::new(),
    }
}

fn first(seen: &Observation) -> OpenVSwitchStatus {
    build(&OpenVSwitchStatus::default(), seen, Time(10))
}

fn reason(status: &OpenVSwitchStatus, kind: OpenVSwitchCondition) -> (Truth, String) {
    let found = find(&status.conditions, kind).unwrap();
    (found.status, found.reason.clone())
}

#[test]
fn a_quiet_host_is_written_once() {
    let mut seen = observation();
    let status = first(&seen);
    assert_eq!(reason(&status, Available), (Truth::True, "AsExpected".into()));
    assert_eq!(reason(&status, Degraded), (Truth::False, "AsExpected".into()));
    assert!(is_ready(&status));
    // Memory that breathes, and the time, are no reason to write.
    for memory in [90_u64, 110, 119, 81] {
        seen.units = vec![unit(memory << 20, 0, None)];
        assert_eq!(build(&status, &seen, Time(20)), status, "{memory} MiB");
    }
    seen.units = vec![unit(130 << 20, 0, None)];
    let grown = build(&status, &seen, Time(30));
    assert_eq!(grown.units[0].memory_mebibytes, Some(130));
    assert_eq!(grown.conditions, status.conditions);
}

#[test]
fn lists_are_cut_and_their_numbers_are_not() {
    let mut seen = observation();
    let database = seen.database.as_mut().unwrap();
    database.bridges = (0..500).map(|n| bridge(format!("br{n:03}"), 3, 2)).collect();
    database.bridges[0].name = "x".repeat(5000);
    let refusal = |n: usize| {
        Refusal::new(format!("other_config:k{n}"), None, Cause::UnknownKey, "ä".repeat(5000), "remove it")
    };
    seen.settings.as_mut().unwrap().refusals = (0..1000).map(refusal).collect();
    let status = first(&seen);
    assert_eq!((status.bridges.len(), status.bridge_count, status.port_count), (OVS_BRIDGES, 500, 1500));
    assert_eq!((status.interface_errors.len(), status.interface_error_count), (OVS_INTERFACE_ERRORS, 1000));
    assert_eq!((status.settings.refused.len(), status.settings.refused_count), (OVS_SETTINGS, 1000));
    assert_eq!(status.bridges[0].name.len(), OVS_NAME);
    assert!(serde_json::to_vec(&status).unwrap().len() < 300_000);
    assert_eq!(reason(&status, Degraded), (Truth::True, "InterfaceErrors".into()));
}

#[test]
fn conditions_follow_the_worst_problem() {
    let mut seen = observation();
    seen.problems = vec![
        Problem::new(Severity::Degraded, CrashLooping, "ovs-vswitchd ended 5 times"),
        Problem::new(Severity::Unavailable, VswitchdNotAnswering, "no answer within 1500 ms"),
    ];
    seen.database = None;
    let before = first(&observation());
    let status = build(&before, &seen, Time(20));
    assert!(!is_ready(&status));
    assert_eq!(reason(&status, Available), (Truth::False, "VswitchdNotAnswering".into()));
    assert_eq!(reason(&status, Degraded), (Truth::True, "VswitchdNotAnswering".into()));
    assert_eq!(status.bridges, before.bridges, "what was known of them is not taken for removed");
    assert_eq!(status.versions, before.versions);
    assert_eq!(summary(&status).1, VswitchdNotAnswering);
}

#[test]
fn versions_that_do_not_fit_are_named() {
    let mut seen = observation();
    seen.versions.ovsdb_server = Some("3.6.0".into());
    let status = first(&seen);
    assert!(status.skew.as_ref().is_some_and(|skew| skew.contains("ovsdb-server 3.6.0")));
    assert_eq!(reason(&status, Degraded), (Truth::True, "VersionSkew".into()));
}

#[test]
fn settings_that_need_a_restart_say_so() {
    let mut seen = observation();
    let place = Place { name: "settings".into(), line: 1 };
    let outcome = seen.settings.as_mut().unwrap();
    let (key, value) = ("other_config:hw-offload".to_owned(), "true".to_owned());
    outcome.settings = vec![Standing { key: key.clone(), value, place, stage: Stage::NeedsRestart }];
    outcome.needs_restart = vec![key.clone()];
    let status = first(&seen);
    assert_eq!(status.settings.applied_count, 0);
    assert_eq!(status.settings.needs_restart, [key]);
    assert_eq!(reason(&status, Degraded), (Truth::True, "RestartNeeded".into()));
    seen.settings.as_mut().unwrap().restart = Restart::Waiting;
    let status = first(&seen);
    assert_eq!(reason(&status, Degraded).0, Truth::False);
    assert_eq!(reason(&status, Progressing), (Truth::True, "RestartNeeded".into()));
}

#[test]
fn events_tell_of_crashes_and_restarts_once() {
    let before = first(&observation());
    let mut seen = observation();
    seen.units = vec![unit(100 << 20, 2, Some(Exit::Killed(9)))];
    let now = build(&before, &seen, Time(20));
    let message = "ovs-vswitchd.service was restarted 2 times after a crash: killed by signal 9".into();
    let crash = Event { warning: true, reason: OpenVSwitchEvent::UnitCrashed, message };
    assert_eq!(events(Some(&before), &now, None), [crash]);
    assert_eq!(events(Some(&now), &now, None), []);
    assert_eq!(events(None, &now, None), [], "a keeper that has just started");
}
