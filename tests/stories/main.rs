//! Whole-system tests on real nodes, one file per story.

#![allow(clippy::unwrap_used, clippy::panic)]

mod agent;
mod apply;
mod bad_input;
mod bookworm;
mod brex;
mod brex_day2;
mod busy_networkmanager;
mod cluster;
mod committed_means_up;
mod coverage;
mod damaged;
mod doctor;
mod documents;
mod examples;
mod faults;
mod first_boot;
mod fleet;
mod foreign;
mod foreign_ports;
mod from_configure_ovs;
mod gather;
mod generated;
mod import;
mod on_node;
mod openflow_ports;
mod ovsdb;
mod persist;
mod probes;
mod protection;
mod rollback;
mod secrets;
mod topology;
mod verbs;
mod verification;
