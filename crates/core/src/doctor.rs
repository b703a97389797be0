//! Whether a host has what linesman needs, and what could get in its way: inspection in, findings out.

pub mod br_ex;
mod competing_tools;
mod daemons;
mod inspection;
mod own_state;
mod profiles;
mod render;

use serde::Serialize;

pub use competing_tools::{cloud_init_keeps_off, ifupdown, netplan};
pub use inspection::{
    Answer, CompetingTool, Inspection, Nic, OpenFile, OpenVSwitch, StateDir, Tool, Unfinished, Unit,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Ok,
    /// Works, but not as it could, or not for long.
    Warning,
    /// A change would be refused, or could not be rolled back; or br-ex does not work.
    Problem,
}

/// What one check found. There is one per check at least, so that a reader sees what was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub level: Level,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub verdict: Level,
    pub findings: Vec<Finding>,
}

const CHECKS: &[fn(&Inspection) -> Vec<Finding>] = &[
    daemons::root,
    daemons::dbus,
    daemons::networkmanager,
    daemons::open_vswitch,
    daemons::ovs_datapath,
    daemons::ovs_plugin,
    daemons::supplicant,
    profiles::unmanaged,
    profiles::in_memory,
    profiles::in_conflict,
    profiles::ifcfg,
    competing_tools::tools,
    own_state::checkpoints,
    own_state::journal,
    own_state::state_dir,
    own_state::units,
    br_ex::all,
];

pub fn examine(inspection: &Inspection) -> Report {
    let findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(inspection)).collect();
    let verdict = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok);
    Report { verdict, findings }
}

fn ok(check: &'static str, message: impl Into<String>) -> Vec<Finding> {
    vec![Finding { check, level: Level::Ok, message: message.into(), remedy: None }]
}

fn warning(check: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { check, level: Level::Warning, message: message.into(), remedy: Some(remedy.into()) }
}

fn problem(check: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { check, level: Level::Problem, message: message.into(), remedy: Some(remedy.into()) }
}

/// What was found, or that all is well.
fn or_ok(findings: Vec<Finding>, check: &'static str, message: impl Into<String>) -> Vec<Finding> {
    if findings.is_empty() { ok(check, message) } else { findings }
}
