//! The documents that were installed with a host, and which of them is whose.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use linesman_core::policy::Policy;
use linesman_day1::first_boot::Hash;
use linesman_day1::index::{FILE, Index, is_host_file};

use crate::sources;

/// The document of this host, read and checked.
#[derive(Debug)]
pub struct Document {
    pub file: String,
    pub bytes: Vec<u8>,
    pub hash: Hash,
    pub policy: Policy,
}

impl Document {
    /// What is wrong is said with its place.
    pub fn read(directory: &Path, file: &str) -> Result<Self, String> {
        let path = directory.join(file);
        let bytes = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let mut read = sources::read_bytes(&path, bytes.clone());
        let policy = match (read.pop(), read.is_empty()) {
            (Some(policy), true) => policy.map_err(|wrong| wrong.why)?,
            _ => return Err(format!("{} contains several documents; keep one", path.display())),
        };
        Ok(Self { file: file.to_owned(), hash: Hash::of(&bytes), bytes, policy })
    }
}

/// Why nothing is known about the documents.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("cannot read {path}: {source}")]
    Directory { path: String, source: std::io::Error },
    #[error("{path} is damaged: {source}")]
    Index { path: String, source: serde_json::Error },
    #[error("{path} is not a file")]
    NotAFile { path: String },
}

/// A version of a file: some replace a file, others write into it.
#[derive(Debug, PartialEq, Eq)]
pub struct Version {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

/// Differs if a file was added, removed or replaced; the flag, which we write ourselves, does not count.
pub fn fingerprint(directory: &Path) -> BTreeMap<String, Option<Version>> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let version = |entry: &fs::DirEntry| {
        let found = fs::metadata(entry.path()).ok()?;
        let modified = (found.mtime(), found.mtime_nsec());
        Some(Version { inode: found.ino(), length: found.len(), modified })
    };
    let files = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, version(&entry))));
    files.filter(|(name, _)| is_document(name)).collect()
}

fn is_document(name: &str) -> bool {
    !name.starts_with('.') && name != super::record_file::FLAG
}

/// What is in the directory. A file without content is none: MachineConfigs empty files that they cannot remove. One that
/// cannot be read, or leads nowhere at the moment, is not gone.
pub fn index(directory: &Path) -> Result<Index, Unreadable> {
    let called = |path: &Path| path.display().to_string();
    let failed = |source| Unreadable::Directory { path: called(directory), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Index::default()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with('.') || !is_host_file(name) {
            continue;
        }
        let failed = |source| Unreadable::Directory { path: called(&path), source };
        match fs::metadata(&path) {
            Ok(found) if !found.is_file() => return Err(Unreadable::NotAFile { path: called(&path) }),
            Ok(found) if found.len() == 0 => {}
            Ok(_) => files.push(name.to_owned()),
            // Removed since the directory was listed; a symbolic link that leads nowhere is still there.
            Err(_) if fs::symlink_metadata(&path).is_err() => {}
            Err(error) => return Err(failed(error)),
        }
    }
    files.sort();
    let path = directory.join(FILE);
    let index = match fs::read(&path) {
        Ok(bytes) if bytes.is_empty() => Index::default(),
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|source| Unreadable::Index { path: called(&path), source })?,
        Err(error) if error.kind() == ErrorKind::NotFound => Index::default(),
        Err(source) => return Err(Unreadable::Directory { path: called(&path), source }),
    };
    Ok(index.with_files(&files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_empty_or_hidden_are_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(index(&dir.path().join("none")).unwrap(), Index::default());
        for (name, text) in
            [("a.yml", "interfaces: []\n"), ("b.yml", ""), (".c.yml.tmp", "x"), ("d.txt", "x")]
        {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let files: Vec<String> = index(dir.path()).unwrap().hosts.into_iter().map(|host| host.file).collect();
        assert_eq!(files, ["a.yml"]);
        let link = dir.path().join("e.yml");
        std::os::unix::fs::symlink("/nowhere/e.yml", &link).unwrap();
        assert!(index(dir.path()).unwrap_err().to_string().contains("e.yml"), "it may be mounted later");
        fs::remove_file(&link).unwrap();
        fs::create_dir(&link).unwrap();
        assert!(index(dir.path()).unwrap_err().to_string().ends_with("e.yml is not a file"));
        fs::remove_dir(&link).unwrap();
        fs::write(dir.path().join(FILE), "").unwrap();
        assert_eq!(index(dir.path()).unwrap().hosts.len(), 1, "emptied like a document");
        fs::write(dir.path().join(FILE), "{").unwrap();
        let error = index(dir.path()).unwrap_err().to_string();
        assert!(error.contains("hosts.json is damaged"), "{error}");
    }

    #[test]
    fn a_document_has_the_hash_of_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let text = "interfaces: [{name: br1, type: linux-bridge}]\n";
        fs::write(dir.path().join("a.yml"), text).unwrap();
        let document = Document::read(dir.path(), "a.yml").unwrap();
        assert_eq!(document.hash, Hash::of(text.as_bytes()));
        assert_eq!(document.policy.state["interfaces"][0]["name"], "br1");
        for (text, expected) in [
            ("interfaces: [", "a.yml:1"),
            ("interfaces: [{name: br1, type: brige}]\n", "error[LM"),
            ("interfaces: []\n---\ninterfaces: []\n", "several documents"),
        ] {
            fs::write(dir.path().join("a.yml"), text).unwrap();
            let error = Document::read(dir.path(), "a.yml").unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
