//! `linesman import`: the configuration of a host as a document.

use std::io::Read;
use std::path::{Path, PathBuf};

use linesman_core::codes::commands;
use linesman_core::diagnostic::render;
use linesman_core::diagnostic_record::DiagnosticRecord;
use linesman_engine::observe;
use linesman_tools::import::{self, ImportError, Imported, Input};

use crate::cli::{Format, ImportArgs, ImportFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("cannot read {0}: {1}")]
    Io(String, std::io::Error),
    #[error("{0} is not text (UTF-8)")]
    NotText(String),
    #[error("nothing to import in {0}: it has no *.nmconnection or *.yaml files")]
    Empty(String),
}

pub async fn run(args: ImportArgs, format: Format) -> Exit {
    if args.files.is_empty() {
        if args.from.is_some() {
            let failure = Failure::new(Exit::Usage, "--from requires FILE").code(commands::USAGE);
            return failure.hint("without files, the running state is imported").report();
        }
        return running(format).await;
    }
    let inputs = match args.files.iter().map(|path| read(path, args.from)).collect::<Result<Vec<_>, _>>() {
        Ok(inputs) => inputs.concat(),
        Err(error) => {
            return Failure::new(Exit::Input, error.to_string()).report();
        }
    };
    let kind = args.from.map(|from| match from {
        ImportFormat::Keyfile => import::Format::Keyfile,
        ImportFormat::Netplan => import::Format::Netplan,
    });
    match import::import(kind, &inputs) {
        Ok(imported) => {
            let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
            print(&imported, &names.join(", "), format)
        }
        Err(faults) => refuse(&faults, &inputs),
    }
}

async fn running(format: Format) -> Exit {
    match observe::host().await {
        Ok((state, facts)) => print(&import::running(&state, &facts), "the running host", format),
        Err(error) => Failure::from(&error).report(),
    }
}

fn print(imported: &Imported, from: &str, format: Format) -> Exit {
    for note in &imported.notes {
        output::error(format!("note: {note}"));
    }
    if import::is_empty(&imported.state) {
        return Failure::new(Exit::Failed, "nothing to import").hint("see the notes above").report();
    }
    match format {
        Format::Json => output::document(format, &imported.state),
        Format::Text | Format::Yaml => {
            output::raw(imported.header(from).trim_end());
            output::document(Format::Yaml, &imported.state);
        }
    }
    Exit::Done
}

fn refuse(faults: &[ImportError], inputs: &[Input]) -> Exit {
    for fault in faults {
        let input =
            inputs.get(fault.file).map_or(("", ""), |input| (input.name.as_str(), input.text.as_str()));
        output::error(render(&fault.diagnostic, input, output::colour()));
    }
    let (count, s) = (faults.len(), if faults.len() == 1 { "" } else { "s" });
    let message = format!("{count} error{s}; nothing was imported");
    output::error(&message);
    let record = |fault: &ImportError| {
        let input = inputs.get(fault.file);
        let source = input.map_or(("", ""), |input| (input.name.as_str(), input.text.as_str()));
        DiagnosticRecord::of(&fault.diagnostic, source)
    };
    Failure::of_documents(Exit::Input, message, faults.iter().map(record).collect()).report_to_programs()
}

/// A file, or the matching files of a directory in the order in which netplan reads them.
fn read(path: &Path, from: Option<ImportFormat>) -> Result<Vec<Input>, Unreadable> {
    if !path.is_dir() {
        return Ok(vec![file(path)?]);
    }
    let name = path.display().to_string();
    let entries = std::fs::read_dir(path).map_err(|e| Unreadable::Io(name.clone(), e))?;
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_meant(path, from)).collect();
    paths.sort();
    if paths.is_empty() {
        return Err(Unreadable::Empty(name));
    }
    paths.iter().map(|path| file(path)).collect()
}

fn is_meant(path: &Path, from: Option<ImportFormat>) -> bool {
    let extensions: &[&str] = match from {
        Some(ImportFormat::Keyfile) => &["nmconnection"],
        Some(ImportFormat::Netplan) => &["yaml"],
        None => &["nmconnection", "yaml"],
    };
    path.is_file() && path.extension().is_some_and(|ending| extensions.iter().any(|meant| ending == *meant))
}

fn file(path: &Path) -> Result<Input, Unreadable> {
    let mut bytes = Vec::new();
    let (name, read) = if path.as_os_str() == "-" {
        ("<stdin>".to_owned(), std::io::stdin().lock().read_to_end(&mut bytes))
    } else {
        (
            path.display().to_string(),
            std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
        )
    };
    read.map_err(|e| Unreadable::Io(name.clone(), e))?;
    let text = String::from_utf8(bytes).map_err(|_| Unreadable::NotText(name.clone()))?;
    Ok(Input { name, text })
}
