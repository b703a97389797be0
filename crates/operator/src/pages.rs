//! What the operator tells over HTTP.

use std::cell::RefCell;
use std::rc::Rc;

use linesman_daemon::http::Endpoints;

use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::world::World;

pub struct Told {
    pub world: Rc<RefCell<World>>,
    pub metrics: Rc<Metrics>,
    pub leadership: Leadership,
}

impl Endpoints for Told {
    fn metrics(&self) -> String {
        self.metrics.text(&self.world.borrow())
    }

    /// One that stands by is as ready as one that leads.
    fn ready(&self) -> (bool, String) {
        let world = self.world.borrow();
        if !world.is_complete() {
            return (false, "reading what the cluster holds".into());
        }
        let role = if self.leadership.left().is_some() { "leads" } else { "stands by" };
        let (policies, nodes) = (world.policies.row().len(), world.nodes.row().len());
        (true, format!("{role}: {policies} policies, {nodes} nodes"))
    }
}
