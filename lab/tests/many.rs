//! Many nodes and many labs at once.

#![allow(clippy::unwrap_used)]

use linesman_lab::Lab;

#[test]
fn twelve_nodes_at_once() {
    let lab = Lab::start("twelve").unwrap();
    let nodes = lab.nodes(12).unwrap();
    std::thread::scope(|scope| {
        for node in &nodes {
            scope.spawn(|| node.configure_static().unwrap());
        }
    });
    for (number, node) in nodes.iter().enumerate() {
        assert_eq!(node.name(), format!("n{}", number + 1));
        assert!(lab.hub().ping(node.mgmt_ipv4()), "{}", node.name());
    }
    nodes[0].run(["ping", "-c", "1", "-W", "5", "n12.lab.test"]).unwrap();
}

#[test]
fn two_labs_do_not_see_each_other() {
    let (one, other) = (Lab::start("one").unwrap(), Lab::start("other").unwrap());
    let node = one.node("n1").start().unwrap();
    node.configure_static().unwrap();
    assert!(one.hub().ping(node.mgmt_ipv4()));
    assert!(!other.hub().ping(node.mgmt_ipv4()));
    let twin = other.node("n1").start().unwrap();
    twin.configure_static().unwrap();
    twin.power_cut().unwrap();
    assert!(one.hub().ping(node.mgmt_ipv4()));
}
