//! The golden cases of `cases/topology`; `cases/README.md` says how to add one.

use linesman_core::document::tree;
use linesman_core::interface_kind::InterfaceKind;
use linesman_golden::{Case, Tree};
use linesman_tools::topology::Topology;

const TOPOLOGY: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/topology"),
    outputs: &["topology.txt", "topology.svg"],
    at_least: 7,
};

fn topology(case: &Case) -> Topology {
    Topology::of(&tree(&case.text("state.yaml")).expect("a state is YAML").to_value())
}

#[test]
fn pictures_are_as_drawn() {
    TOPOLOGY.compare(|case| {
        let topology = topology(case);
        [topology.text(false), topology.svg()]
    });
}

#[test]
fn text_fits_a_terminal() {
    for case in TOPOLOGY.cases() {
        let text = topology(&case).text(false);
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{}: wider than 80 columns: {wide:#?}", case.name());
    }
}

/// Every interface is drawn, with every address that is not of the link alone.
#[test]
fn nothing_is_left_out() {
    for case in TOPOLOGY.cases() {
        let topology = topology(&case);
        let (text, svg) = (topology.text(false), topology.svg());
        let drawn =
            topology.interfaces.iter().filter(|interface| interface.kind != InterfaceKind::Loopback.into());
        for interface in drawn {
            assert!(text.contains(&interface.name) && svg.contains(&interface.name), "{}", interface.id);
            for address in interface.addresses.iter().filter(|a| !a.address.starts_with("fe80:")) {
                assert!(text.contains(&address.address) && svg.contains(&address.address), "{address:?}");
            }
        }
    }
}
