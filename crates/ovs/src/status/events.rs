//! What is worth an event between two statuses.

use linesman_api::open_vswitch::OpenVSwitchStatus;
use linesman_api::reasons::OpenVSwitchEvent;

use crate::settings::{Outcome, Restart};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub warning: bool,
    pub reason: OpenVSwitchEvent,
    pub message: String,
}

/// A keeper that has just started has no earlier status, and tells nothing of what was before it.
pub fn events(
    previous: Option<&OpenVSwitchStatus>,
    now: &OpenVSwitchStatus,
    outcome: Option<&Outcome>,
) -> Vec<Event> {
    let mut events = Vec::new();
    for unit in &now.units {
        let before = previous.and_then(|status| status.units.iter().find(|before| before.name == unit.name));
        let Some(before) = before.filter(|before| before.restarts < unit.restarts) else { continue };
        let times = unit.restarts - before.restarts;
        let often = if times == 1 { String::new() } else { format!(" {times} times") };
        events.push(match &unit.last_crash {
            Some(crash) => Event {
                warning: true,
                reason: OpenVSwitchEvent::UnitCrashed,
                message: format!("{} was restarted{often} after a crash: {crash}", unit.name),
            },
            None => Event {
                warning: false,
                reason: OpenVSwitchEvent::UnitRestarted,
                message: format!("{} was restarted{often}", unit.name),
            },
        });
    }
    if let Some(outcome) = outcome {
        events.extend(of_settings(previous, now, outcome));
    }
    events
}

fn of_settings(
    previous: Option<&OpenVSwitchStatus>,
    now: &OpenVSwitchStatus,
    outcome: &Outcome,
) -> Vec<Event> {
    let mut events = Vec::new();
    if let Some(first) = outcome.changed.first() {
        let more = match outcome.changed.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        events.push(Event {
            warning: false,
            reason: OpenVSwitchEvent::SettingsApplied,
            message: format!("{first}{more}"),
        });
    }
    if outcome.restart == Restart::Done {
        events.push(Event {
            warning: false,
            reason: OpenVSwitchEvent::VswitchdRestarted,
            message: format!("ovs-vswitchd was restarted for {}", outcome.needs_restart.join(", ")),
        });
    }
    let known = |refused| previous.is_some_and(|before| before.settings.refused.contains(refused));
    for refused in now.settings.refused.iter().filter(|refused| !known(refused)).take(8) {
        events.push(Event {
            warning: true,
            reason: OpenVSwitchEvent::SettingRefused,
            message: format!("{} {}: {}", refused.source, refused.key, refused.message).trim().to_owned(),
        });
    }
    events
}
