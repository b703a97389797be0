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

use crate::cli::GatherArgs;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0} already exists; specify another file with --file")]
    Exists(String),
    #[error("refusing to write an archive to a terminal; redirect the output or specify a file with --file")]
    Terminal,
    #[error("cannot write {0}: {1}")]
    Write(String, io::Error),
}

pub async fn run(args: GatherArgs, settings: &Settings) -> Exit {
    let name = name();
    let target = args.file.unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
    match collect(&target, &name, settings).await {
        Ok(summary) => {
            output::error(summary);
            Exit::Done
        }
        Err(failure) => {
            output::error(format!("linesman: {failure}"));
            Exit::Failed
        }
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

async fn collect(target: &Path, name: &str, settings: &Settings) -> Result<String, Failure> {
    let shown = target.display().to_string();
    if shown == "-" {
        if io::stdout().is_terminal() {
            return Err(Failure::Terminal);
        }
        let bytes = packed(name, &parts(settings).await).map_err(|e| Failure::Write(shown.clone(), e))?;
        io::stdout().lock().write_all(&bytes).map_err(|e| Failure::Write(shown, e))?;
        return Ok(format!("wrote {} bytes to standard output", bytes.len()));
    }
    // Claimed before anything is collected: finding out afterwards that it cannot be written helps nobody.
    let mut file =
        File::options().write(true).create_new(true).mode(0o600).open(target).map_err(|e| {
            match e.kind() {
                io::ErrorKind::AlreadyExists => Failure::Exists(shown.clone()),
                _ => Failure::Write(shown.clone(), e),
            }
        })?;
    let parts = parts(settings).await;
    let written = packed(name, &parts)
        .and_then(|bytes| file.write_all(&bytes).and_then(|()| file.sync_all()).map(|()| bytes.len()));
    match written {
        Ok(size) => Ok(summary(&shown, size, &parts)),
        Err(e) => {
            std::fs::remove_file(target).ok();
            Err(Failure::Write(shown, e))
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

fn summary(shown: &str, size: usize, parts: &[Part]) -> String {
    let missing = parts.iter().filter(|part| part.content.is_err()).count();
    let kib = size.div_ceil(1024);
    let rest = match missing {
        0 => String::new(),
        1 => "; 1 part could not be collected, see index.txt".to_owned(),
        many => format!("; {many} parts could not be collected, see index.txt"),
    };
    format!("wrote {shown}: {kib} KiB, {} parts, secrets masked{rest}", parts.len() - missing)
}
