//! `linesman gather`: one archive for support.

mod archive;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use linesman_engine::gather::{self, Part};
use linesman_engine::snapshot::Hostname;
use linesman_engine::transaction::Settings;
use serde::Serialize;

use crate::cli::{Format, GatherArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, thiserror::Error)]
enum GatherError {
    #[error("{0} already exists; specify another file with --file")]
    Exists(String),
    #[error("refusing to write an archive to a terminal; redirect the output or specify a file with --file")]
    Terminal,
    #[error("cannot write {0}: {1}")]
    Write(String, io::Error),
}

/// What was written.
#[derive(Debug, Serialize)]
struct Written {
    file: String,
    bytes: usize,
    parts: usize,
    /// See index.txt in the archive for the reasons.
    missing: Vec<String>,
}

pub async fn run(args: GatherArgs, format: Format, settings: &Settings) -> Exit {
    let name = name();
    let target = args.file.unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
    match collect(&target, &name, settings).await {
        Ok(written) => {
            output::error(summary(&written));
            if format != Format::Text && written.file != "-" {
                output::data(format, &written);
            }
            Exit::Done
        }
        Err(error) => Failure::new(Exit::Failed, error.to_string()).report(),
    }
}

/// `linesman-HOST-TIME`
fn name() -> String {
    let host: String =
        Hostname::read().running.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let stamp = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let stamp: String = stamp.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    format!("linesman-{host}-{stamp}")
}

async fn collect(target: &Path, name: &str, settings: &Settings) -> Result<Written, GatherError> {
    let shown = target.display().to_string();
    if shown == "-" {
        if io::stdout().is_terminal() {
            return Err(GatherError::Terminal);
        }
        let parts = parts(settings).await;
        let bytes = packed(name, &parts).map_err(|e| GatherError::Write(shown.clone(), e))?;
        io::stdout().lock().write_all(&bytes).map_err(|e| GatherError::Write(shown, e))?;
        return Ok(written("-", bytes.len(), &parts));
    }
    // Claimed before anything is collected: finding out afterwards that it cannot be written helps nobody.
    let mut file =
        File::options().write(true).create_new(true).mode(0o600).open(target).map_err(|e| {
            match e.kind() {
                io::ErrorKind::AlreadyExists => GatherError::Exists(shown.clone()),
                _ => GatherError::Write(shown.clone(), e),
            }
        })?;
    let parts = parts(settings).await;
    let packed = packed(name, &parts)
        .and_then(|bytes| file.write_all(&bytes).and_then(|()| file.sync_all()).map(|()| bytes.len()));
    match packed {
        Ok(size) => Ok(written(&shown, size, &parts)),
        Err(e) => {
            std::fs::remove_file(target).ok();
            Err(GatherError::Write(shown, e))
        }
    }
}

async fn parts(settings: &Settings) -> Vec<Part> {
    let version =
        Part { path: "version".into(), content: Ok(format!("linesman {}\n", env!("CARGO_PKG_VERSION"))) };
    std::iter::once(version).chain(gather::parts(settings).await).collect()
}

fn packed(name: &str, parts: &[Part]) -> io::Result<Vec<u8>> {
    archive::pack(name, parts, SystemTime::now())
}

fn written(shown: &str, bytes: usize, parts: &[Part]) -> Written {
    let missing: Vec<String> =
        parts.iter().filter(|part| part.content.is_err()).map(|part| part.path.clone()).collect();
    Written { file: shown.to_owned(), bytes, parts: parts.len() - missing.len(), missing }
}

fn summary(Written { file, bytes, parts, missing }: &Written) -> String {
    if file == "-" {
        return format!("wrote {bytes} bytes to standard output");
    }
    let kib = bytes.div_ceil(1024);
    let rest = match missing.len() {
        0 => String::new(),
        1 => "; 1 part could not be collected, see index.txt".to_owned(),
        many => format!("; {many} parts could not be collected, see index.txt"),
    };
    format!("wrote {file}: {kib} KiB, {parts} parts, secrets masked{rest}")
}
