//! Which file of a directory is whose: written beside the documents, since a document does not say which host it is for.

use std::collections::BTreeMap;

use linesman_core::mac_address::MacAddress;
use serde::{Deserialize, Serialize};

use crate::host_file::CLUSTER_WIDE;

/// The name of the file that holds the index.
pub const FILE: &str = "hosts.json";

const ENDINGS: [&str; 2] = [".yml", ".yaml"];

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// The file of the one host that these files were made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<String>,
    #[serde(default)]
    pub hosts: Vec<IndexedHost>,
    /// The file for hosts without one of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_wide: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedHost {
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub macs: Vec<MacAddress>,
    /// What its document calls NICs whose MAC addresses are known: the host may call them differently.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nics: BTreeMap<String, MacAddress>,
}

/// Whether a file may be the document of a host, by its name.
pub fn is_host_file(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

impl Index {
    /// Whether a NIC may tell which file is whose.
    pub fn lists_macs(&self) -> bool {
        self.hosts.iter().any(|host| !host.macs.is_empty())
    }

    pub fn has_file(&self, file: &str) -> bool {
        let is_it = |known: &Option<String>| known.as_deref() == Some(file);
        is_it(&self.assigned) || is_it(&self.cluster_wide) || self.hosts.iter().any(|host| host.file == file)
    }

    /// With the files of the directory that it does not know: each is named after its host, in whatever case. Files that
    /// the index names and the directory lacks are left out.
    #[must_use]
    pub fn with_files(mut self, files: &[String]) -> Self {
        let is_there = |file: &String| files.contains(file);
        self.assigned = self.assigned.filter(is_there);
        self.cluster_wide = self.cluster_wide.filter(is_there);
        self.hosts.retain(|host| is_there(&host.file));
        for file in files {
            let Some(stem) = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)) else { continue };
            if stem == CLUSTER_WIDE {
                self.cluster_wide.get_or_insert_with(|| file.clone());
            } else if self.hosts.iter().all(|host| host.file != *file) {
                self.hosts.push(IndexedHost {
                    file: file.clone(),
                    name: Some(stem.to_lowercase()),
                    macs: Vec::new(),
                    nics: BTreeMap::new(),
                });
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_an_entry_are_named_after_their_host() {
        let known = IndexedHost {
            file: "a.yml".into(),
            name: Some("a.example.org".into()),
            macs: Vec::new(),
            nics: BTreeMap::new(),
        };
        let gone = IndexedHost { file: "gone.yml".into(), ..known.clone() };
        let index = Index { hosts: vec![known.clone(), gone], ..Index::default() };
        let files = ["a.yml", "B.yml", "cluster.yml", "hosts.json", "applied"].map(str::to_owned);
        let index = index.with_files(&files);
        let new = IndexedHost { file: "B.yml".into(), name: Some("b".into()), ..known.clone() };
        assert_eq!(index.hosts, [known, new]);
        assert_eq!(index.cluster_wide.as_deref(), Some("cluster.yml"));
    }

    #[test]
    fn is_read_as_it_is_written() {
        let host = IndexedHost {
            file: "a.yml".into(),
            name: None,
            macs: vec!["52:54:00:00:00:0a".parse().unwrap()],
            nics: BTreeMap::new(),
        };
        let index = Index { assigned: Some("a.yml".into()), hosts: vec![host], cluster_wide: None };
        let text = serde_json::to_string(&index).unwrap();
        assert_eq!(text, r#"{"assigned":"a.yml","hosts":[{"file":"a.yml","macs":["52:54:00:00:00:0A"]}]}"#);
        assert_eq!(serde_json::from_str::<Index>(&text).unwrap(), index);
    }
}
