//! The transaction on one host: NetworkManager, nmstate, Open vSwitch, journal, probes.

mod adopt;
pub mod atomic_file;
mod bond_options;
mod dead_man_switch;
mod descriptors;
pub mod desired;
pub mod doctor;
mod error;
mod failpoint;
pub mod gather;
mod ifcfg;
pub mod journal;
mod keyfile;
pub mod lock;
pub mod netlink;
pub mod nm;
pub mod observe;
mod others;
pub mod ovs;
mod primary_port;
pub mod probe;
mod promiscuous;
pub mod recover;
mod restore;
mod side_files;
pub mod snapshot;
mod supplicant;
pub mod transaction;
pub mod uplink_choice;
mod uppers;
mod verify;
mod watch;
pub mod worker;

pub use error::{Category, Error, Result};
