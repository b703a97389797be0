//! What Linesman writes in a cluster: kinds, conditions, reasons, labels, and their CRDs as code. Pure.
//!
//! `nmstate.io` is wire-compatible with kubernetes-nmstate; what Linesman adds is optional. Linesman's own kinds are in
//! `linesman.dev`.

pub mod admission;
#[cfg(feature = "kube")]
pub mod bounded;
pub mod condition;
pub mod conditions;
pub mod crd;
pub mod enactment;
pub mod finalizers;
pub mod kinds;
pub mod labels;
pub mod limits;
pub mod names;
pub mod nmstate;
pub mod node_state;
#[cfg(feature = "kube")]
pub mod objects;
pub mod open_vswitch;
pub mod options;
pub mod policy;
pub mod reasons;
pub mod selector;
pub mod time;
mod words;
