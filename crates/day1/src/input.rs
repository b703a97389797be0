//! The files that describe hosts.

use std::sync::Arc;

use linesman_core::document::{Node, tree};

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct Input {
    /// What to call it in messages.
    pub name: String,
    pub text: Arc<str>,
}

impl Input {
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The name of the file without its directory and its extension.
    pub fn stem(&self) -> &str {
        let file = self.name.rsplit('/').next().unwrap_or_default();
        let endings = [".yml", ".yaml", ".json"];
        endings.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file)
    }
}

/// What a file describes; known by its content, since people name their files as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// `networking.hostConfig[]`, or what the other files leave out: platform, network type.
    InstallConfig,
    /// `hosts[]`, as the agent-based installer reads it.
    AgentConfig,
    /// The NMState document of one host, or of all hosts.
    HostFile,
}

const OF_INSTALL_CONFIG: [&str; 6] =
    ["networking", "platform", "controlPlane", "compute", "baseDomain", "pullSecret"];

impl InputKind {
    pub fn of(root: &Node) -> Self {
        let has = |key: &str| root.get(key).is_some();
        if OF_INSTALL_CONFIG.iter().any(|key| has(key)) {
            return Self::InstallConfig;
        }
        if has("hosts") || root.get("kind").and_then(Node::as_str) == Some("AgentConfig") {
            return Self::AgentConfig;
        }
        Self::HostFile
    }
}

/// The files of each cluster. Several install-configs are several clusters, each of one file; otherwise all files
/// describe one.
pub fn clusters(inputs: Vec<Input>) -> Vec<Vec<Input>> {
    let is_install_config =
        |input: &&Input| tree(&input.text).is_ok_and(|root| InputKind::of(&root) == InputKind::InstallConfig);
    match inputs.iter().filter(is_install_config).count() {
        0 | 1 => vec![inputs],
        _ => inputs.into_iter().map(|input| vec![input]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_by_its_file() {
        let stem = |name: &str| Input::new(name, "").stem().to_owned();
        assert_eq!(stem("hosts/master-0.yml"), "master-0");
        assert_eq!(stem("master-0.example.org.yaml"), "master-0.example.org");
        assert_eq!(stem("master-0"), "master-0");
    }

    #[test]
    fn several_install_configs_are_several_clusters() {
        let install = |name: &str| Input::new(name, "platform: {none: {}}\n");
        let agent = Input::new("agent-config.yaml", "hosts: []\n");
        let count = |inputs: &[Input]| clusters(inputs.to_vec()).len();
        assert_eq!(count(&[install("a"), agent.clone()]), 1);
        assert_eq!(count(&[install("a"), install("b")]), 2);
        assert_eq!(count(&[agent]), 1);
    }
}
