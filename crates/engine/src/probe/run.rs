use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use linesman_core::probe::{Probe, ProbeResult, ProbeSpec, ProbeStatus, Short};

use super::{
    cluster::{self, Cluster, Question},
    dns,
    failure::ProbeFailure,
    gateway, http, icmp,
    resolv_conf::scope_id,
    tcp,
};

/// What a check finds: that it is well, with a remark if something is odd; or the trouble.
pub(super) type Finding = Result<Option<String>, Trouble>;

#[derive(Debug)]
pub(super) enum Trouble {
    Failed(ProbeFailure),
    NotApplicable(String),
}

impl<E: Into<ProbeFailure>> From<E> for Trouble {
    fn from(failure: E) -> Self {
        Trouble::Failed(failure.into())
    }
}

/// The checks keep their deadline by themselves, and can then say what was missing; this is for one that does not.
pub(super) const SLACK: Duration = Duration::from_millis(100);

/// Tries each probe once, all at the same time. Takes no longer than the longest timeout.
pub async fn run_once(probes: &[Probe], cluster: &Cluster) -> Vec<ProbeResult> {
    let started = Instant::now();
    let one = async |probe: Probe| {
        let status = attempt(&probe, cluster, started + probe.timeout).await;
        ProbeResult { probe, status, after: started.elapsed() }
    };
    join_all(probes.iter().flat_map(Probe::expand).map(one)).await
}

pub(super) async fn attempt(probe: &Probe, cluster: &Cluster, deadline: Instant) -> ProbeStatus {
    let started = Instant::now();
    match timeout_at(deadline + SLACK, check(probe, cluster, deadline)).await {
        Ok(Ok(note)) => ProbeStatus::Passed { took: started.elapsed(), note },
        Ok(Err(Trouble::Failed(failure))) => ProbeStatus::failed(failure.to_string()),
        Ok(Err(Trouble::NotApplicable(why))) => ProbeStatus::NotApplicable { why },
        Err(_) => ProbeStatus::failed(format!("no answer within {}", Short(probe.timeout))),
    }
}

async fn check(probe: &Probe, cluster: &Cluster, deadline: Instant) -> Finding {
    match &probe.spec {
        ProbeSpec::Gateway { family: Some(family) } => {
            gateway::check(*family, &probe.not_from, deadline).await
        }
        ProbeSpec::Gateway { family: None } => Err(ProbeFailure::NoFamily.into()),
        ProbeSpec::Dns { name, servers } => dns::check(name.as_deref(), servers.as_deref(), deadline).await,
        ProbeSpec::Tcp { host, port } => tcp::check(host, *port, deadline).await,
        ProbeSpec::Http { url, insecure } => http::check(url, *insecure, deadline).await,
        ProbeSpec::ApiServer => cluster::check(cluster, Question::ApiServer, deadline).await,
        ProbeSpec::NodeReady => cluster::check(cluster, Question::NodeReady, deadline).await,
        ProbeSpec::Ping { addr, interface } => ping(*addr, interface.as_deref(), deadline).await,
    }
}

async fn ping(addr: std::net::IpAddr, interface: Option<&str>, deadline: Instant) -> Finding {
    let target = match addr {
        std::net::IpAddr::V6(ip) => {
            std::net::SocketAddrV6::new(ip, 0, 0, interface.map_or(0, scope_id)).into()
        }
        ip => std::net::SocketAddr::new(ip, 0),
    };
    icmp::echo(target, None, interface, deadline).await?;
    Ok(None)
}
