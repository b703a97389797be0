//! What goes to the cluster: the status of the enactments and the state of the node.

use std::collections::BTreeMap;

use linesman_api::enactment::EnactmentStatus;
use linesman_api::node_state::FirstBootStatus;
use linesman_api::time::Time;
use linesman_core::compare::Difference;
use linesman_core::reconcile::Ledger;
use linesman_daemon::clock;
use linesman_fleet::enactment;
use serde_json::{Value, json};
use tracing::warn;

use super::Cluster;
use super::pending_updates::{Delivery, StatusUpdate, Target};
use crate::freeze::Freeze;

impl Cluster {
    pub(super) fn note(&mut self, deliveries: Vec<Delivery>) {
        let mut published = false;
        for delivery in deliveries {
            published |= self.note_delivery(delivery);
        }
        if published {
            self.store();
        }
    }

    /// True if the outcome of a release is published now.
    fn note_delivery(&mut self, delivery: Delivery) -> bool {
        let (to, void) = match delivery {
            Delivery::Published(to) => {
                self.metrics.wrote(to.name());
                (to, false)
            }
            Delivery::Obsolete(to) => (to, true),
            Delivery::Refused(to, why) => {
                warn!("the API server refused a status update: {why}");
                (to, true)
            }
        };
        let Target::Enactment { policy, attempt } = to else { return false };
        if void {
            self.sent.remove(&policy);
        }
        let release = self.releases.0.get_mut(&policy).filter(|release| release.attempt == attempt);
        match release.filter(|release| !release.published) {
            Some(release) => {
                release.published = true;
                true
            }
            None => false,
        }
    }

    /// Publishes the status of each enactment that the cluster does not have yet.
    pub fn publish_statuses(
        &mut self,
        ledger: &Ledger,
        drift: &BTreeMap<String, Vec<Difference>>,
        freeze: Option<&Freeze>,
    ) {
        let now = Time(clock::now());
        for bound in self.enactments.all() {
            let name = &bound.policy;
            let none = Vec::new();
            let differences = drift.get(name).unwrap_or(&none);
            let release = self.releases.0.get(name);
            let status = release
                .and_then(|release| {
                    let request = self.request(name);
                    enactment::pending_status(release, &bound, ledger.get(name), differences, request, now)
                })
                .or_else(|| enactment::outdated(&bound, &self.releases, now))
                .or_else(|| {
                    enactment::unrecorded(&bound, &self.releases, now).filter(|_| !self.is_unanswered(&bound))
                })
                .or_else(|| enactment::lost_record(&bound, &self.releases).filter(|_| freeze.is_none()))
                .or_else(|| enactment::frozen(&bound, &self.releases, &freeze?.to_string(), now));
            self.send_status(name, &bound.uid, status);
        }
        for enactment in self.enactments.unreadable() {
            let status = enactment::unreadable(&enactment, now);
            self.send_status(&enactment.policy, &enactment.uid, status);
        }
    }

    /// None: the cluster has it. If somebody overwrites it after that, it is sent again.
    fn send_status(&mut self, policy: &str, uid: &str, status: Option<EnactmentStatus>) {
        let Some(status) = status else {
            if self.sent.remove(policy).is_some() {
                self.updates.withdraw(policy);
            }
            return;
        };
        let attempt = status.attempt.unwrap_or_default();
        let status = json!(status);
        let timeless = timeless(&status);
        if self.sent.insert(policy.into(), timeless.clone()) != Some(timeless) {
            let target = Target::Enactment { policy: policy.into(), attempt };
            self.updates.send(StatusUpdate { target, uid: uid.into(), status });
        }
    }

    /// Publishes the state of the node if it changed.
    pub async fn publish_node_state(&mut self, state: &Value, first_boot: Option<FirstBootStatus>) {
        if state.is_null() {
            return;
        }
        self.states.note_first_boot(first_boot);
        let changed = self.states.status_update(state, Time(clock::now())).await;
        if let Some(current) = self.states.current() {
            self.metrics.inventory(&self.client.node, current);
        }
        if let Some(status) = changed {
            self.updates.send(StatusUpdate { target: Target::NodeState, uid: String::new(), status });
        }
    }
}

/// A status that differs only in its times is the same.
fn timeless(status: &Value) -> Value {
    let mut status = status.clone();
    for condition in status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(fields) = condition.as_object_mut() {
            fields.retain(|key, _| !key.ends_with("Time"));
        }
    }
    status
}
