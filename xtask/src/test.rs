//! `make test`: all tests, and which of them were the slowest.

pub mod measure;

use std::ffi::OsString;
use std::process::ExitCode;

use linesman_lab::progress::step;
use linesman_lab::{Kubernetes, OpenVSwitch, Root};

use crate::build::{Fallible, cargo};

/// Tests at a time for each core: most of them wait for hosts and clusters, not for the processor.
const TESTS_PER_CORE: usize = 3;
const SLOWEST: usize = 10;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Arguments of `cargo test`, such as `--test stories` or `-- NAME`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    cargo: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Fallible<ExitCode> {
    // Before the build: that replaces this very program, and what runs then has no path any more.
    let this = std::env::current_exe()?;
    linesman_lab::setup()?;
    OpenVSwitch::ensure(Root::Bookworm)?;
    Kubernetes::ensure()?;
    linesman_lab::ignition_validate()?;
    step("building all tests (several minutes the first time)");
    if !cargo().args(["test", "--workspace", "--no-run"]).status()?.success() {
        return Err("the tests do not build: see above".into());
    }
    step("running the tests");
    let times = this.with_file_name("test-times");
    std::fs::write(&times, "")?;
    let runner = format!("target.'cfg(unix)'.runner = [{:?}, 'measure']", this.display().to_string());
    let status = cargo()
        .args(["test", "--workspace", "--no-fail-fast", "--config", &runner])
        .args(&arguments.cargo)
        .env("LINESMAN_BINARY", this.with_file_name("linesman"))
        .env("LINESMAN_TEST_TIMES", &times)
        .env("RUST_TEST_THREADS", threads().to_string())
        .status()?;
    print!("{}", measure::slowest(&std::fs::read_to_string(&times)?, SLOWEST));
    step(if status.success() { "all tests passed" } else { "some tests failed: see above" });
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn threads() -> usize {
    TESTS_PER_CORE * std::thread::available_parallelism().map_or(1, usize::from)
}
