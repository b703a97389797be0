//! `linesman topology`: how interfaces are stacked.

use std::path::Path;
use std::time::Duration;

use linesman_engine::observe;
use linesman_tools::topology::Topology;
use serde_json::Value;

use crate::cli::{Format, TopologyArgs};
use crate::exit::Exit;
use crate::failure::{Failure, is_denied, is_root};
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
            return Failure::new(Exit::Failed, unknown.to_string()).report();
        }
    };
    if let Some(file) = &args.svg {
        return write(file, &topology.svg());
    }
    match format {
        Format::Text => output::raw(topology.text(output::colour()).trim_end()),
        other => output::data(other, &topology),
    }
    Exit::Done
}

/// How long NetworkManager may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Without NetworkManager the kernel still knows most, and a picture is wanted most when something is broken.
async fn host() -> Result<Value, Exit> {
    let unseen = match tokio::time::timeout(PATIENCE, observe::show(|_| {})).await {
        Ok(Ok(state)) => {
            super::note_what_root_would_see();
            return Ok(state);
        }
        Ok(Err(error)) if !is_root() && is_denied(&error) => "NetworkManager is not shown without root",
        _ => "NetworkManager does not answer",
    };
    let state = observe::kernel(|_| {}).await.map_err(|error| Failure::from(&error).report())?;
    output::error(format!("warning: {unseen}; showing what the kernel reports"));
    Ok(state)
}

fn write(file: &Path, svg: &str) -> Exit {
    if file.as_os_str() == "-" {
        output::raw(svg.trim_end());
        return Exit::Done;
    }
    match std::fs::write(file, svg) {
        Ok(()) => Exit::Done,
        Err(error) => {
            Failure::new(Exit::Failed, format!("cannot write {}: {error}", file.display())).report()
        }
    }
}
