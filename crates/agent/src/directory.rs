//! "Look again": the directory of policies has changed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt;
use inotify::{Event, EventMask, EventStream, Inotify, WatchMask};
use tokio::time::Instant;

use crate::sources;

/// Twenty files that are copied one after the other are one change.
const BURST: Duration = Duration::from_millis(60);
/// A directory that is written to all the time is read all the same.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a directory that is not there is looked for.
const AGAIN: Duration = Duration::from_secs(2);
/// How often it is looked where links lead: what changes there is no event in the directory.
const LINKS: Duration = Duration::from_secs(5);

pub struct Directory {
    path: PathBuf,
    watch: Option<EventStream<[u8; 1024]>>,
    /// Something was seen, but it was not quiet yet.
    seen: bool,
    /// What the links led to when it was looked last.
    links: Vec<Link>,
    next_look: Instant,
}

/// A name by which something is reached that may change under other names, too; and what is there.
type Link = (PathBuf, Option<Target>);

#[derive(Debug, PartialEq, Eq)]
struct Target {
    inode: (u64, u64),
    /// None for a directory: what happens in it is an event.
    changed: Option<(i64, i64, u64)>,
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Directory {
    pub fn watch(path: &Path) -> Self {
        let next_look = Instant::now() + LINKS;
        Self { path: path.to_owned(), watch: open(path), seen: false, links: links(path), next_look }
    }

    /// Returns when something in the directory was written, moved or deleted, and it is quiet again. Nothing is
    /// lost if the wait is given up.
    pub async fn changed(&mut self) {
        while self.watch.is_none() && !self.seen {
            tokio::time::sleep(AGAIN).await;
            self.watch = open(&self.path);
            self.seen = self.watch.is_some();
        }
        while !self.seen {
            let next_look = self.next_look;
            tokio::select! {
                () = self.event() => {}
                () = tokio::time::sleep_until(next_look) => self.look_at_links(),
            }
        }
        let patience = Instant::now() + PATIENCE;
        while self.watch.is_some()
            && Instant::now() < patience
            && tokio::time::timeout(BURST, self.event()).await.is_ok()
        {}
        let links = links(&self.path);
        if !self.path.is_dir() {
            self.watch = None;
        } else if self.watch.is_none() || links.first() != self.links.first() {
            // Something was mounted there, unmounted, or moved into its place.
            self.watch = open(&self.path);
        }
        self.links = links;
        self.seen = false;
    }

    fn look_at_links(&mut self) {
        self.next_look = Instant::now() + LINKS;
        let links = links(&self.path);
        if links == self.links {
            return;
        }
        if links.first() != self.links.first() {
            // The path leads to another directory now.
            self.watch = open(&self.path);
        }
        self.seen = true;
    }

    async fn event(&mut self) {
        let Some(watch) = &mut self.watch else { return std::future::pending().await };
        // The last event of a watch whose directory was deleted or unmounted.
        let lives = |event: &Event<OsString>| !event.mask.contains(EventMask::IGNORED);
        if !watch.next().await.is_some_and(|event| event.is_ok_and(|event| lives(&event))) {
            self.watch = None;
        }
        self.seen = true;
    }
}

/// The directory itself, and the policies in it that are symbolic links or have other names.
fn links(path: &Path) -> Vec<Link> {
    let directory = fs::metadata(path).ok().map(|found| Target { inode: inode(&found), changed: None });
    let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<Link> =
        entries.filter(|file| sources::has_policy_name(file)).filter_map(link).collect();
    files.sort_by(|one, other| one.0.cmp(&other.0));
    std::iter::once((path.to_owned(), directory)).chain(files).collect()
}

fn link(file: PathBuf) -> Option<Link> {
    let own = fs::symlink_metadata(&file).ok()?;
    if !own.is_symlink() && own.nlink() < 2 {
        return None;
    }
    let target = fs::metadata(&file).ok().map(|found| Target {
        inode: inode(&found),
        changed: Some((found.mtime(), found.mtime_nsec(), found.size())),
    });
    Some((file, target))
}

fn inode(found: &fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
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
    async fn what_links_lead_to_is_noticed() {
        use std::os::unix::fs::symlink;
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = |name: &str| elsewhere.path().join(name);
        for name in ["a.yaml", "b.yaml", "c.yaml"] {
            std::fs::write(target(name), "old").unwrap();
        }
        let policies = dir.path().join("policies");
        std::fs::create_dir(&policies).unwrap();
        symlink(target("a.yaml"), policies.join("a.yaml")).unwrap();
        std::fs::hard_link(target("b.yaml"), policies.join("b.yaml")).unwrap();
        let path = dir.path().join("current");
        symlink(&policies, &path).unwrap();
        let mut watched = Directory::watch(&path);
        let limit = Duration::from_secs(30);
        for name in ["a.yaml", "b.yaml"] {
            std::fs::write(target(name), "newer").unwrap();
            tokio::time::timeout(limit, watched.changed()).await.unwrap();
        }
        let others = dir.path().join("others");
        std::fs::create_dir(&others).unwrap();
        std::fs::remove_file(&path).unwrap();
        symlink(&others, &path).unwrap();
        tokio::time::timeout(limit, watched.changed()).await.unwrap();
        std::fs::write(others.join("d.yaml"), "new").unwrap();
        tokio::time::timeout(limit, watched.changed()).await.unwrap();
    }

    #[tokio::test]
    async fn a_directory_in_the_place_of_another_is_watched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policies");
        std::fs::create_dir(&path).unwrap();
        let mut watched = Directory::watch(&path);
        let limit = Duration::from_secs(20);
        std::fs::remove_dir(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        tokio::time::timeout(limit, watched.changed()).await.unwrap();
        std::fs::write(path.join("a.yaml"), "x").unwrap();
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
