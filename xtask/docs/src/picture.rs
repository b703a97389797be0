//! The picture in the README: a host with a bond, VLANs, bridges and virtual machines.

use linesman_core::document::Document;
use linesman_tools::topology::Topology;

use super::{Fallible, tree};

const STATE: &str = "crates/tools/cases/topology/virtual-machines/state.yaml";

pub fn picture() -> Fallible<String> {
    let text = std::fs::read_to_string(tree().join(STATE))?;
    let document = Document::parse(STATE, &text).map_err(|faults| format!("{STATE}: {faults:?}"))?;
    Ok(Topology::of(&document.state).svg())
}
