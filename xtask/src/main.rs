//! Development tasks of Linesman.

mod build;
mod corpus;
mod demo;
mod demo_fleet;
mod lab;
mod setup;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Development tasks of Linesman", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Install what the lab needs and build the nodes' root file systems (cached)
    Setup(setup::Arguments),
    /// Change the network of one host; failed changes are rolled back (`make demo`)
    Demo,
    /// Roll out policies to three nodes of a real cluster (`make demo-fleet`)
    DemoFleet,
    /// Run all tests and print the slowest (`make test`)
    Test(test::Arguments),
    /// Run one test binary and note how long each test takes (cargo's runner in `test`)
    #[command(hide = true)]
    Measure(test::measure::Arguments),
    /// Create the fuzzing corpus from the golden cases
    Corpus,
    /// Start, use and stop a lab: real nodes that stay up until you stop them
    Lab {
        #[command(subcommand)]
        verb: lab::Verb,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Demo => demo::run().map(|()| ExitCode::SUCCESS),
        Command::DemoFleet => demo_fleet::run().map(|()| ExitCode::SUCCESS),
        Command::Test(arguments) => test::run(&arguments),
        Command::Measure(arguments) => test::measure::measure(&arguments),
        Command::Corpus => corpus::run().map(|()| ExitCode::SUCCESS),
        Command::Lab { verb } => lab::run(verb),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
