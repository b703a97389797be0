//! The test bed: real nodes in namespaces or virtual machines, watched from a hub outside. Never shipped.
//!
//! Three tiers, one interface: in namespaces with a small init (a second), in namespaces with systemd, and virtual machines
//! with a kernel of their own (`vm(true)`).
//!
//! ```no_run
//! # fn main() -> linesman_lab::Result<()> {
//! let lab = linesman_lab::Lab::start("tour")?;
//! let node = lab.node("n1").start()?;
//! node.configure_static()?;
//! assert!(lab.hub().ping(node.mgmt_ipv4()));
//! # Ok(()) }
//! ```

mod address;
mod boot;
pub mod by_hand;
mod cgroup;
pub mod cluster;
pub mod documents;
mod error;
mod exec;
mod faults;
mod files;
mod forwarder;
mod hub;
mod lab;
mod layer;
mod life;
mod lock;
mod namespaces;
mod node;
mod ping;
pub mod places;
pub mod progress;
mod responder;
pub mod run;
mod setup;
mod switch;
mod systemd;
pub mod transcript;
mod tree;
mod vm;
mod watch;

pub use address::{NETWORKS, gateway_v4, gateway_v6};
pub use cluster::Cluster;
pub use error::{Error, Result};
pub use exec::{Exec, Output, Running};
pub use faults::Service;
pub use forwarder::Forwarder;
pub use hub::Hub;
pub use lab::Lab;
pub use namespaces::assert_in_lab;
pub use nix::sys::signal::Signal;
pub use node::{Daemon, Node, NodeBuilder};
pub use setup::{Kubernetes, OpenVSwitch, Root, ignition_validate, setup};
pub use switch::Switch;
pub use vm::setup as setup_vms;
pub use watch::{Record, Sample, Watch};
