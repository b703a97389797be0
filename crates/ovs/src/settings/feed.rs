//! Waits for changes of the documents.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::api::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event};
use kube::{Api, Client};
use linesman_api::labels::OVS_SETTINGS;
use linesman_daemon::renewal::Renewal;
use linesman_daemon::watch::watch_renewed;

use super::document::{LARGEST, Source};
use super::source::Documents;

/// How often a file is looked at: it may be a link into a volume, whose changes are no event.
const LOOK: Duration = Duration::from_secs(2);

type Events<K> = Pin<Box<dyn Stream<Item = Result<Event<K>, watcher::Error>> + Send>>;

/// The documents for this node, and when they change.
#[derive(Debug)]
pub enum Feed {
    File(FileFeed),
    Cluster(Box<ClusterFeed>),
}

impl Feed {
    /// One file, or all files of a directory.
    pub fn file(path: &Path) -> Self {
        Self::File(FileFeed { path: path.to_owned(), known: None, failure: None })
    }

    /// ConfigMaps with the label `linesman.dev/open-vswitch-settings` in this namespace.
    pub fn cluster(client: Client, renewal: Renewal, namespace: &str, node: &str) -> Self {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let nodes: Api<PartialObjectMeta<Node>> = Api::all(client);
        let labelled = Config::default().labels(OVS_SETTINGS);
        let own = Config::default().fields(&format!("metadata.name={node}"));
        Self::Cluster(Box::new(ClusterFeed {
            maps: watch_renewed(maps, labelled, renewal.clone()).default_backoff().boxed(),
            node: watch_renewed(nodes, own, renewal).default_backoff().boxed(),
            listing: BTreeMap::new(),
            found: None,
            labels: None,
        }))
    }

    /// Waits until the documents are known for the first time, or are others. Cancel safe.
    pub async fn changed(&mut self) -> Documents {
        match self {
            Self::File(feed) => feed.changed().await,
            Self::Cluster(feed) => feed.changed().await,
        }
    }
}

#[derive(Debug)]
pub struct FileFeed {
    path: PathBuf,
    known: Option<Documents>,
    /// What was said of it last.
    failure: Option<String>,
}

impl FileFeed {
    async fn changed(&mut self) -> Documents {
        loop {
            match read(&self.path) {
                Ok(now) if self.known.as_ref() != Some(&now) => {
                    self.known = Some(now.clone());
                    self.failure = None;
                    return now;
                }
                Ok(_) => self.failure = None,
                // What a disk does not give now is not taken for removed.
                Err(error) => {
                    let failure = Some(error.to_string());
                    if self.failure != failure {
                        tracing::warn!("cannot read {}: {error}; what was set stays", self.path.display());
                        self.failure = failure;
                    }
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// A file that is not there asks for nothing.
fn read(path: &Path) -> std::io::Result<Documents> {
    let mut sources = Vec::new();
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        files = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        files.sort();
        let is_hidden =
            |file: &PathBuf| file.file_name().is_none_or(|name| name.as_encoded_bytes()[0] == b'.');
        files.retain(|file| file.is_file() && !is_hidden(file));
    }
    for file in files {
        match content_of(&file) {
            Ok(bytes) => sources.push(Source {
                name: file.display().to_string(),
                text: String::from_utf8_lossy(&bytes).into_owned(),
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Documents { sources, refusals: Vec::new() })
}

/// Reading a pipe or a device would never end. One byte more than a document may have tells that it has too many.
fn content_of(file: &Path) -> std::io::Result<Vec<u8>> {
    if !fs::metadata(file)?.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "it is neither a file nor a directory"));
    }
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

type Maps = BTreeMap<String, BTreeMap<String, String>>;

pub struct ClusterFeed {
    maps: Events<ConfigMap>,
    node: Events<PartialObjectMeta<Node>>,
    /// What the list that is under way has brought so far.
    listing: Maps,
    found: Option<Maps>,
    labels: Option<BTreeMap<String, String>>,
}

impl std::fmt::Debug for ClusterFeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterFeed").field("labels", &self.labels).finish_non_exhaustive()
    }
}

impl ClusterFeed {
    async fn changed(&mut self) -> Documents {
        loop {
            let news = tokio::select! {
                Some(event) = self.maps.next() => self.note_map(event),
                Some(event) = self.node.next() => self.note_node(event),
                else => return std::future::pending().await,
            };
            if let (true, Some(maps), Some(labels)) = (news, &self.found, &self.labels) {
                return Documents::of_config_maps(maps, labels);
            }
        }
    }

    /// Whether something may be different.
    fn note_map(&mut self, event: Result<Event<ConfigMap>, watcher::Error>) -> bool {
        match event {
            Ok(Event::Init) => self.listing = Maps::new(),
            Ok(Event::InitApply(map)) => self.listing.extend(content(map)),
            Ok(Event::InitDone) => {
                let listing = std::mem::take(&mut self.listing);
                let news = self.found.as_ref() != Some(&listing);
                self.found = Some(listing);
                return news;
            }
            Ok(Event::Apply(map)) => {
                self.found.get_or_insert_default().extend(content(map));
                return true;
            }
            Ok(Event::Delete(map)) => {
                if let (Some(found), Some((name, _))) = (&mut self.found, content(map)) {
                    found.remove(&name);
                }
                return true;
            }
            Err(error) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "the settings cannot be watched")
            }
        }
        false
    }

    fn note_node(&mut self, event: Result<Event<PartialObjectMeta<Node>>, watcher::Error>) -> bool {
        let Ok(Event::Apply(node) | Event::InitApply(node)) = event else { return false };
        let labels = Some(node.metadata.labels.unwrap_or_default());
        let news = self.labels != labels;
        self.labels = labels;
        news
    }
}

fn content(map: ConfigMap) -> Option<(String, BTreeMap<String, String>)> {
    let (namespace, name) = (map.metadata.namespace?, map.metadata.name?);
    Some((format!("{namespace}/{name}"), map.data.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_not_read() {
        let error = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("neither a file nor a directory"), "{error}");
    }

    #[tokio::test]
    async fn a_directory_gives_its_files_and_a_missing_file_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Feed::file(&folder.path().join("none")).changed().await, Documents::default());
        fs::write(folder.path().join("b.conf"), "b=1").unwrap();
        fs::write(folder.path().join("a.yaml"), "a: 1").unwrap();
        fs::write(folder.path().join(".a.swp"), "x").unwrap();
        let documents = Feed::file(folder.path()).changed().await;
        let texts: Vec<&str> = documents.sources.iter().map(|source| source.text.as_str()).collect();
        assert_eq!(texts, ["a: 1", "b=1"]);
    }
}
