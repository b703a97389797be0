//! `linesman man`: manual pages from the command line itself.

use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::{Cli, ManArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub fn run(args: &ManArgs) -> Exit {
    let written = match &args.dir {
        None => page(Cli::command()).map(|page| output::raw(String::from_utf8_lossy(&page).trim_end())),
        Some(directory) => write_all(directory),
    };
    match written {
        Ok(()) => Exit::Done,
        Err(error) => {
            let place = args.dir.as_ref().map(|dir| format!(" to {}", dir.display())).unwrap_or_default();
            Failure::new(Exit::Failed, format!("cannot write the manual pages{place}: {error}")).report()
        }
    }
}

fn write_all(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let mut command = Cli::command();
    command.build();
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
    for verb in verbs {
        let name = format!("linesman-{}", verb.get_name());
        std::fs::write(directory.join(format!("{name}.1")), page(verb.clone().display_name(name))?)?;
    }
    std::fs::write(directory.join("linesman.1"), page(Cli::command())?)
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
