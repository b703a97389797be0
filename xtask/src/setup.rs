use std::error::Error;
use std::process::ExitCode;

use linesman_lab::Root;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Also the root of Debian 12 (NetworkManager 1.42), which is otherwise made when first used
    #[arg(long)]
    all: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    linesman_lab::setup()?;
    if arguments.all {
        Root::Bookworm.ensure()?;
    }
    println!("The lab is set up in {}.", linesman_lab::places::cache().display());
    Ok(ExitCode::SUCCESS)
}
