//! The log: what is new is said once.

use std::collections::BTreeMap;

use linesman_daemon::systemd;
use tracing::{info, warn};

use crate::report::Health;
use crate::units::Finding;
use crate::units::observed::Unit;

#[derive(Debug, Default)]
pub struct Announcements {
    known: BTreeMap<(&'static str, Option<Unit>), String>,
    ready: Option<bool>,
    summary: String,
}

impl Announcements {
    /// A finding whose details change is the same finding.
    pub fn findings(&mut self, findings: &[Finding]) {
        let now: BTreeMap<_, _> =
            findings.iter().map(|finding| ((finding.reason(), finding.unit()), finding)).collect();
        for (key, finding) in &now {
            if self.known.contains_key(key) {
                continue;
            }
            match finding.is_transient() {
                true => info!(reason = finding.reason(), "{finding}"),
                false => warn!(reason = finding.reason(), "{finding}"),
            }
        }
        for ((reason, unit), text) in &self.known {
            if !now.contains_key(&(*reason, *unit)) {
                info!(reason, "no longer the case: {text}");
            }
        }
        self.known = now.into_iter().map(|(key, finding)| (key, finding.to_string())).collect();
    }

    pub fn health(&mut self, health: &Health) {
        if self.ready != Some(health.good) {
            self.ready = Some(health.good);
            match health.good {
                true => info!("Open vSwitch is ready"),
                false => warn!("Open vSwitch is {}", health.summary),
            }
        }
        if self.summary != health.summary {
            self.summary.clone_from(&health.summary);
            systemd::status(&health.summary);
        }
    }
}
