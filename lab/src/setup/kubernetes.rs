//! Kubernetes' own control plane, built from its source by Go: exactly what `lab/kubernetes/go.sum` says.

use std::path::PathBuf;

use super::go::{Source, required};
use crate::error::Result;
use crate::places;

const MODULE: &str = include_str!("../../kubernetes/go.mod");
const SUMS: &str = include_str!("../../kubernetes/go.sum");

/// Name, and the package that it is built from.
const PROGRAMS: &[(&str, &str)] = &[
    ("etcd", "go.etcd.io/etcd/server/v3"),
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
];

/// The programs of a control plane, on the machine's disk.
#[derive(Debug, Clone)]
pub struct Kubernetes {
    folder: PathBuf,
}

impl Kubernetes {
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Built first if they are not there yet; by one process at a time.
    pub fn ensure() -> Result<Self> {
        let source = Source {
            name: "Kubernetes",
            version: version(),
            module: MODULE,
            sums: SUMS,
            programs: PROGRAMS,
            link_flags: link_flags(),
            duration: "8 minutes",
        };
        Ok(Self { folder: source.ensure(&places::kubernetes())? })
    }
}

fn version() -> &'static str {
    required(MODULE, "k8s.io/kubernetes ")
}

/// The version is linked in; without it the API server takes itself for a v0.0.0 and serves accordingly.
fn link_flags() -> String {
    let minor = version().split('.').nth(1).unwrap_or_default();
    let facts = [
        ("gitVersion", version()),
        ("gitMajor", "1"),
        ("gitMinor", minor),
        ("gitTreeState", "clean"),
        ("gitCommit", "module-proxy"),
        ("buildDate", "1970-01-01T00:00:00Z"),
    ];
    let packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
    let fact = |package: &str, (name, value): (&str, &str)| format!(" -X {package}.{name}={value}");
    let all = packages.iter().flat_map(|package| facts.map(|known| fact(package, known)));
    format!("-s -w{}", all.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_modules() {
        assert!(version().starts_with("v1."), "{}", version());
        assert!(
            link_flags().contains(&format!(" -X k8s.io/component-base/version.gitVersion={}", version()))
        );
    }
}
