//! Metrics and health of the operator.

use std::cell::RefCell;
use std::rc::Rc;

use linesman_daemon::http::Endpoints;

use crate::cache::Cache;
use crate::leadership::Leadership;
use crate::metrics::Metrics;

pub struct OperatorEndpoints {
    pub cache: Rc<RefCell<Cache>>,
    pub metrics: Rc<Metrics>,
    pub leadership: Leadership,
}

impl Endpoints for OperatorEndpoints {
    fn metrics(&self) -> String {
        self.metrics.text(&self.cache.borrow())
    }

    /// A standby is as ready as the leader.
    fn ready(&self) -> (bool, String) {
        let cache = self.cache.borrow();
        if !cache.is_synced() {
            return (false, "waiting for the caches to sync".into());
        }
        let role = if self.leadership.left().is_some() { "leader" } else { "standby" };
        let (policies, nodes) = (cache.policies.len(), cache.nodes.len());
        (true, format!("{role}: {policies} policies, {nodes} nodes"))
    }
}
