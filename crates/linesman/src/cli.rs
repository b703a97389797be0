//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use linesman_engine::probe::Probe;

use crate::exit;
use crate::logging::{self, LogFormat};

/// Keeps the network of this host as declared. A change that cuts the host off undoes itself.
#[derive(Debug, Parser)]
#[command(name = "linesman", version, after_help = exit::TABLE, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// How to print results
    #[arg(short, long, value_enum, default_value_t = Format::Text, global = true)]
    pub output: Format,

    /// Where the journal is kept
    #[arg(long, env = "LINESMAN_STATE_DIR", default_value = "/var/lib/linesman", global = true, hide = true)]
    pub state_dir: PathBuf,

    /// How long after the last sign of life NetworkManager takes an unfinished change back by itself
    #[arg(long, env = "LINESMAN_DEAD_MAN", value_name = "TIME", value_parser = duration, default_value = "10s", global = true, hide = true)]
    pub dead_man: Duration,

    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Yaml,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Say what is wrong with documents, offline: no root, no NetworkManager
    ///
    /// Exits with 3 when something is. `linesman explain CODE` tells more about an error.
    Check(CheckArgs),
    /// Show what applying a document would change, and whether it touches the path to this host
    ///
    /// Exits with 2 when there are differences.
    Plan(PlanArgs),
    /// Apply a document: planned, verified, probed; taken back if it does not hold
    #[command(visible_alias = "set")]
    Apply(ApplyArgs),
    /// Keep a change that waits for its confirmation
    Commit(CheckpointArgs),
    /// Take a change back that waits for its confirmation
    Rollback(CheckpointArgs),
    /// Print the state of this host
    Show(ShowArgs),
    /// Draw what carries what on this host: NICs, bonds, VLANs, bridges and what sits on them
    Topology(TopologyArgs),
    /// Print what was changed on this host, when, and how it ended
    History(HistoryArgs),
    /// Keep the policies of a directory on this host: apply, watch, report or correct drift
    Agent(AgentArgs),
    /// Roll policies out through the nodes of a cluster: wave by wave, within their limits
    ///
    /// Several may run; the one that has the Lease `linesman-operator` acts, the others stand by.
    Operator(OperatorArgs),
    /// Say whether this host is as declared; the verdict comes first
    ///
    /// Exits with 0 in step, 2 drifted, 1 in trouble, 4 when no agent runs.
    Status(StatusArgs),
    /// Show where this host is not as its policies say
    ///
    /// Exits with 2 when there are differences.
    Diff(DiffArgs),
    /// Say which policy set what on an interface, and whether it is so
    Why(WhyArgs),
    /// Try a policy again that was rolled back or gave up
    Retry(RetryArgs),
    /// Break glass: the agent keeps its hands off this host until `release`
    Hold(HoldArgs),
    /// End a hold: the agent takes up its work again
    Release,
    /// Turn the running host, NetworkManager profiles or netplan files into a document
    ///
    /// What could not be carried over is listed on standard error and in comments at the top. Secrets are never
    /// imported. Files are read without root and without NetworkManager.
    Import(ImportArgs),
    /// Check what linesman needs on this host, and what could get in its way
    ///
    /// Exits with 1 when there is a problem.
    Doctor,
    /// Collect what support needs to know about this host in one archive, without secrets
    Gather(GatherArgs),
    /// Finish what an interrupted linesman left (run at boot; harmless at any time)
    Recover(RecoverArgs),
    /// Explain the code of an error, with an example; without a code, list them
    Explain(ExplainArgs),
    /// Print the CustomResourceDefinitions that a cluster needs
    ///
    /// For example: linesman crds | kubectl apply --server-side -f -
    Crds(CrdsArgs),
    /// Print the completions for a shell
    ///
    /// For example: linesman completion bash > /etc/bash_completion.d/linesman
    Completion(CompletionArgs),
    /// Print the manual page, or write those of all verbs
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub struct Source {
    /// A document: NMState, NMPolicy or NodeNetworkConfigurationPolicy; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The documents are for different hosts: do not look for contradictions between them
    #[arg(long)]
    pub apart: bool,

    /// Documents; a directory stands for its *.yaml, *.yml and *.json; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// For example LM0401
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct TopologyArgs {
    /// Only these, and what they carry and stand on
    #[arg(value_name = "INTERFACE")]
    pub interfaces: Vec<String>,

    /// Write a picture instead; `-` for standard output
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Draw this document, or what `linesman show` printed, instead of this host; `-` reads standard input
    #[arg(short, long, value_name = "STATE")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct OperatorArgs {
    /// How to reach the cluster; default: KUBECONFIG, else the account of the Pod
    #[arg(long, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,

    /// Where agents and operators run
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", default_value = linesman_api::names::NAMESPACE)]
    pub namespace: String,

    /// Who this is among the operators; default: the host's name and the number of the process
    #[arg(long, value_name = "NAME")]
    pub identity: Option<String>,

    /// Where to serve /metrics, /healthz and /readyz: ADDRESS:PORT, or `none`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9474")]
    pub listen: String,

    #[command(flatten)]
    pub logging: LogArgs,

    /// How long a node has to report after its release; the policy's patience comes on top
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub release_for: u64,
}

#[derive(Debug, Args)]
pub struct CrdsArgs {
    /// Print the rules instead that say who may write what (ValidatingAdmissionPolicy, Kubernetes 1.30 or newer)
    #[arg(long)]
    pub admission: bool,

    /// With --admission: where agent and operator run
    #[arg(long, value_name = "NAME", default_value = linesman_api::names::NAMESPACE, requires = "admission")]
    pub namespace: String,
}

#[derive(Debug, Args)]
pub struct CompletionArgs {
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write linesman.1 and a page for every verb into this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub source: Source,

    /// An address by which this host must stay reachable: its own, or a peer's
    #[arg(long, value_name = "ADDRESS")]
    pub protect: Option<IpAddr>,
}

#[derive(Debug, Args)]
pub struct ApplyArgs {
    #[command(flatten)]
    pub source: Source,

    /// Try it: count down, and go back unless confirmed (Enter, or `linesman commit`)
    #[arg(long = "try", value_name = "TIME", value_parser = duration, conflicts_with = "no_commit")]
    pub try_for: Option<Duration>,

    /// Leave the change unconfirmed and return; `linesman commit` keeps it, else it goes back
    #[arg(long)]
    pub no_commit: bool,

    /// With --no-commit: how long it waits for `commit` [60s]. Else: how long the change itself may take [120s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// How long probes may take to pass after the change [default: what the policy says, else 20s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub patience: Option<Duration>,

    /// How long the new state may take to be there, once NetworkManager is done
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "12s")]
    pub settle: Duration,

    /// What must work after the change as before: gateway, gateway:v6, dns, dns:NAME, tcp:HOST:PORT,
    /// http(s)://…, ping:ADDRESS; `,timeout=5s` may follow; may be repeated
    /// [default: what the policy says, else gateway and dns]
    #[arg(long = "probe", value_name = "PROBE", conflicts_with = "no_probes")]
    pub probes: Vec<Probe>,

    /// Run no probes
    #[arg(long)]
    pub no_probes: bool,

    /// Do not verify that the state is there afterwards
    #[arg(short = 'n', long)]
    pub no_verify: bool,

    /// An address by which this host must stay reachable: its own, or a peer's
    #[arg(long, value_name = "ADDRESS")]
    pub protect: Option<IpAddr>,

    /// Keep the change in memory only: gone after a reboot
    #[arg(long)]
    pub memory_only: bool,

    /// Declared interfaces get exactly what the document says; what it omits gets its default
    #[arg(long)]
    pub override_iface: bool,

    /// Print errors only
    #[arg(short, long)]
    pub quiet: bool,

    /// The process that holds an unconfirmed change
    #[arg(long, hide = true)]
    pub hold: bool,
}

#[derive(Debug, Args)]
pub struct CheckpointArgs {
    /// Which change, by its checkpoint or its id in `history` [default: the one that waits]
    pub checkpoint: Option<String>,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Only this interface
    pub interface: Option<String>,

    /// Only what the kernel knows
    #[arg(short, long)]
    pub kernel: bool,

    /// Leave out what DHCP, router advertisements and neighbours gave
    #[arg(short, long)]
    pub running_config: bool,

    /// Print secrets
    #[arg(short, long)]
    pub show_secrets: bool,

    /// As `-o json`
    #[arg(long, hide = true)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// One change in full, by its id
    pub id: Option<String>,
}

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Without a cluster: the policies are the files of --policy-dir
    #[arg(long)]
    pub standalone: bool,

    /// NMState documents and NodeNetworkConfigurationPolicy manifests, one per file (*.yaml, *.yml, *.json)
    #[arg(long, value_name = "DIR", default_value = "/etc/linesman/policies", requires = "standalone")]
    pub policy_dir: PathBuf,

    /// In a cluster: the name of this node
    #[arg(long, value_name = "NAME", env = "NODE_NAME", required_unless_present = "standalone")]
    pub node_name: Option<String>,

    /// In a cluster: how to reach it; a Pod finds that by itself
    #[arg(long, value_name = "FILE", env = "KUBECONFIG", conflicts_with = "standalone")]
    pub kubeconfig: Option<PathBuf>,

    /// In a cluster: the namespace of agent and operator
    #[arg(
        long,
        value_name = "NAME",
        env = "POD_NAMESPACE",
        default_value = "nmstate",
        conflicts_with = "standalone"
    )]
    pub namespace: String,

    /// In a cluster: interfaces that the NodeNetworkState leaves out, as globs
    #[arg(
        long,
        value_name = "GLOB",
        env = "INTERFACE_FILTER",
        value_delimiter = ',',
        conflicts_with = "standalone"
    )]
    pub interface_filter: Vec<String>,

    /// In a cluster: while another handler, such as kubernetes-nmstate's, holds this file, wait
    #[arg(
        long,
        value_name = "FILE",
        env = "NMSTATE_INSTANCE_NODE_LOCK_FILE",
        default_value = "/var/k8s_nmstate/handler_lock"
    )]
    pub handler_lock: PathBuf,

    /// Where to serve /metrics, /healthz and /readyz: ADDRESS:PORT, or `none`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9473")]
    pub listen: String,

    #[command(flatten)]
    pub logging: LogArgs,

    /// What the probe of DNS asks for where a policy does not say [default: the root]
    #[arg(long, value_name = "NAME", env = "PROBE_DNS_HOST")]
    pub probe_dns_host: Option<String>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct LogArgs {
    /// How to write the log on standard error; RUST_LOG chooses what is written, as in `info,kube=debug`
    #[arg(long, value_enum, value_name = "FORMAT", env = logging::FORMAT, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Go on, and print it again whenever it changes
    #[arg(short, long)]
    pub watch: bool,

    /// Also show where policies and host differ
    #[arg(short, long)]
    pub diff: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Only this policy
    pub policy: Option<String>,
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    /// An interface, or one of its properties: br1, br1.ipv4.address
    pub interface: String,
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// Only this policy [default: all that are not in step]
    pub policy: Option<String>,
}

#[derive(Debug, Args)]
pub struct HoldArgs {
    /// Why; everybody who looks will read it
    #[arg(value_name = "REASON")]
    pub reason: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// What the files are [default: their content tells]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub from: Option<ImportFormat>,

    /// Profiles or netplan files, or folders of them; `-` reads standard input [default: the running host]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// Profiles of NetworkManager: /etc/NetworkManager/system-connections
    Keyfile,
    /// Files of netplan: /etc/netplan; several are merged as netplan does
    Netplan,
}

#[derive(Debug, Args)]
pub struct GatherArgs {
    /// Where to write the archive; `-` writes to standard output [default: linesman-HOST-TIME.tar.gz]
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RecoverArgs {
    /// Only put files in place, before NetworkManager starts
    #[arg(long)]
    pub boot: bool,
}

/// `90`, `90s`, `2m`.
fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    humantime::parse_duration(text).map_err(|e| format!("{e}; write e.g. 90, 90s or 2m"))
}
