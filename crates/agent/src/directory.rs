//! "Look again": the directory of policies has changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt;
use inotify::{EventStream, Inotify, WatchMask};

/// Twenty files that are copied one after the other are one change.
const BURST: Duration = Duration::from_millis(60);
/// A directory that is written to all the time is read all the same.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a directory that is not there is looked for.
const AGAIN: Duration = Duration::from_secs(2);

pub struct Directory {
    path: PathBuf,
    watch: Option<EventStream<[u8; 1024]>>,
    /// Something was seen, but it was not quiet yet.
    seen: bool,
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Directory {
    pub fn watch(path: &Path) -> Self {
        Self { path: path.to_owned(), watch: open(path), seen: false }
    }

    /// Returns when something in the directory was written, moved or deleted, and it is quiet again. Nothing is
    /// lost if the wait is given up.
    pub async fn changed(&mut self) {
        while self.watch.is_none() && !self.seen {
            tokio::time::sleep(AGAIN).await;
            self.watch = open(&self.path);
            self.seen = self.watch.is_some();
        }
        if !self.seen {
            self.event().await;
        }
        let patience = tokio::time::Instant::now() + PATIENCE;
        while self.watch.is_some()
            && tokio::time::Instant::now() < patience
            && tokio::time::timeout(BURST, self.event()).await.is_ok()
        {}
        if !self.path.is_dir() {
            self.watch = None;
        }
        self.seen = false;
    }

    async fn event(&mut self) {
        let Some(watch) = &mut self.watch else { return std::future::pending().await };
        if !matches!(watch.next().await, Some(Ok(_))) {
            self.watch = None;
        }
        self.seen = true;
    }
}

/// A file that is being written does not count until it is closed or moved into place.
fn open(path: &Path) -> Option<EventStream<[u8; 1024]>> {
    let mask = WatchMask::CLOSE_WRITE
        | WatchMask::MOVE
        | WatchMask::DELETE
        | WatchMask::DELETE_SELF
        | WatchMask::MOVE_SELF
        | WatchMask::ONLYDIR;
    let inotify = Inotify::init().ok()?;
    inotify.watches().add(path, mask).ok()?;
    inotify.into_event_stream([0; 1024]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_written_and_a_removed_file_are_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut watched = Directory::watch(dir.path());
        let limit = Duration::from_secs(10);
        std::fs::write(dir.path().join("a.yaml"), "x").unwrap();
        tokio::time::timeout(limit, watched.changed()).await.unwrap();
        std::fs::remove_file(dir.path().join("a.yaml")).unwrap();
        tokio::time::timeout(limit, watched.changed()).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(300), watched.changed()).await.is_err());
        // A wait that is given up in the middle of a burst.
        std::fs::write(dir.path().join("b.yaml"), "x").unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(20), watched.changed()).await.is_err());
        tokio::time::timeout(limit, watched.changed()).await.unwrap();
    }

    #[tokio::test]
    async fn a_directory_that_comes_later_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("later");
        let mut watched = Directory::watch(&path);
        std::fs::create_dir(&path).unwrap();
        tokio::time::timeout(Duration::from_secs(20), watched.changed()).await.unwrap();
    }
}
