//! The life of an operator: from its start until somebody ends it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use linesman_daemon::{cluster, http};
use linesman_fleet::rollout::Settings;
use tokio::signal::unix::{SignalKind, signal};

use crate::act::Hand;
use crate::lease::Candidate;
use crate::metrics::Metrics;
use crate::operator::Operator;
use crate::pages::Told;
use crate::watch::Watches;
use crate::world::World;
use crate::{Config, Error, say};

pub async fn run(config: Config) -> Result<(), Error> {
    let client = cluster::connect(config.kubeconfig.as_deref()).await?;
    let (mut candidate, leadership) = Candidate::new(client.clone(), &config.namespace, &config.identity);
    let (world, metrics) = (Rc::new(RefCell::new(World::default())), Rc::new(Metrics::new(config.version)));
    if let Some(address) = config.listen {
        let told = Told { world: world.clone(), metrics: metrics.clone(), leadership: leadership.clone() };
        let failed = |e: std::io::Error| Error::Listen { address, why: e.to_string() };
        let bound = http::serve(address, Rc::new(told)).await.map_err(failed)?;
        say::line(format!("metrics and health at http://{bound}"));
    }
    let mut operator = Operator {
        world,
        watches: Watches::new(client.clone(), &config.namespace),
        hand: Hand { client, leadership, metrics },
        identity: config.identity.clone(),
        settings: Settings { release_for: config.release_for },
        cases: BTreeMap::new(),
        orphans: true,
        led: false,
        trouble: BTreeMap::new(),
    };
    say::line(format!("{} runs for the Lease in the namespace {}", config.identity, config.namespace));
    let (mut end, mut interrupt) = (
        signal(SignalKind::terminate()).map_err(Error::Signals)?,
        signal(SignalKind::interrupt()).map_err(Error::Signals)?,
    );
    tokio::select! {
        () = candidate.run() => {}
        () = operator.work() => {}
        _ = end.recv() => {}
        _ = interrupt.recv() => {}
    }
    candidate.resign().await;
    say::line("ended");
    Ok(())
}
