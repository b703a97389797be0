//! Kubernetes' own control plane, built from its source by Go: exactly what `lab/kubernetes/go.sum` says.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Doing, Error, Result};
use crate::progress::step;
use crate::tree::remove_tree;
use crate::{lock, places};

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
        let folder = places::kubernetes().join(edition(&go_version()?));
        if !folder.exists() {
            fs::create_dir_all(places::kubernetes()).doing_to("create", &places::kubernetes())?;
            let _one_at_a_time = lock::wait_for(&places::kubernetes().join("lock"))?;
            if !folder.exists() {
                make(&folder)?;
            }
        }
        Ok(Self { folder })
    }
}

fn go_version() -> Result<String> {
    let output = Command::new("go").args(["env", "GOVERSION"]).output().map_err(|_| Error::NoGo)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Another source or another Go is another folder.
fn edition(go: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (MODULE, SUMS, go).hash(&mut hasher);
    format!("{}-{:016x}", version(), hasher.finish())
}

fn version() -> &'static str {
    let line = MODULE.lines().find_map(|line| line.strip_prefix("require k8s.io/kubernetes "));
    line.and_then(|line| line.split(' ').next()).unwrap_or("v0.0.0")
}

fn make(folder: &Path) -> Result<()> {
    step(&format!("building Kubernetes {} in {} (once; about 8 minutes)", version(), folder.display()));
    let unfinished = folder.with_extension("unfinished");
    let source = unfinished.join("source");
    remove_tree(&unfinished)?;
    fs::create_dir_all(&source).doing_to("create", &source)?;
    for (name, text) in [("go.mod", MODULE), ("go.sum", SUMS)] {
        fs::write(source.join(name), text).doing_to("write", &source.join(name))?;
    }
    let log = folder.with_extension("log");
    for (program, package) in PROGRAMS {
        step(&format!("building {program}"));
        build(program, package, &unfinished, &log)?;
    }
    fs::rename(&unfinished, folder).doing_to("put in place", folder)?;
    step("Kubernetes is built");
    Ok(())
}

fn build(program: &str, package: &str, into: &Path, log: &Path) -> Result<()> {
    let output = File::create(log).doing_to("create", log)?;
    let errors = output.try_clone().doing_to("open", log)?;
    let status = super::dies_with_us("go")
        .args(["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", &link_flags(), "-o"])
        .args([into.join(program).as_os_str(), package.as_ref()])
        .current_dir(into.join("source"))
        .env("CGO_ENABLED", "0")
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .doing(|| "run go build".into())?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Build { program: program.into(), log: log.into(), tail: super::tail(log) })
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

    #[test]
    fn another_go_is_another_edition() {
        assert_ne!(edition("go1.25"), edition("go1.26"));
    }
}
