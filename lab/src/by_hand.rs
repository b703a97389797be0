//! The lab of `cargo xtask lab`: it stays up without a test around it, owned by a process of its own.
//! There may be several, under the names that `LINESMAN_LAB` gives them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::exec::{Exec, Running};
use crate::forwarder::Forwarder;
use crate::lab::Lab;
use crate::layer::{create, put};
use crate::node::Node;
use crate::run::{self, Description};
use crate::{lock, places};

const PATIENCE: Duration = Duration::from_secs(30);
/// As the examples and the tutorial expect: eth0 carries the path of the node, two are free.
const NICS: u8 = 3;

fn name() -> String {
    std::env::var("LINESMAN_LAB").unwrap_or_else(|_| "by-hand".into())
}

/// What a lab consists of.
#[derive(Debug, Clone)]
pub struct LabOptions {
    pub nodes: u8,
    pub systemd: bool,
    /// Virtual machines instead of namespaces.
    pub vm: bool,
    pub binary: Option<PathBuf>,
    /// The folder of Linesman's manifests: with a Kubernetes cluster that the nodes are in.
    pub cluster: Option<PathBuf>,
}

/// Where the owner writes its errors.
pub fn log() -> PathBuf {
    places::cache().join(format!("{}.log", name()))
}

/// The administrator's kubeconfig of a lab with a cluster; it works from the machine.
pub fn kubeconfig() -> PathBuf {
    places::cache().join(format!("{}.kubeconfig", name()))
}

/// Where the operator of a lab with a cluster writes its log.
pub fn operator_log() -> PathBuf {
    places::cache().join(format!("{}-operator.log", name()))
}

fn lock_file() -> PathBuf {
    places::cache().join(format!("{}.lock", name()))
}

/// The lab that is up, if one is.
pub fn find() -> Result<Option<Description>> {
    let name = name();
    Ok(run::running()?.into_iter().find(|lab| lab.name == name))
}

/// Starts the lab, calls `ready`, and runs until killed. No handler is needed for
/// that: what a lab consists of ends with its owner, and `end` sweeps the rest.
pub fn own(options: &LabOptions, mut report: impl FnMut(&str), ready: impl FnOnce()) -> Result<()> {
    // A session of its own: closing the terminal it was started from must not end it. Refused if it leads one already.
    let _ = nix::unistd::setsid();
    create(&places::cache())?;
    let _only_one = lock::try_take(&lock_file())?
        .ok_or_else(|| Error::refused("a lab is already up or on its way: `cargo xtask lab down` ends it"))?;
    let lab = Lab::start(&name())?;
    report("the hub is up: gateway, DHCP, router advertisements and DNS at 10.9.N.1 and fd09:0:0:N::1");
    let nodes = start_nodes(&lab, options)?;
    let _cluster = options
        .cluster
        .as_deref()
        .map(|deploy| start_cluster(&lab, &nodes, options, deploy, &mut report))
        .transpose()?;
    ready();
    loop {
        std::thread::park();
    }
}

fn start_nodes(lab: &Lab, options: &LabOptions) -> Result<Vec<Node>> {
    let nodes = lab.nodes_with(options.nodes, |builder| {
        let builder = builder.nics(NICS).systemd(options.systemd).vm(options.vm).intel_nics(options.vm);
        options.binary.iter().fold(builder, |builder, binary| builder.binary(binary))
    })?;
    std::thread::scope(|scope| {
        let waiting: Vec<_> = nodes.iter().map(|node| scope.spawn(|| node.configure_static())).collect();
        let mut joined = waiting.into_iter().map(|one| one.join());
        joined.try_for_each(|one| one.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(nodes)
}

/// Everything that has to live as long as the cluster.
type ClusterParts = (Cluster, Forwarder, Vec<Running>);

fn start_cluster(
    lab: &Lab,
    nodes: &[Node],
    options: &LabOptions,
    deploy: &Path,
    report: &mut impl FnMut(&str),
) -> Result<ClusterParts> {
    let cluster = Cluster::start(lab)?;
    cluster.install(deploy)?;
    let mut running = vec![];
    for node in nodes {
        cluster.join(node, &[])?;
        if options.binary.is_some() {
            running.push(cluster.keep_agent(node)?);
        }
    }
    if let Some(binary) = &options.binary {
        running.push(cluster.keep_operator(binary, &operator_log())?);
    }
    report("the cluster is up: etcd and kube-apiserver at 10.9.0.1:6443, the nodes in it");
    let forwarder = cluster.forward(0)?;
    let text = cluster.admin_at(&format!("https://{}", forwarder.address()))?;
    put(&places::cache(), &format!("{}.kubeconfig", name()), &text, 0o600)?;
    Ok((cluster, forwarder, running))
}

/// Ends the lab; false if none was up. What an owner that was killed earlier left behind is removed.
pub fn end() -> Result<bool> {
    let Some(lab) = find()? else {
        return Ok(run::sweep()?.iter().any(|swept| swept.starts_with(&name())));
    };
    lab.owner.signal(Signal::SIGKILL)?;
    lab.owner.wait_gone(PATIENCE);
    sweep(&format!("{}-{}-", lab.name, lab.owner.pid))?;
    for file in [log(), lock_file(), kubeconfig(), operator_log()] {
        let _ = std::fs::remove_file(file);
    }
    Ok(true)
}

/// Children of the owner that had not become something else yet may hold its lock a moment longer than it lived.
fn sweep(prefix: &str) -> Result<()> {
    let is_left = || {
        let runs = std::fs::read_dir(places::runs()).into_iter().flatten().filter_map(std::io::Result::ok);
        runs.map(|run| run.file_name()).any(|name| name.to_string_lossy().starts_with(prefix))
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        run::sweep()?;
        if !is_left() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(Error::refused(format!("what is left of {prefix} is still held by a process")));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A command on a node of the lab that is up.
pub fn command(lab: &Description, node: &str, words: &[String]) -> Result<Exec> {
    let known = lab.nodes.iter().find(|known| known.name == node);
    let known = known.ok_or_else(|| {
        let names: Vec<_> = lab.nodes.iter().map(|node| node.name.as_str()).collect();
        Error::refused(format!("there is no node {node}: the lab has {}", names.join(", ")))
    })?;
    known.command(words)
}

/// The binary that `cargo build` makes beside this one.
pub fn built_beside(this: &Path, name: &str) -> Option<PathBuf> {
    this.parent().map(|folder| folder.join(name)).filter(|path| path.is_file())
}
