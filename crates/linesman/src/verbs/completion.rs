//! `linesman completion`: what a shell wants to know.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionArgs};
use crate::exit::Exit;
use crate::output;

pub fn run(args: &CompletionArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "linesman", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end());
    Exit::Done
}
