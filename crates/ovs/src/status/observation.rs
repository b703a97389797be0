//! What a status is built from.

use linesman_api::open_vswitch::Versions;
use linesman_api::reasons::OpenVSwitchReason;

use super::facts::DatabaseFacts;
use crate::settings::reconcile::Outcome;
use crate::units::observed::UnitReport;

#[derive(Debug, Clone, Default)]
pub struct Observation {
    pub units: Vec<UnitReport>,
    pub versions: Versions,
    /// None: the database does not answer.
    pub database: Option<DatabaseFacts>,
    /// None: no settings were looked at yet.
    pub settings: Option<Outcome>,
    /// What units and probes say is wrong.
    pub problems: Vec<Problem>,
}

/// Which condition a problem belongs to; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Open vSwitch does not forward, or does not follow its database.
    Unavailable,
    /// Something needs attention.
    Degraded,
    /// Something is under way and needs nobody.
    Progressing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    pub reason: OpenVSwitchReason,
    pub message: String,
}

impl Problem {
    pub fn new(severity: Severity, reason: OpenVSwitchReason, message: impl Into<String>) -> Self {
        Self { severity, reason, message: message.into() }
    }
}
