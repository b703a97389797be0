use std::error::Error;
use std::process::ExitCode;

use linesman_lab::progress::step;
use linesman_lab::{Kubernetes, OpenVSwitch, Root};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Also the root of Debian 12 (NetworkManager 1.42) and its Open vSwitch, which are otherwise made when first used
    #[arg(long)]
    all: bool,
    /// Also Kubernetes' control plane and Ignition's validator, built from source with Go: for tests and labs with a
    /// cluster
    #[arg(long)]
    cluster: bool,
    /// Also the image of virtual machines, which is otherwise made when first used
    #[arg(long)]
    vm: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    linesman_lab::setup()?;
    if arguments.all {
        Root::Bookworm.ensure()?;
        OpenVSwitch::ensure(Root::Bookworm)?;
    }
    if arguments.cluster {
        Kubernetes::ensure()?;
        linesman_lab::ignition_validate()?;
    }
    if arguments.vm {
        linesman_lab::setup_vms()?;
    }
    step(&format!("the lab is set up in {}", linesman_lab::places::cache().display()));
    Ok(ExitCode::SUCCESS)
}
