//! Probes: is this host still connected? They run concurrently, each within its own deadline, before and after a change.

mod assess;
mod cluster;
mod dns;
mod failure;
mod gateway;
mod http;
mod icmp;
mod race;
mod resolv_conf;
mod resolve;
mod run;
mod settled;
mod tcp;
mod wait;

pub use assess::{ProbeAssessment, ProbeChange, ProbeComparison, assess};
pub use cluster::{Cluster, ClusterAnswer, ClusterError, ClusterProbe};
pub use gateway::sources;
pub use linesman_core::probe::{
    DEFAULT_TIMEOUT, Family, ParseError, Probe, ProbeResult, ProbeSpec, ProbeStatus, default_probes,
};
pub use run::run_once;
pub use settled::SettledProbes;
pub use wait::wait_until_pass;
