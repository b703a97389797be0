//! What comes from the cluster: enactments, deleted or changed, and requests for the state of the node.

use std::time::Duration;

use linesman_api::enactment::Stage;
use linesman_core::reconcile::Ledger;
use linesman_fleet::enactment::{self, AcceptedReleases, Bound};
use tokio::time::{Instant, timeout};
use tracing::info;

use super::Cluster;
use crate::sources::Sources;

/// Releases that come within this time of each other become one change, up to a limit.
const QUIET: Duration = Duration::from_millis(250);
const LONGEST_BURST: Duration = Duration::from_secs(2);

impl Cluster {
    /// Waits for a change in the cluster. Cancel safe.
    pub async fn changed(&mut self) {
        let rest = self.patience;
        let later = async move {
            match rest {
                Some(rest) => tokio::time::sleep_until(rest).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.enactments.changed() => {}
            () = self.states.asked_or_due() => {}
            deliveries = self.updates.deliveries() => self.note(deliveries),
            () = later => self.patience = None,
        }
        self.note_listed();
        self.metrics.api_server(self.enactments.api_server.error.is_some());
    }

    /// What is released to this node becomes one change: takes in what came while another one was made, and waits
    /// shortly for releases that are about to come.
    pub async fn gather(&mut self) {
        let end = Instant::now() + LONGEST_BURST;
        self.enactments.catch_up();
        while is_burst(&self.enactments.all(), &self.releases) && Instant::now() < end {
            if timeout(QUIET, self.enactments.changed()).await.is_err() {
                break;
            }
        }
        self.note_listed();
    }

    fn note_listed(&mut self) {
        if self.enactments.take_listed() {
            // It may have forgotten: a server that was away may have been restored from a backup.
            self.sent.clear();
            self.updates.try_now();
        }
    }

    /// The policies of this node. Before the first list of enactments, those of the ledger.
    pub fn sources(&self, ledger: &Ledger) -> Sources {
        let accepted = if self.enactments.synced {
            enactment::accepted(self.enactments.policies(), &self.releases, ledger)
        } else {
            enactment::accepted(ledger.0.keys().map(String::as_str), &self.releases, ledger)
        };
        Sources { policies: accepted.policies, wrong: accepted.waiting, ..Sources::default() }
    }

    /// Policies that have no enactment here any more. Their configuration stays: a revert is a release of its own.
    pub fn forget(&mut self, ledger: &mut Ledger) -> bool {
        if !self.enactments.synced {
            return false;
        }
        let gone: Vec<String> = ledger.0.keys().filter(|name| !self.enactments.has(name)).cloned().collect();
        for name in &gone {
            info!(policy = name, "its enactment was deleted; its configuration stays on the host");
            let entry = ledger.0.remove(name);
            self.releases.retire(name, entry);
            self.sent.remove(name);
        }
        let retired: Vec<String> =
            self.releases.0.keys().filter(|name| !self.enactments.has(name)).cloned().collect();
        retired.iter().for_each(|name| self.releases.retire(name, None));
        if !gone.is_empty() {
            self.store();
        }
        !gone.is_empty()
    }
}

/// A release waits for this node, and another one is about to come: its slot is claimed.
fn is_burst(enactments: &[Bound], releases: &AcceptedReleases) -> bool {
    enactments.iter().any(|bound| enactment::is_new_release(bound, releases))
        && enactments.iter().any(|bound| bound.spec.stage == Stage::Claimed)
}

#[cfg(test)]
mod tests {
    use linesman_api::enactment::{EnactmentSpec, EnactmentStatus};
    use linesman_api::time::Time;

    use super::*;

    fn bound(policy: &str, stage: Stage) -> Bound {
        let spec = EnactmentSpec { stage, release_expires: Some(Time(10)), ..EnactmentSpec::default() };
        let (policy, uid) = (policy.to_owned(), policy.to_owned());
        Bound { policy, uid, created: Time(5), generation: 1, spec, status: EnactmentStatus::default() }
    }

    #[test]
    fn a_lone_release_waits_for_nobody() {
        let (none, released) = (AcceptedReleases::default(), bound("a", Stage::Released));
        assert!(!is_burst(&[released.clone(), bound("b", Stage::Bound)], &none));
        assert!(!is_burst(&[bound("b", Stage::Claimed)], &none));
        assert!(is_burst(&[released.clone(), bound("b", Stage::Claimed)], &none));
        let accepted = [("a".to_owned(), enactment::AcceptedRelease::of(&released, None))];
        assert!(!is_burst(&[released, bound("b", Stage::Claimed)], &AcceptedReleases(accepted.into())));
    }
}
