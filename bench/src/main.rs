//! The benchmarks: ratios taken in one run, against nmstate itself on real nodes of the lab; the database client against
//! `ovsdb-client`.
//!
//! Run by `make bench`. Inside a node the same binary stands in for the incumbent (`incumbent …`).

mod agent;
mod cut_off;
mod fleet;
mod incumbent;
mod machine;
mod quick;
mod replica;
mod report;
mod states;
mod throughput;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use linesman_lab::{Lab, Node, NodeBuilder};

use report::BenchReport;

type Group = fn(&mut BenchReport) -> Fallible<()>;
type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("incumbent") => incumbent::main(&arguments[1..]),
        Some("replicate") => replica::main(&arguments[1..]),
        only => benchmarks(only),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("bench: {e}");
            ExitCode::FAILURE
        }
    }
}

/// `only`: just the groups whose name contains it.
fn benchmarks(only: Option<&str>) -> Fallible<()> {
    linesman_lab::setup()?;
    let mut report = BenchReport::default();
    let groups: [(&str, Group); 10] = [
        ("apply", throughput::run),
        ("no-op", quick::run),
        ("machine", machine::run),
        ("cut-off", cut_off::run),
        ("killed", cut_off::killed),
        ("agent", agent::run),
        ("fleet", fleet::run),
        ("many", fleet::many),
        ("idle", fleet::idle),
        ("database", replica::run),
    ];
    for (name, group) in groups.into_iter().filter(|(name, _)| only.is_none_or(|o| name.contains(o))) {
        eprintln!("bench: {name} …");
        group(&mut report)?;
    }
    report.print();
    report.write(Path::new("target/bench/results.json"))?;
    Ok(())
}

/// A node with both: linesman from beside this binary, and this binary as the incumbent.
fn bed(name: &str) -> Fallible<(Lab, Node)> {
    let lab = Lab::start(name)?;
    let node = furnished(lab.node("n1"))?;
    Ok((lab, node))
}

fn furnished(node: NodeBuilder) -> Fallible<Node> {
    let me = std::env::current_exe()?;
    let node = node.nics(3).binary(sibling(&me, "linesman")).start()?;
    node.write_file("/usr/bin/linesman-bench", std::fs::read(&me)?, 0o755)?;
    node.configure_static()?;
    Ok(node)
}

fn sibling(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(name)
}
