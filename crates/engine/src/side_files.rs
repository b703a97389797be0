//! Files that nmstate writes beside NetworkManager's profiles: dispatcher scripts, and link files with alternative
//! names. No checkpoint covers them, and a script that stays is run at the next activation.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic_file;

/// Folders, and how the names of nmstate's own files in them begin.
const PLACES: [(&str, &str); 2] =
    [("/etc/NetworkManager/dispatcher.d", "nmstate-"), ("/etc/systemd/network", "98-nmstate-")];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideFile {
    pub path: PathBuf,
    pub mode: u32,
    pub content: String,
}

pub fn read_all() -> io::Result<Vec<SideFile>> {
    read(&PLACES.map(|(folder, start)| (PathBuf::from(folder), start)))
}

fn read(places: &[(PathBuf, &str)]) -> io::Result<Vec<SideFile>> {
    let mut files = Vec::new();
    for (folder, start) in places {
        let entries = match fs::read_dir(folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        for entry in entries {
            let path = entry?.path();
            let ours = path.file_name().and_then(|n| n.to_str()).is_some_and(|name| name.starts_with(start));
            if !ours || !path.is_file() {
                continue;
            }
            let content = fs::read_to_string(&path)
                .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
            let mode = fs::metadata(&path)?.permissions().mode() & 0o777;
            files.push(SideFile { path, mode, content });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Writes the former files, and removes those that the change made.
pub fn restore(before: &[SideFile]) -> io::Result<()> {
    put_back(before, &read_all()?)
}

fn put_back(before: &[SideFile], now: &[SideFile]) -> io::Result<()> {
    for file in now.iter().filter(|file| !before.iter().any(|b| b.path == file.path)) {
        match fs::remove_file(&file.path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    for file in before.iter().filter(|file| !now.contains(file)) {
        if let Some(folder) = file.path.parent() {
            fs::create_dir_all(folder)?;
        }
        atomic_file::write(&file.path, file.content.as_bytes(), file.mode)?;
        // What atomic_file asks for is subject to the umask.
        fs::set_permissions(Path::new(&file.path), fs::Permissions::from_mode(file.mode))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_and_removed_files_return_and_new_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let place = [(folder.path().to_owned(), "nmstate-")];
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str, mode| {
            fs::write(path(name), text).unwrap();
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        write("nmstate-eth0-up.sh", "old", 0o744);
        write("nmstate-eth1-up.sh", "gone", 0o755);
        write("50-theirs", "theirs", 0o755);
        let before = read(&place).unwrap();
        assert_eq!(before.len(), 2);
        write("nmstate-eth0-up.sh", "new", 0o700);
        fs::remove_file(path("nmstate-eth1-up.sh")).unwrap();
        write("nmstate-eth2-down.sh", "made", 0o744);
        write("50-theirs", "theirs since", 0o755);
        put_back(&before, &read(&place).unwrap()).unwrap();
        assert_eq!(read(&place).unwrap(), before);
        assert_eq!(fs::read_to_string(path("50-theirs")).unwrap(), "theirs since");
    }
}
