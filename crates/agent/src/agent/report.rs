//! The status of the agent: on its socket, to systemd and in the metrics. The ledger, on disk.

use linesman_daemon::{clock, systemd};
use tokio::sync::watch;
use tracing::warn;

use super::Agent;
use crate::status::{self, Status};
use crate::{first_boot, freeze};

impl Agent {
    pub(super) fn store(&mut self) -> bool {
        let written = self.state_file.write(&self.ledger);
        if let Err(e) = &written {
            warn!("{e}; after a restart all policies are compared with the host again");
        }
        self.report();
        written.is_ok()
    }

    pub(super) fn report(&mut self) {
        let policies = status::policies(&self.sources, &self.ledger, &self.host.drift, clock::now());
        let frozen = freeze::read(&self.config.settings.state_dir);
        let unobserved = self.host.observation_error.as_ref();
        let trouble = unobserved
            .map(|why| format!("cannot observe this host: {why}"))
            .or_else(|| self.sources.directory_error.clone());
        let (condition, summary) = status::summarise(&policies, frozen.as_ref(), trouble.as_deref());
        let api_server_error =
            self.cluster.as_ref().and_then(|cluster| cluster.api_server_error().map(str::to_owned));
        let status = Status {
            condition,
            summary,
            policies,
            frozen,
            observation_error: self.host.observation_error.clone(),
            directory_error: self.sources.directory_error.clone(),
            api_server_error,
            first_boot: first_boot::status(&self.config.settings.state_dir),
            version: self.config.version.into(),
            pid: std::process::id(),
            started: self.started.clone(),
            observed: match self.host.observed {
                0 => "never".into(),
                seconds => clock::rfc3339(seconds),
            },
        };
        self.metrics.status(&status, self.host.observed);
        publish(&self.status, status);
    }
}

/// Notifies only of changes; that an observation found nothing new is none.
fn publish(sender: &watch::Sender<Status>, status: Status) {
    let changed = sender.send_if_modified(|known| {
        let same = Status { observed: known.observed.clone(), ..status.clone() } == *known;
        *known = status;
        !same
    });
    if changed {
        systemd::status(&sender.borrow().summary);
    }
}

/// In the middle of a transaction only the summary changes.
pub fn publish_progress(sender: &watch::Sender<Status>, what: &str, step: &str) {
    sender.send_modify(|status| {
        status.condition = status::HostCondition::Progressing;
        status.summary = format!("{what}: {step}");
    });
    systemd::status(&sender.borrow().summary);
}
