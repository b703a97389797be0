//! A lab with a few nodes and how long each step takes.

use std::time::Instant;

fn main() -> linesman_lab::Result<()> {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1);
    let start = Instant::now();
    let lab = linesman_lab::Lab::start("tour")?;
    println!("hub after {:?}", start.elapsed());
    let nodes = lab.nodes(count)?;
    println!("{count} node(s) after {:?}", start.elapsed());
    for node in &nodes {
        node.configure_static()?;
        println!("{} reachable after {:?}", node.name(), start.elapsed());
    }
    let exec = Instant::now();
    nodes[0].run(["true"])?;
    println!("one exec {:?}", exec.elapsed());
    eprintln!("{}", nodes[0].sh("ip -br a; nmcli device; ovs-vsctl show; nft list ruleset; ps ax")?);
    Ok(())
}
