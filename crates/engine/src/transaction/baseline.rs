//! What probes say before a change: only what passes then can protect from it.

use std::time::Duration;

use super::{Request, Settings, wanted_probes};
use crate::failpoint;
use crate::nm::Nm;
use crate::probe::{self, Probe, ProbeResult, ProbeSpec, SettledProbes};
use crate::watch::Watch;

/// How long a probe that passed when the host was settled may take to pass again before the change, beside the first
/// attempt.
const SETTLING: Duration = Duration::from_secs(8);

/// Waits for the probes that passed when the host was settled and do not pass now; None if there are none.
pub async fn await_settled(
    before: &[ProbeResult],
    settled: &[ProbeSpec],
    settings: &Settings,
    nm: &Nm,
) -> Option<Vec<ProbeResult>> {
    let is_late = |result: &&ProbeResult| !result.status.passed() && settled.contains(&result.probe.spec);
    let late: Vec<Probe> = before.iter().filter(is_late).map(|result| result.probe.clone()).collect();
    if late.is_empty() {
        return None;
    }
    failpoint::reach("settling").await;
    let watch = Watch::start(Some(nm)).await;
    let wake = async || watch.next().await;
    let now = probe::wait_until_pass(&late, &[], &settings.cluster, SETTLING, wake).await;
    let newest =
        |old: &ProbeResult| now.iter().find(|new| new.probe.spec == old.probe.spec).unwrap_or(old).clone();
    Some(before.iter().map(newest).collect())
}

/// What would not be protected if the request were applied now. Probes of the cluster are left out where nobody can ask.
pub async fn not_protected(request: &Request, settings: &Settings) -> Vec<String> {
    let mut request = request.clone();
    if let (Some(probes), None) = (&mut request.probes, &settings.cluster) {
        probes.retain(|probe| !probe.needs_cluster());
    }
    let Ok(probes) = wanted_probes(&request, settings) else { return Vec::new() };
    let before = probe::run_once(&probes, &settings.cluster).await;
    linesman_core::probe::not_protected(&before, &[], &SettledProbes::of(&settings.state_dir).read())
}

/// Tries the probes that every host has, and remembers what passes.
pub async fn remember_settled(settings: Settings) {
    let probes: Vec<Probe> = probe::default_probes(false)
        .into_iter()
        .map(|probe| probe.asking(settings.dns_name.as_deref()))
        .collect();
    let results = probe::run_once(&probes, &None).await;
    SettledProbes::of(&settings.state_dir).remember(&results);
}
