//! The processes of a control plane. They run among the hub's, so they end with the lab however that ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::authority::{Authority, Identity, signing_keys};
use crate::error::{Doing, Error, Result};
use crate::exec::Running;
use crate::hub::Hub;
use crate::layer::{create, put};
use crate::{Kubernetes, Signal, gateway_v4};

const ETCD: &str = "http://127.0.0.1:2379";
const PEER: &str = "http://127.0.0.1:2380";
pub(super) const PORT: u16 = 6443;
const ISSUER: &str = "https://kubernetes.default.svc";
/// Generous: nodes may be starting beside it on two cores.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    ApiServer,
    Etcd,
}

#[derive(Debug)]
pub(super) struct ControlPlane {
    folder: PathBuf,
    programs: Kubernetes,
    etcd: Option<Running>,
    api_server: Option<Running>,
}

impl ControlPlane {
    pub(super) fn new(folder: PathBuf, programs: Kubernetes, authority: &Authority) -> Result<Self> {
        put(&folder, "ca.crt", &authority.certificate(), 0o644)?;
        let (signing, checking) = signing_keys()?;
        put(&folder, "signing.key", &signing, 0o600)?;
        put(&folder, "signing.pub", &checking, 0o644)?;
        put(&folder, "audit-policy.yaml", include_str!("audit-policy.yaml"), 0o644)?;
        let Identity { certificate, key } = authority.server()?;
        put(&folder, "server.crt", &certificate, 0o644)?;
        put(&folder, "server.key", &key, 0o600)?;
        Ok(Self { folder, programs, etcd: None, api_server: None })
    }

    pub(super) fn audit_log(&self) -> PathBuf {
        self.folder.join("audit.log")
    }

    pub(super) fn start_etcd(&mut self, hub: &Hub) -> Result<()> {
        let data = self.data();
        create(&data)?;
        let words = [
            "--name=lab".into(),
            format!("--data-dir={}", data.display()),
            "--unsafe-no-fsync".into(),
            format!("--listen-client-urls={ETCD}"),
            format!("--advertise-client-urls={ETCD}"),
            format!("--listen-peer-urls={PEER}"),
            format!("--initial-advertise-peer-urls={PEER}"),
            format!("--initial-cluster=lab={PEER}"),
            "--log-level=warn".into(),
        ];
        self.etcd = Some(self.start(hub, "etcd", &words)?);
        Ok(())
    }

    pub(super) fn start_api_server(&mut self, hub: &Hub) -> Result<()> {
        let file = |name: &str| self.folder.join(name).display().to_string();
        let words = [
            format!("--etcd-servers={ETCD}"),
            // Both families.
            "--bind-address=::".into(),
            format!("--secure-port={PORT}"),
            format!("--advertise-address={}", gateway_v4(0)),
            "--endpoint-reconciler-type=none".into(),
            "--service-cluster-ip-range=10.96.0.0/16".into(),
            format!("--tls-cert-file={}", file("server.crt")),
            format!("--tls-private-key-file={}", file("server.key")),
            format!("--client-ca-file={}", file("ca.crt")),
            format!("--service-account-issuer={ISSUER}"),
            format!("--service-account-key-file={}", file("signing.pub")),
            format!("--service-account-signing-key-file={}", file("signing.key")),
            "--authorization-mode=Node,RBAC".into(),
            "--enable-admission-plugins=NodeRestriction".into(),
            "--allow-privileged=true".into(),
            "--profiling=false".into(),
            format!("--audit-policy-file={}", file("audit-policy.yaml")),
            format!("--audit-log-path={}", self.audit_log().display()),
            // Megabytes: never split in a lab's life.
            "--audit-log-maxsize=100000".into(),
        ];
        self.api_server = Some(self.start(hub, "kube-apiserver", &words)?);
        Ok(())
    }

    /// Removes what a deleted owner leaves, and nothing else.
    pub(super) fn collector(&self, hub: &Hub, kubeconfig: &Path) -> Result<Running> {
        let words = [
            format!("--kubeconfig={}", kubeconfig.display()),
            "--controllers=garbage-collector-controller".into(),
            "--leader-elect=false".into(),
            "--secure-port=0".into(),
        ];
        self.start(hub, "kube-controller-manager", &words)
    }

    fn start(&self, hub: &Hub, name: &str, words: &[String]) -> Result<Running> {
        let program = self.programs.program(name).display().to_string();
        hub.command_of_the_machine([&program].into_iter().chain(words)).spawn()
    }

    pub(super) fn kill(&mut self, component: Component) -> Result<()> {
        match component {
            Component::ApiServer => self.stop_api_server(),
            Component::Etcd => end(self.etcd.take(), Signal::SIGKILL, "etcd"),
        }
    }

    pub(super) fn signal(&self, component: Component, signal: Signal) -> Result<()> {
        let (name, process) = match component {
            Component::ApiServer => ("kube-apiserver", &self.api_server),
            Component::Etcd => ("etcd", &self.etcd),
        };
        process.as_ref().ok_or_else(|| Error::refused(format!("{name} is not running")))?.signal(signal)
    }

    /// At once, as when its machine is gone.
    pub(super) fn stop_api_server(&mut self) -> Result<()> {
        end(self.api_server.take(), Signal::SIGKILL, "kube-apiserver")
    }

    /// In good order: its files are complete afterwards.
    pub(super) fn stop_etcd(&mut self) -> Result<()> {
        end(self.etcd.take(), Signal::SIGTERM, "etcd")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("etcd")
    }

    /// Asks until it says yes; it has to be alive meanwhile.
    pub(super) fn wait_ready(&self, ready: impl Fn() -> bool) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !ready() {
            for (name, process) in [("etcd", &self.etcd), ("kube-apiserver", &self.api_server)] {
                let ended = process.as_ref().filter(|process| process.status().is_some());
                if let Some(dead) = ended {
                    return Err(Error::Start {
                        what: name.into(),
                        why: "it ended".into(),
                        console: dead.stderr(),
                    });
                }
            }
            if Instant::now() >= deadline {
                let console = self.api_server.as_ref().map(Running::stderr).unwrap_or_default();
                let why = format!("not ready within {PATIENCE:?}");
                return Err(Error::Start { what: "kube-apiserver".into(), why, console });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    pub(super) fn log(&self) -> String {
        self.api_server.as_ref().map(Running::stderr).unwrap_or_default()
    }
}

fn end(process: Option<Running>, signal: Signal, name: &str) -> Result<()> {
    let process = process.ok_or_else(|| Error::refused(format!("{name} is not running")))?;
    process.signal(signal)?;
    process.wait_at_most(PATIENCE).map(drop)
}

/// The whole of one folder as another, which must not be there yet.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    create(to)?;
    for entry in fs::read_dir(from).doing_to("list", from)? {
        let entry = entry.doing_to("list", from)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target).doing_to("copy", &source)?;
        }
    }
    Ok(())
}
