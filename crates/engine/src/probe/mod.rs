//! Probes: is this host still connected? They run concurrently, each within its own deadline, before and after a change.

mod cluster;
mod dns;
mod gateway;
mod http;
mod icmp;
mod judge;
mod race;
mod report;
mod resolv_conf;
mod resolve;
mod run;
mod tcp;
mod wait;

pub use cluster::{Cluster, ClusterSight, Sight};
pub use judge::{Judgement, Standing, Verdict, judge};
pub use linesman_core::probe::{DEFAULT_TIMEOUT, Family, ParseError, Probe, ProbeSpec, default_probes};
pub use report::{Outcome, Report};
pub use run::run_once;
pub use wait::wait_until_pass;
