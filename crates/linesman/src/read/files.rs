//! Which files are meant.

use std::path::{Path, PathBuf};

use super::Unreadable;

/// A directory stands for the documents in it.
pub fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, Unreadable> {
    let mut files = Vec::new();
    for path in given {
        if path.is_dir() {
            files.extend(documents_in(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn documents_in(directory: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let unreadable = |message: String| Unreadable { file: directory.display().to_string(), message };
    let cannot = |error: std::io::Error| unreadable(format!("cannot read {}: {error}", directory.display()));
    let entries = std::fs::read_dir(directory).map_err(cannot)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut documents: Vec<PathBuf> =
        paths.map_err(cannot)?.into_iter().filter(|path| path.is_file() && is_document(path)).collect();
    documents.sort();
    if documents.is_empty() {
        let none = format!("no *.yaml, *.yml or *.json files in {}", directory.display());
        return Err(unreadable(none));
    }
    Ok(documents)
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known))
}
