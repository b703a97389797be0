//! `/livez` and `/readyz`. They answer at once, from what was last found out, and touch nothing.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Instant;

use linesman_daemon::clock;
use linesman_daemon::http::Endpoints;
use tokio::sync::watch;

use crate::metrics::Metrics;
use crate::probes::ProbeReport;
use crate::report::{KeeperReport, liveness, readiness};
use crate::{Error, Result};

struct KeeperEndpoints {
    report: watch::Receiver<KeeperReport>,
    probes: watch::Receiver<ProbeReport>,
    metrics: Rc<Metrics>,
}

impl Endpoints for KeeperEndpoints {
    fn metrics(&self) -> String {
        self.metrics.text()
    }

    fn live(&self) -> (bool, String) {
        let health = liveness(&self.report.borrow(), &self.probes.borrow(), Instant::now(), clock::now());
        (health.good, health.text())
    }

    fn ready(&self) -> (bool, String) {
        let health = readiness(&self.report.borrow(), &self.probes.borrow(), Instant::now());
        (health.good, health.text())
    }
}

pub async fn serve(
    address: SocketAddr,
    report: watch::Receiver<KeeperReport>,
    probes: watch::Receiver<ProbeReport>,
    metrics: Rc<Metrics>,
) -> Result<SocketAddr> {
    let failed = |source| Error::Listen { address, source };
    linesman_daemon::http::serve(address, Rc::new(KeeperEndpoints { report, probes, metrics }))
        .await
        .map_err(failed)
}
