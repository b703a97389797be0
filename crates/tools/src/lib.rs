//! What people's tools need: importing profiles, drawing a host's topology. Pure.

pub mod import;
pub mod topology;
