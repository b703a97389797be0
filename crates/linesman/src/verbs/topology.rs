//! `linesman topology`: how interfaces are stacked.

use std::path::Path;
use std::time::Duration;

use linesman_engine::observe;
use linesman_tools::topology::Topology;
use serde_json::Value;

use crate::cli::{Format, TopologyArgs};
use crate::exit::Exit;
use crate::{output, read};

pub async fn run(args: TopologyArgs, format: Format) -> Exit {
    let state = match &args.file {
        Some(file) => read::unchecked(file).map(|document| document.state),
        None => host().await,
    };
    let whole = match state {
        Ok(state) => Topology::of(&state),
        Err(exit) => return exit,
    };
    let topology = match whole.around(&args.interfaces) {
        Ok(topology) => topology,
        Err(unknown) => {
            output::error(format!("linesman: {unknown}"));
            return Exit::Failed;
        }
    };
    if let Some(file) = &args.svg {
        return write(file, &topology.svg());
    }
    match format {
        Format::Text => output::line(topology.text(output::colour()).trim_end()),
        other => output::data(other, &topology),
    }
    Exit::Done
}

/// How long NetworkManager may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Without NetworkManager the kernel still knows most, and a picture is wanted most when something is broken.
async fn host() -> Result<Value, Exit> {
    if let Ok(Ok(state)) = tokio::time::timeout(PATIENCE, observe::show(|_| {})).await {
        return Ok(state);
    }
    let kernel = observe::kernel(|_| {});
    let state = kernel.await.map_err(|error| {
        output::error(format!("linesman: {error}"));
        Exit::from(&error)
    })?;
    output::error("warning: NetworkManager does not answer; showing what the kernel reports");
    Ok(state)
}

fn write(file: &Path, svg: &str) -> Exit {
    if file.as_os_str() == "-" {
        output::line(svg.trim_end());
        return Exit::Done;
    }
    match std::fs::write(file, svg) {
        Ok(()) => Exit::Done,
        Err(error) => {
            output::error(format!("linesman: cannot write {}: {error}", file.display()));
            Exit::Failed
        }
    }
}
