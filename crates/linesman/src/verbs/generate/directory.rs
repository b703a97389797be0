//! Writes into directories: first everything is decided, then every file is written beside its place, then all are
//! moved to it.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use linesman_core::codes::commands::NOT_OURS;
use linesman_day1::generate::GeneratedFile;
use linesman_day1::output_directory::{ForeignFile, RECORD, Record, Writes};

use super::Prepared;
use super::report::{Report, Section};
use crate::exit::Exit;
use crate::failure::Failure;

pub fn write(prepared: Vec<Prepared>) -> Result<Report, Failure> {
    let mut decided = Vec::new();
    for Prepared { directory, generated } in prepared {
        let writes = match &directory {
            Some(directory) => decide(directory, &generated.files)?,
            None => Writes::default(),
        };
        decided.push((directory, generated, writes));
    }
    let mut sections = Vec::new();
    for (directory, generated, writes) in decided {
        let mut would_write = Vec::new();
        match &directory {
            Some(directory) => {
                replace(directory, &generated.files, &writes).map_err(|error| failed(directory, &error))?;
            }
            None => would_write.extend(generated.files.into_iter().map(|file| file.name)),
        }
        sections.push(Section { directory, would_write, notes: generated.notes, files: writes });
    }
    Ok(Report { sections })
}

fn decide(directory: &Path, files: &[GeneratedFile]) -> Result<Writes, Failure> {
    let record = record(directory)?;
    let mut present = BTreeMap::new();
    for name in record.concerned(files) {
        match fs::read(directory.join(name)) {
            Ok(bytes) => drop(present.insert(name.to_owned(), bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A symbolic link to what is not there is somebody's, too.
                if fs::symlink_metadata(directory.join(name)).is_ok() {
                    present.insert(name.to_owned(), Vec::new());
                }
            }
            Err(error) => return Err(failed(&directory.join(name), &error)),
        }
    }
    record.decide(&present, files).map_err(|foreign| refuse(directory, &foreign))
}

/// A record that cannot be read is not ours: then every file that exists is somebody else's.
fn record(directory: &Path) -> Result<Record, Failure> {
    let path = directory.join(RECORD);
    match fs::read(&path) {
        Ok(bytes) => Ok(serde_json::from_slice::<Record>(&bytes).unwrap_or_default().of_this_directory()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Record::default()),
        Err(error) => Err(failed(&path, &error)),
    }
}

fn refuse(directory: &Path, foreign: &[ForeignFile]) -> Failure {
    let shown = |file: &ForeignFile| match file {
        ForeignFile::NotGenerated(name) => {
            ForeignFile::NotGenerated(directory.join(name).display().to_string())
        }
        ForeignFile::Edited(name) => ForeignFile::Edited(directory.join(name).display().to_string()),
    };
    let all: Vec<String> = foreign.iter().map(|file| shown(file).to_string()).collect();
    let hint = "use another directory, or move the file away; nothing was written";
    Failure::new(Exit::Failed, all.join("; ")).code(NOT_OURS).hint(hint)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("cannot write to {}: {error}", path.display()))
}

fn replace(directory: &Path, files: &[GeneratedFile], writes: &Writes) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let record = serde_json::to_string_pretty(&Record::of(files))? + "\n";
    let record = GeneratedFile { name: RECORD.to_owned(), text: record, is_secret: false };
    let new = files.iter().filter(|file| writes.written.contains(&file.name));
    // The record last, so that what it lists is there.
    let new: Vec<&GeneratedFile> = new.chain([&record]).collect();
    let written = new.iter().try_for_each(|file| write_beside(directory, file));
    if written.is_err() {
        new.iter().for_each(|file| drop(fs::remove_file(beside(directory, &file.name))));
        return written;
    }
    for name in &writes.removed {
        fs::remove_file(directory.join(name))?;
    }
    new.iter().try_for_each(|file| fs::rename(beside(directory, &file.name), directory.join(&file.name)))?;
    // Also where the content is unchanged.
    let secret = files.iter().filter(|file| file.is_secret);
    secret.map(|file| directory.join(&file.name)).try_for_each(|path| {
        let mode = fs::metadata(&path)?.permissions().mode();
        match mode & 0o077 {
            0 => Ok(()),
            _ => fs::set_permissions(&path, Permissions::from_mode(0o600)),
        }
    })
}

/// Where a file is written before it is moved to its place.
fn beside(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!(".{name}.new"))
}

fn write_beside(directory: &Path, generated: &GeneratedFile) -> io::Result<()> {
    let path = beside(directory, &generated.name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mode = if generated.is_secret { 0o600 } else { 0o644 };
    let mut file = File::options().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(generated.text.as_bytes())?;
    file.sync_all()
}
