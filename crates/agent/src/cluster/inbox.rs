//! What comes from the cluster: enactments, deleted or changed, and requests for the state of the node.

use linesman_core::reconcile::Ledger;
use linesman_fleet::enactment;
use tracing::info;

use super::Cluster;
use crate::sources::Sources;

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
            () = self.states.requested() => {}
            delivery = self.updates.delivery() => self.note(delivery),
            () = later => self.patience = None,
        }
        if self.enactments.take_listed() {
            // It may have forgotten: a server that was away may have been restored from a backup.
            self.sent.clear();
            self.updates.try_now();
        }
        self.metrics.api_server(self.enactments.api_server_error.is_some());
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
