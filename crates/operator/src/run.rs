//! Start-up, signals and the end of an operator.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use linesman_daemon::{cluster, http};
use linesman_fleet::rollout::Settings;
use tokio::signal::unix::{SignalKind, signal};

use crate::cache::Cache;
use crate::http::OperatorEndpoints;
use crate::lease::LeaderElector;
use crate::metrics::Metrics;
use crate::operator::Operator;
use crate::secrets::SecretReader;
use crate::watch::Watches;
use crate::writer::Writer;
use crate::{Config, Error};

pub async fn run(config: Config) -> Result<(), Error> {
    let client = cluster::connect(config.kubeconfig.as_deref()).await?;
    let (mut elector, leadership) = LeaderElector::new(client.clone(), &config.namespace, &config.identity);
    let (cache, metrics) = (Rc::new(RefCell::new(Cache::default())), Rc::new(Metrics::new(config.version)));
    if let Some(address) = config.listen {
        let endpoints = OperatorEndpoints {
            cache: cache.clone(),
            metrics: metrics.clone(),
            leadership: leadership.clone(),
        };
        let failed = |source| Error::Listen { address, source };
        let bound = http::serve(address, Rc::new(endpoints)).await.map_err(failed)?;
        tracing::info!("serving metrics and health at http://{bound}");
    }
    let mut operator = Operator {
        cache,
        watches: Watches::new(client.clone(), &config.namespace),
        secrets: SecretReader { client: client.clone(), namespace: config.namespace.clone() },
        writer: Writer { client, leadership, metrics },
        identity: config.identity.clone(),
        settings: Settings { release_for: config.release_for },
        rollouts: BTreeMap::new(),
        orphans: true,
        led: false,
        unreadable: BTreeMap::new(),
        failed_watches: BTreeMap::new(),
    };
    tracing::info!(identity = config.identity, namespace = config.namespace, "waiting for the Lease");
    let (mut end, mut interrupt) = (
        signal(SignalKind::terminate()).map_err(Error::Signals)?,
        signal(SignalKind::interrupt()).map_err(Error::Signals)?,
    );
    tokio::select! {
        () = elector.run() => {}
        () = operator.run() => {}
        _ = end.recv() => {}
        _ = interrupt.recv() => {}
    }
    elector.resign().await;
    tracing::info!("stopped");
    Ok(())
}
