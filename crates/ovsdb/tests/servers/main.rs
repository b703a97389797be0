//! Against real ovsdb-server processes, of Debian testing and of Debian 12, on this machine's unix sockets and loopback.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_wrap, reason = "these are tests")]

mod bed;
mod certificates;
mod cluster;
mod control;
mod failures;
mod locks;
mod monitor;
mod proxy;
mod tls;
mod transactions;
mod zoo;
