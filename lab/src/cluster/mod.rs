//! A real Kubernetes control plane in a lab: etcd and kube-apiserver beside the hub, reached from the nodes at its address.
//! There is no kubelet and no scheduler: what those would write, the lab writes.

mod audit;
mod authority;
mod control_plane;
mod kubeconfig;
mod linesman;
mod member;

pub use audit::Event;
pub use control_plane::Component;
pub use member::KUBECONFIG;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};
use crate::exec::{Output, Running};
use crate::lab::{Lab, Shared, lock};
use crate::layer::put;
use crate::tree::remove_tree;
use crate::{Forwarder, Kubernetes, Signal, gateway_v4};
use authority::Authority;
use control_plane::ControlPlane;
use kubeconfig::{Proof, kubeconfig};

/// Of Linesman's agents and operators.
pub const NAMESPACE: &str = "nmstate";

/// Ends when dropped, and with its lab.
#[derive(Debug)]
pub struct Cluster {
    control_plane: Mutex<ControlPlane>,
    programs: Kubernetes,
    authority: Authority,
    folder: PathBuf,
    shared: Arc<Shared>,
}

/// What etcd held at a time.
#[derive(Debug)]
pub struct Backup {
    folder: PathBuf,
}

impl Cluster {
    /// Until the API server is ready: some seconds.
    pub fn start(lab: &Lab) -> Result<Self> {
        let programs = Kubernetes::ensure()?;
        let shared = lab.shared();
        let folder = shared.folder.path().join("cluster");
        if folder.exists() {
            return Err(Error::refused("this lab already has a cluster"));
        }
        let authority = Authority::new()?;
        let control_plane = ControlPlane::new(folder.clone(), programs.clone(), &authority)?;
        let control_plane = Mutex::new(control_plane);
        let cluster = Self { control_plane, programs, authority, folder, shared };
        cluster.write_admin()?;
        lock(&cluster.control_plane).start_etcd(&cluster.shared.hub)?;
        cluster.start_api_server()?;
        Ok(cluster)
    }

    fn write_admin(&self) -> Result<()> {
        put(&self.folder, "admin.kubeconfig", &self.admin_at(&self.server())?, 0o600)
    }

    /// As the nodes reach it.
    pub fn server(&self) -> String {
        format!("https://{}:{}", gateway_v4(0), control_plane::PORT)
    }

    /// The administrator's kubeconfig, on the machine's disk; good for programs in the hub's network.
    pub fn admin(&self) -> PathBuf {
        self.folder.join("admin.kubeconfig")
    }

    /// The same for an API server that is reached at another address, such as a forwarder's.
    pub fn admin_at(&self, server: &str) -> Result<String> {
        let admin = self.authority.client("admin", Some("system:masters"))?;
        Ok(kubeconfig(server, &self.authority.certificate(), &Proof::Certificate(&admin)))
    }

    /// The kubeconfig of a bearer token.
    pub fn kubeconfig(&self, token: &str) -> String {
        kubeconfig(&self.server(), &self.authority.certificate(), &Proof::Token(token))
    }

    /// A token of a service account that is bound to nothing, so it carries no node.
    pub fn token(&self, namespace: &str, account: &str) -> Result<String> {
        let words = ["create", "token", account, "--namespace", namespace, "--duration", "24h"];
        Ok(self.run(&words)?.trim().to_owned())
    }

    /// The program itself, for people.
    pub fn kubectl_path(&self) -> PathBuf {
        self.programs.program("kubectl")
    }

    /// As the administrator, whatever its exit status.
    pub fn kubectl(&self, words: &[&str]) -> Result<Output> {
        self.kubectl_with(&self.admin(), words, "")
    }

    /// Its standard output; an error with both streams unless it exits with zero.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        succeeded(words, self.kubectl(words)?)
    }

    /// As whoever the kubeconfig is of, with something on standard input.
    pub fn kubectl_with(&self, kubeconfig: &Path, words: &[&str], input: &str) -> Result<Output> {
        let program = self.programs.program("kubectl").display().to_string();
        let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
        let all = [program.as_str(), &kubeconfig].into_iter().chain(words.iter().copied());
        let command = self.shared.hub.command_of_the_machine(all).input(input);
        command.env("KUBECACHEDIR", self.folder.join("kubectl")).output()
    }

    /// As the holder of a token.
    pub fn kubectl_as(&self, token: &str, words: &[&str], input: &str) -> Result<Output> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("token-{}.kubeconfig", NEXT.fetch_add(1, Ordering::Relaxed));
        put(&self.folder, &name, &self.kubeconfig(token), 0o600)?;
        self.kubectl_with(&self.folder.join(name), words, input)
    }

    pub fn apply(&self, yaml: &str) -> Result<()> {
        self.apply_with(yaml, &[])
    }

    fn apply_with(&self, yaml: &str, options: &[&str]) -> Result<()> {
        let words = [&["apply", "--server-side", "--force-conflicts", "-f", "-"], options].concat();
        succeeded(&words, self.kubectl_with(&self.admin(), &words, yaml)?).map(drop)
    }

    /// One object as JSON; None if it is not there.
    pub fn get(&self, kind: &str, name: &str) -> Result<Option<serde_json::Value>> {
        let words = ["get", kind, name, "--ignore-not-found", "-o", "json"];
        Ok(serde_json::from_str(&self.run(&words)?).ok())
    }

    /// All requests that were answered so far, in the order of their ends.
    pub fn audit(&self) -> Result<Vec<Event>> {
        audit::read(&lock(&self.control_plane).audit_log())
    }

    /// Killed; nobody reaches it until it is started again. What it knows stays in etcd.
    pub fn stop_api_server(&self) -> Result<()> {
        lock(&self.control_plane).stop_api_server()
    }

    /// Until it is ready.
    pub fn start_api_server(&self) -> Result<()> {
        let mut control_plane = lock(&self.control_plane);
        control_plane.start_api_server(&self.shared.hub)?;
        control_plane.wait_ready(|| self.ready())
    }

    /// kill -9. What it knows is on disk.
    pub fn kill(&self, component: Component) -> Result<()> {
        lock(&self.control_plane).kill(component)
    }

    /// One that was killed, until the API server is ready.
    pub fn start_again(&self, component: Component) -> Result<()> {
        let mut control_plane = lock(&self.control_plane);
        match component {
            Component::ApiServer => control_plane.start_api_server(&self.shared.hub)?,
            Component::Etcd => control_plane.start_etcd(&self.shared.hub)?,
        }
        control_plane.wait_ready(|| self.ready())
    }

    /// It stays where it is, with all its connections, until `resume`.
    pub fn suspend(&self, component: Component) -> Result<()> {
        lock(&self.control_plane).signal(component, Signal::SIGSTOP)
    }

    /// Until the API server is ready.
    pub fn resume(&self, component: Component) -> Result<()> {
        let control_plane = lock(&self.control_plane);
        control_plane.signal(component, Signal::SIGCONT)?;
        control_plane.wait_ready(|| self.ready())
    }

    fn ready(&self) -> bool {
        self.kubectl(&["get", "--raw", "/readyz", "--request-timeout=2s"]).is_ok_and(|said| said.success())
    }

    /// Stops etcd for a moment; the API server waits for it.
    pub fn backup(&self) -> Result<Backup> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let folder = self.folder.join(format!("backup-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let mut control_plane = lock(&self.control_plane);
        control_plane.stop_etcd()?;
        control_plane::copy(&control_plane.data(), &folder)?;
        control_plane.start_etcd(&self.shared.hub)?;
        control_plane.wait_ready(|| self.ready())?;
        Ok(Backup { folder })
    }

    /// The cluster is as it was then, and knows nothing of what came later.
    pub fn restore(&self, backup: &Backup) -> Result<()> {
        let mut control_plane = lock(&self.control_plane);
        control_plane.stop_api_server()?;
        control_plane.stop_etcd()?;
        remove_tree(&control_plane.data())?;
        control_plane::copy(&backup.folder, &control_plane.data())?;
        control_plane.start_etcd(&self.shared.hub)?;
        drop(control_plane);
        self.start_api_server()
    }

    /// kube-controller-manager with its garbage collector alone, until the handle is dropped.
    pub fn collect_garbage(&self) -> Result<Running> {
        lock(&self.control_plane).collector(&self.shared.hub, &self.admin())
    }

    /// The API server at a port of the machine's 127.0.0.1, for programs outside: `admin_at` writes their kubeconfig.
    pub fn forward(&self, port: u16) -> Result<Forwarder> {
        let target = (gateway_v4(0), control_plane::PORT).into();
        Forwarder::start(self.shared.hub.namespaces(), port, target)
    }

    /// What the API server complained of.
    pub fn log(&self) -> String {
        lock(&self.control_plane).log()
    }
}

fn succeeded(words: &[&str], output: Output) -> Result<String> {
    if output.success() {
        return Ok(output.stdout);
    }
    let Output { status, stdout, stderr } = output;
    let (command, place) = (format!("kubectl {}", words.join(" ")), "the hub".into());
    Err(Error::Failed { command, place, status: status.to_string(), stdout, stderr })
}
