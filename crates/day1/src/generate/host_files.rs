//! The files on a host: its document, and the index by which it is found.

use linesman_core::yaml;
use serde_json::json;

use super::pretty;
use crate::configuration::Configuration;
use crate::host::Host;
use crate::host_file::CLUSTER_WIDE;
use crate::index::{self, Index, IndexedHost};

/// Where documents are on a host. The name is OpenShift's: its machine config daemon lets files below it change without
/// a reboot, also at first boot.
pub const DIRECTORY: &str = "/etc/nmstate/openshift";

const PUBLIC: u32 = 0o644;
const PRIVATE: u32 = 0o600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOnHost {
    pub path: String,
    pub mode: u32,
    pub text: String,
}

impl FileOnHost {
    pub fn is_secret(&self) -> bool {
        self.mode == PRIVATE
    }
}

/// The document of one host, or of all that have none.
#[derive(Debug)]
pub struct HostFiles {
    /// The name of the document's file, without its extension.
    pub stem: String,
    document: FileOnHost,
    entry: Option<IndexedHost>,
}

impl HostFiles {
    /// `None` if the host has no document of its own.
    pub fn of_host(host: &Host) -> Option<Self> {
        let stem = host.stem();
        let document = document(&stem, host.network.configuration()?);
        let name = host.name.as_ref().map(|name| name.value.to_string());
        let entry =
            IndexedHost { file: file_name(&stem), name, macs: host.own_macs(), nics: host.nics.clone() };
        Some(Self { stem, document, entry: Some(entry) })
    }

    pub fn cluster_wide(configuration: &Configuration) -> Self {
        let stem = CLUSTER_WIDE.to_owned();
        Self { document: document(&stem, configuration), stem, entry: None }
    }

    pub fn has_secret(&self) -> bool {
        self.document.is_secret()
    }

    /// For a host that gets nothing else: no choice is left to it.
    pub fn files_with_index(self) -> Vec<FileOnHost> {
        let file = file_name(&self.stem);
        let index = match self.entry {
            Some(entry) => Index { assigned: Some(file), hosts: vec![entry], cluster_wide: None },
            None => Index { cluster_wide: Some(file), ..Index::default() },
        };
        in_order(vec![self.document, index_file(&index)])
    }

    /// For hosts that choose: the documents of all and their index, in the order of their names.
    pub fn all<'a>(
        hosts: impl IntoIterator<Item = &'a Host>,
        cluster_wide: Option<&Configuration>,
    ) -> Vec<FileOnHost> {
        let mut own: Vec<Self> = hosts.into_iter().filter_map(Self::of_host).collect();
        own.sort_by(|a, b| a.stem.cmp(&b.stem));
        let wide = cluster_wide.map(Self::cluster_wide);
        let index = Index {
            assigned: None,
            hosts: own.iter().filter_map(|host| host.entry.clone()).collect(),
            cluster_wide: wide.as_ref().map(|wide| file_name(&wide.stem)),
        };
        let mut files: Vec<FileOnHost> = own.into_iter().chain(wide).map(|host| host.document).collect();
        files.push(index_file(&index));
        in_order(files)
    }
}

fn in_order(mut files: Vec<FileOnHost>) -> Vec<FileOnHost> {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn file_name(stem: &str) -> String {
    format!("{stem}.yml")
}

fn document(stem: &str, configuration: &Configuration) -> FileOnHost {
    let mode = if configuration.has_secret() { PRIVATE } else { PUBLIC };
    let path = format!("{DIRECTORY}/{}", file_name(stem));
    FileOnHost { path, mode, text: yaml::write(&configuration.to_value()) }
}

fn index_file(index: &Index) -> FileOnHost {
    let path = format!("{DIRECTORY}/{}", index::FILE);
    FileOnHost { path, mode: PUBLIC, text: pretty(&json!(index)) }
}
