//! The chores of the tree.

mod corpus;
mod demo;
mod demo_fleet;
mod lab;
mod setup;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The chores of the tree", version)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Install what the lab needs and make the nodes' root file systems (cached)
    Setup(setup::Arguments),
    /// The main job on a fresh machine, watched from outside (`make demo`)
    Demo,
    /// Three nodes of a real cluster: a rollout, one that is stopped, and back (`make demo-fleet`)
    DemoFleet,
    /// Make the fuzzers' corpus from the golden cases
    Corpus,
    /// A lab by hand: real nodes that stay up until you end them
    Lab {
        #[command(subcommand)]
        verb: lab::Verb,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Setup(arguments) => setup::run(&arguments),
        Chore::Demo => demo::run().map(|()| ExitCode::SUCCESS),
        Chore::DemoFleet => demo_fleet::run().map(|()| ExitCode::SUCCESS),
        Chore::Corpus => corpus::run().map(|()| ExitCode::SUCCESS),
        Chore::Lab { verb } => lab::run(verb),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
