//! Metrics and health of the agent over HTTP.

use std::net::SocketAddr;
use std::rc::Rc;

use linesman_daemon::http::Endpoints;
use tokio::sync::watch;

use crate::metrics::Metrics;
use crate::status::Status;
use crate::{Error, Result};

struct AgentEndpoints {
    metrics: Rc<Metrics>,
    status: watch::Receiver<Status>,
}

impl Endpoints for AgentEndpoints {
    fn metrics(&self) -> String {
        self.metrics.text()
    }

    fn ready(&self) -> (bool, String) {
        let status = self.status.borrow();
        (status.observation_error.is_none() && !status.observed.is_empty(), status.summary.clone())
    }
}

pub async fn serve(
    address: SocketAddr,
    metrics: Rc<Metrics>,
    status: watch::Receiver<Status>,
) -> Result<SocketAddr> {
    let failed = |e: std::io::Error| Error::Listen { address, source: e };
    linesman_daemon::http::serve(address, Rc::new(AgentEndpoints { metrics, status })).await.map_err(failed)
}
