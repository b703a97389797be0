//! The network of hosts before they exist: what a deployer declares, checked, as files that reach the hosts. Pure.
//!
//! `load` reads and checks, `generate` writes out what was found right; `select` is how a host finds its document.
//! `brex` is for a host that exists: it derives the document from what runs there.

mod agent_config;
pub mod brex;
mod check;
pub mod cluster;
mod configuration;
mod cursor;
pub mod fault;
pub mod first_boot;
pub mod generate;
mod host;
mod host_file;
pub mod host_name;
pub mod index;
pub mod input;
mod install_config;
mod load;
pub mod output_directory;
mod place;
mod platform;
pub mod select;

pub use host::is_role;
pub use load::load;
