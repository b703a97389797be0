//! What reaches the hosts, byte for byte the same for the same input.

mod disruption_policy;
mod host_files;
mod ignition;
mod machine_config;
mod notes;

use crate::cluster::Checked;
use crate::fault::Fault;
use crate::generate::host_files::{FileOnHost, HostFiles};

pub use host_files::DIRECTORY;
pub use ignition::SpecVersion;

/// What is written: for whom, and in which form.
#[derive(Debug, Clone)]
pub enum OutputFormat {
    /// One Ignition config per host.
    Ignition(SpecVersion),
    /// One MachineConfig per role, with the documents of all its hosts, and the policy that spares a reboot.
    MachineConfig {
        version: SpecVersion,
        /// For hosts that state no role, and for the cluster-wide document.
        roles: Vec<String>,
    },
    /// The documents themselves and their index.
    Files,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    pub name: String,
    pub text: String,
    /// Only its owner should read it.
    pub is_secret: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Generated {
    /// In the order of their names.
    pub files: Vec<GeneratedFile>,
    /// What the deployer should know.
    pub notes: Vec<String>,
}

impl Checked {
    pub fn generate(&self, format: &OutputFormat) -> Result<Generated, Vec<Fault>> {
        let mut notes = notes::about(&self.0);
        let mut files = match format {
            OutputFormat::Ignition(version) => self.ignition(*version),
            OutputFormat::Files => self.plain_files(),
            OutputFormat::MachineConfig { version, roles } => {
                let made = machine_config::all(&self.0, *version, roles)?;
                notes.extend(made.notes);
                made.files
            }
        };
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Generated { files, notes })
    }

    fn ignition(&self, version: SpecVersion) -> Vec<GeneratedFile> {
        let hosts = self.0.hosts.iter().filter_map(HostFiles::of_host);
        let wide = self.0.cluster_wide.as_deref().map(HostFiles::cluster_wide);
        hosts
            .chain(wide)
            .map(|host| GeneratedFile {
                name: format!("{}.ign", host.stem),
                is_secret: host.has_secret(),
                text: pretty(&ignition::config(version, &host.files_with_index())),
            })
            .collect()
    }

    fn plain_files(&self) -> Vec<GeneratedFile> {
        let all = HostFiles::all(&self.0.hosts, self.0.cluster_wide.as_deref());
        all.into_iter().map(plain).collect()
    }
}

fn plain(file: FileOnHost) -> GeneratedFile {
    let name = file.path.rsplit('/').next().unwrap_or_default().to_owned();
    GeneratedFile { name, is_secret: file.is_secret(), text: file.text }
}

/// JSON as people and `diff` read it.
fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
