//! The command line.

mod day1;
mod output_directory;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::Resettable;
use clap::{Arg, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use linesman_engine::probe::Probe;

pub use self::day1::*;
use crate::exit;
use crate::logging::{self, LogFormat};
use crate::verbs::completion;

/// Declarative host networking. A change that breaks connectivity is rolled back automatically.
#[derive(Debug, Parser)]
#[command(name = "linesman", version, after_help = exit::TABLE, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text, global = true)]
    pub output: Format,

    /// Directory of the journal and the snapshots
    #[arg(long, env = "LINESMAN_STATE_DIR", default_value = "/var/lib/linesman", global = true, hide = true)]
    pub state_dir: PathBuf,

    /// Directory of the lock and of the agent's socket
    #[arg(long, env = "LINESMAN_RUN_DIR", default_value = "/run/linesman", global = true, hide = true)]
    pub run_dir: PathBuf,

    /// Time after which NetworkManager rolls back an unfinished change if linesman has died
    #[arg(long, env = "LINESMAN_DEAD_MAN", value_name = "TIME", value_parser = duration, default_value = "10s", global = true, hide = true)]
    pub dead_man: Duration,

    #[command(subcommand)]
    pub verb: Verb,
}

impl Cli {
    pub fn read() -> clap::error::Result<Self> {
        let mut command = without_empty_variables(Self::command());
        let mut matches =
            command.try_get_matches_from_mut(output_directory::accepted(std::env::args_os()))?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }

    pub fn format(&self) -> Format {
        match &self.verb {
            Verb::Show(args) if args.json => Format::Json,
            _ => self.output,
        }
    }
}

/// The output format of a command line that could not be parsed.
pub fn format_in(arguments: impl Iterator<Item = std::ffi::OsString>) -> Format {
    let mut words = arguments.map(|word| word.to_string_lossy().into_owned()).take_while(|word| word != "--");
    let mut format = Format::Text;
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "-o" | "--output" => words.next().unwrap_or_default(),
            joined => {
                let value = ["--output=", "-o=", "-o"].iter().find_map(|option| joined.strip_prefix(option));
                value.unwrap_or_default().to_owned()
            }
        };
        format = Format::from_str(&value, false).unwrap_or(format);
    }
    format
}

/// A variable that is empty is not set: manifests and unit files often set one whether or not somebody chose a value.
fn without_empty_variables(command: Command) -> Command {
    let empty = |arg: &Arg| arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    command
        .mut_args(|arg| if empty(&arg) { arg.env(Resettable::Reset) } else { arg })
        .mut_subcommands(without_empty_variables)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Yaml,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Validate documents offline; needs neither root nor NetworkManager
    ///
    /// Exits with 3 if a document has errors. Run `linesman explain CODE` for details about an error code.
    Check(CheckArgs),
    /// Show what a document would change and whether that affects access to this host
    ///
    /// Makes no changes. Exits with 2 if there are differences.
    Plan(PlanArgs),
    /// Apply a document, verify and probe the result, and roll back on failure
    #[command(visible_alias = "set")]
    Apply(ApplyArgs),
    /// Confirm a pending change
    Commit(CheckpointArgs),
    /// Roll back a pending change
    Rollback(CheckpointArgs),
    /// Print the network state of this host
    Show(ShowArgs),
    /// Draw how interfaces are stacked: NICs, bonds, VLANs, bridges and virtual machines
    Topology(TopologyArgs),
    /// List the changes made on this host and their outcome
    History(HistoryArgs),
    /// Run the agent: apply policies to this host, watch for drift, report or correct it
    ///
    /// Policies come from a cluster, or with --standalone from a directory.
    Agent(AgentArgs),
    /// Run the operator: roll out policies across the nodes of a cluster
    ///
    /// Several replicas may run. The holder of the Lease `linesman-operator` acts; the others stand by.
    Operator(OperatorArgs),
    /// Run the keeper of Open vSwitch: keep its systemd units running, probe them, show their logs
    ///
    /// Enables and starts ovsdb-server and ovs-vswitchd as the distribution ships them, starts them again if they die, and
    /// prints their journal entries on standard output. Nothing else is started or restarted, and stopping the keeper
    /// stops nothing. If Open vSwitch runs in a container or was started by hand, the units are not started.
    OvsKeeper(OvsKeeperArgs),
    /// Show whether this host is in sync with its policies
    ///
    /// Exits with 0 if in sync, progressing or frozen, 1 if degraded, 2 if drifted, 4 if no agent is running.
    Status(StatusArgs),
    /// Show the differences between this host and its policies
    ///
    /// Exits with 2 if there are differences.
    Diff(DiffArgs),
    /// Show which policy set each property of an interface, and whether it is in sync
    Why(WhyArgs),
    /// Retry policies that failed or were rolled back
    Retry(RetryArgs),
    /// Stop the agent from changing this host until `linesman unfreeze`
    Freeze(FreezeArgs),
    /// Let the agent change this host again
    Unfreeze,
    /// Convert the running state, NetworkManager profiles or netplan files to a document
    ///
    /// Settings that cannot be converted are listed on standard error and in comments at the top of the document.
    /// Secrets are never imported. Reading files needs neither root nor NetworkManager.
    Import(ImportArgs),
    /// Generate Ignition configs or MachineConfigs with the network of hosts, before the hosts exist
    ///
    /// Reads `networking.hostConfig[]` of an install-config, `hosts[]` of an agent-config, or a directory of NMState
    /// documents named after their hosts (`HOST.yml`; `cluster.yml` is for hosts without one). Checks everything
    /// first: if anything is wrong, nothing is written. Needs neither root nor NetworkManager. Exits with 3 if a file
    /// has errors.
    Generate(GenerateArgs),
    /// Apply the document that this host was installed with (runs at boot)
    ///
    /// Chooses the document of this host in /etc/nmstate/openshift by its host name or the MAC address of a NIC, and
    /// applies it once, as `linesman apply` does. A document that has changed since is only compared with this host and
    /// reported, unless --on-change says otherwise. Exits with 0 if there is nothing to do.
    Firstboot(FirstbootArgs),
    /// Derive the Open vSwitch bridge br-ex from the running host, and print or apply it
    ///
    /// The interface with the default route becomes the uplink: a NIC, a bond or a VLAN. Its addresses, routes, DNS
    /// and MAC address move to an interface of the bridge's name. Without --apply, the document is printed and no
    /// changes are made.
    Brex(BrexArgs),
    /// Check the prerequisites of linesman on this host
    ///
    /// Exits with 1 if there is a problem.
    Doctor,
    /// Collect diagnostics about this host in an archive, with secrets masked
    Gather(GatherArgs),
    /// Complete or roll back interrupted changes (runs at boot; safe to run at any time)
    Recover(RecoverArgs),
    /// Explain an error code with an example, or list all codes
    Explain(ExplainArgs),
    /// Print the CustomResourceDefinitions to install in a cluster
    ///
    /// Example: linesman crds | kubectl apply --server-side -f -
    Crds(CrdsArgs),
    /// Print the completion script for a shell
    ///
    /// Example: linesman completion bash > /etc/bash_completion.d/linesman
    Completion(CompletionArgs),
    /// Print the manual page, or write the manual pages of all commands
    Man(ManArgs),
}

impl Verb {
    /// The name of a command that can tell nothing true without root. The others find out what they may read.
    pub fn needs_root(&self) -> Option<&'static str> {
        Some(match self {
            Self::Plan(_) => "plan",
            Self::Apply(_) => "apply",
            Self::Commit(_) => "commit",
            Self::Rollback(_) => "rollback",
            Self::Diff(_) => "diff",
            Self::Why(_) => "why",
            Self::Retry(_) => "retry",
            Self::Freeze(_) => "freeze",
            Self::Unfreeze => "unfreeze",
            Self::Import(args) if args.files.is_empty() => "import",
            Self::Firstboot(_) => "firstboot",
            Self::Brex(_) => "brex",
            Self::Doctor => "doctor",
            Self::Gather(_) => "gather",
            Self::Recover(_) => "recover",
            _ => return None,
        })
    }
}

#[derive(Debug, Args)]
pub struct Source {
    /// Documents to read (NMState, NMPolicy or NodeNetworkConfigurationPolicy), or directories of *.yaml, *.yml and
    /// *.json files; `-` for standard input. Several are one change
    #[arg(value_name = "FILE", default_value = "-")]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Do not check for conflicts between the documents (use this if they are for different hosts)
    #[arg(long)]
    pub apart: bool,

    /// Documents to check, or directories of *.yaml, *.yml and *.json files; `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Error code, for example LM0401
    #[arg(add = ArgValueCandidates::new(completion::error_codes))]
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct TopologyArgs {
    /// Show only these interfaces and those above and below them [default: all]
    #[arg(value_name = "INTERFACE", add = ArgValueCandidates::new(completion::interfaces))]
    pub interfaces: Vec<String>,

    /// Write an SVG picture to this file instead; `-` for standard output
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Draw this document or saved `linesman show` output instead of this host; `-` for standard input
    #[arg(short, long, value_name = "STATE")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct OperatorArgs {
    /// Path to the kubeconfig file [default: $KUBECONFIG, or the service account of the Pod]
    #[arg(long, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,

    /// Namespace of the agents and the operator
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", default_value = linesman_api::names::NAMESPACE)]
    pub namespace: String,

    /// Identity of this replica in the Lease [default: host name and process ID]
    #[arg(long, value_name = "NAME")]
    pub identity: Option<String>,

    /// Listen address for /metrics, /healthz and /readyz: ADDRESS:PORT, or `none`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9474")]
    pub listen: String,

    #[command(flatten)]
    pub logging: LogArgs,

    /// Seconds a node has to report after its release, in addition to the policy's patience
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub release_for: u64,
}

#[derive(Debug, Args)]
pub struct CrdsArgs {
    /// Print the ValidatingAdmissionPolicy objects instead (Kubernetes 1.30 or newer)
    #[arg(long)]
    pub admission: bool,

    /// With --admission: namespace of the agents and the operator
    #[arg(long, value_name = "NAME", default_value = linesman_api::names::NAMESPACE, requires = "admission")]
    pub namespace: String,
}

#[derive(Debug, Args)]
pub struct CompletionArgs {
    /// Shell to print the script for
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write linesman.1 and a page for every command to this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub source: Source,

    /// Address that must stay reachable: an address of this host, or of a peer
    #[arg(long, value_name = "ADDRESS")]
    pub protect: Option<IpAddr>,

    /// Reset properties of the declared interfaces that the document omits to their defaults; ports of others
    /// on declared bridges are removed
    #[arg(long)]
    pub override_iface: bool,
}

/// Of `--wait` without a time: the longest that [`duration`] takes.
const LONGEST: &str = "24h";

#[derive(Debug, Args)]
pub struct ApplyArgs {
    #[command(flatten)]
    pub source: Source,

    #[command(flatten)]
    pub change: ChangeArgs,

    /// Return with the change pending; it is rolled back unless `linesman commit` confirms it in time
    #[arg(long, conflicts_with = "try_for")]
    pub no_commit: bool,

    /// With --no-commit: time to wait for `linesman commit` [default: 60s]. Otherwise: time limit of the change
    /// [default: 120s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// Do not verify the state after the change
    #[arg(short = 'n', long)]
    pub no_verify: bool,

    /// Do not save the change to disk; it is lost on reboot
    #[arg(long)]
    pub memory_only: bool,

    /// Reset properties of the declared interfaces that the document omits to their defaults; ports of others
    /// on declared bridges are removed
    #[arg(long)]
    pub override_iface: bool,
}

/// How a change is made, by every command that makes one.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// Roll back after this time unless confirmed with Enter or `linesman commit`
    #[arg(long = "try", value_name = "TIME", value_parser = duration)]
    pub try_for: Option<Duration>,

    /// Time that probes have to pass after the change [default: the policy's patience, or 20s and what the change itself makes slow]
    #[arg(long, value_name = "TIME", value_parser = patience)]
    pub patience: Option<Duration>,

    /// Time that the host has to reach the desired state once NetworkManager is done
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "12s")]
    pub settle: Duration,

    /// Connectivity that must not be lost by the change: gateway, gateway:v6, dns, dns:NAME, tcp:HOST:PORT,
    /// http(s)://…, ping:ADDRESS, each optionally with `,timeout=5s`; may be given more than once
    /// [default: the policy's probes, or gateway and dns]
    #[arg(long = "probe", value_name = "PROBE", conflicts_with = "no_probes")]
    pub probes: Vec<Probe>,

    /// Do not run probes
    #[arg(long)]
    pub no_probes: bool,

    /// Address that must stay reachable: an address of this host, or of a peer
    #[arg(long, value_name = "ADDRESS")]
    pub protect: Option<IpAddr>,

    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Wait while another change is in progress or pending on this host, at most for TIME [default: 24h]
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = LONGEST
    )]
    pub wait: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct CheckpointArgs {
    /// Checkpoint of the change, or its ID in `linesman history` [default: the pending change]
    #[arg(add = ArgValueCandidates::new(completion::changes))]
    pub checkpoint: Option<String>,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Show only this interface
    #[arg(add = ArgValueCandidates::new(completion::interfaces))]
    pub interface: Option<String>,

    /// Show only what the kernel reports
    #[arg(short, long)]
    pub kernel: bool,

    /// Omit what was learned from DHCP, router advertisements and neighbours
    #[arg(short, long)]
    pub running_config: bool,

    /// Do not mask secrets
    #[arg(short, long)]
    pub show_secrets: bool,

    /// Same as `-o json`
    #[arg(long, hide = true)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Show the details of the change with this ID
    #[arg(add = ArgValueCandidates::new(completion::changes))]
    pub id: Option<String>,
}

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Run without a cluster, with the policies in --policy-dir
    #[arg(long)]
    pub standalone: bool,

    /// Directory of policies: NMState documents, one per file, or NodeNetworkConfigurationPolicy manifests (*.yaml,
    /// *.yml, *.json)
    #[arg(long, value_name = "DIR", default_value = "/etc/linesman/policies", requires = "standalone")]
    pub policy_dir: PathBuf,

    /// Time limit of a change, until NetworkManager is done
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "120s")]
    pub timeout: Duration,

    /// Time that the host has to reach the desired state once NetworkManager is done
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "12s")]
    pub settle: Duration,

    /// In a cluster: name of this node
    #[arg(long, value_name = "NAME", env = "NODE_NAME", required_unless_present = "standalone")]
    pub node_name: Option<String>,

    /// In a cluster: path to the kubeconfig file [default: the service account of the Pod]
    #[arg(long, value_name = "FILE", env = "KUBECONFIG", conflicts_with = "standalone")]
    pub kubeconfig: Option<PathBuf>,

    /// In a cluster: namespace of the agents and the operator
    #[arg(
        long,
        value_name = "NAME",
        env = "POD_NAMESPACE",
        default_value = "nmstate",
        conflicts_with = "standalone"
    )]
    pub namespace: String,

    /// In a cluster: globs of interfaces to omit from the NodeNetworkState
    #[arg(
        long,
        value_name = "GLOB",
        env = "INTERFACE_FILTER",
        value_delimiter = ',',
        conflicts_with = "standalone"
    )]
    pub interface_filter: Vec<String>,

    /// In a cluster: lock file; wait while another handler, such as kubernetes-nmstate's, has locked it
    #[arg(
        long,
        value_name = "FILE",
        env = "NMSTATE_INSTANCE_NODE_LOCK_FILE",
        default_value = "/var/k8s_nmstate/handler_lock"
    )]
    pub handler_lock: PathBuf,

    /// Listen address for /metrics, /healthz and /readyz: ADDRESS:PORT, or `none`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9473")]
    pub listen: String,

    #[command(flatten)]
    pub logging: LogArgs,

    /// Name to resolve in DNS probes without a name of their own [default: the DNS root]
    #[arg(long, value_name = "NAME", env = "PROBE_DNS_HOST")]
    pub probe_dns_host: Option<String>,

    /// Before a change, roll back NetworkManager checkpoints of other programs, as kubernetes-nmstate does [default: wait until
    /// these programs have ended them]
    #[arg(long)]
    pub roll_back_checkpoints: bool,
}

#[derive(Debug, Args)]
pub struct OvsKeeperArgs {
    /// Kill and restart a daemon that runs but does not answer [default: only report it]
    #[arg(long)]
    pub restart_hung: bool,

    /// With --restart-hung: time that a daemon may be silent
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub hung_after: Duration,

    /// Do not print the journal entries of Open vSwitch on standard output
    #[arg(long)]
    pub no_logs: bool,

    /// Outside of a cluster: file or directory with settings of Open vSwitch
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/etc/linesman/open-vswitch",
        conflicts_with = "node_name"
    )]
    pub settings: PathBuf,

    /// In a cluster: name of this node, whose NodeOpenVSwitch is written and whose settings are in ConfigMaps
    #[arg(long, value_name = "NAME", env = "NODE_NAME")]
    pub node_name: Option<String>,

    /// In a cluster: path to the kubeconfig file [default: the service account of the Pod]
    #[arg(long, value_name = "FILE", env = "KUBECONFIG")]
    pub kubeconfig: Option<PathBuf>,

    /// In a cluster: namespace of the ConfigMaps with settings
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", default_value = linesman_api::names::NAMESPACE)]
    pub namespace: String,

    /// In a cluster: remove the taint linesman.dev/open-vswitch-not-ready of the node when Open vSwitch is ready
    #[arg(long, requires = "node_name")]
    pub remove_taint: bool,

    /// Listen address for /metrics, /livez and /readyz: ADDRESS:PORT, or `none`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9475")]
    pub listen: String,

    /// Directory of the sockets and PID files of Open vSwitch
    #[arg(long, value_name = "DIR", default_value = "/run/openvswitch", hide = true)]
    pub ovs_run_dir: PathBuf,

    #[command(flatten)]
    pub logging: LogArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct LogArgs {
    /// Format of the log on standard error; RUST_LOG sets the level, for example `info,kube=debug`
    #[arg(long, value_enum, value_name = "FORMAT", env = logging::FORMAT, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Keep running and show the status again whenever it changes; in place on a terminal
    #[arg(short, long)]
    pub watch: bool,

    /// Also show the differences between the policies and the host
    #[arg(short, long)]
    pub diff: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Show only this policy
    #[arg(add = ArgValueCandidates::new(completion::policies))]
    pub policy: Option<String>,
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    /// Interface or one of its properties, for example br1 or br1.ipv4.address
    #[arg(add = ArgValueCandidates::new(completion::interfaces))]
    pub interface: String,
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// Policy to retry [default: all policies that are not in sync]
    #[arg(add = ArgValueCandidates::new(completion::policies))]
    pub policy: Option<String>,
}

#[derive(Debug, Args)]
pub struct FreezeArgs {
    /// Reason, shown in the status
    #[arg(value_name = "REASON")]
    pub reason: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Format of the files [default: detected from their content]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub from: Option<ImportFormat>,

    /// Files or directories to import; `-` for standard input [default: the running state of this host]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// NetworkManager profiles, as in /etc/NetworkManager/system-connections
    Keyfile,
    /// Netplan files, as in /etc/netplan; several files are merged as netplan does
    Netplan,
}

#[derive(Debug, Args)]
pub struct GatherArgs {
    /// File to write the archive to; `-` for standard output [default: linesman-HOST-TIME.tar.gz]
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RecoverArgs {
    /// Restore files only; for use at boot, before NetworkManager starts
    #[arg(long)]
    pub boot: bool,
}

/// No probe can answer in no time.
fn patience(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("no probe can answer in no time; use at least 1s, or --no-probes".into()),
        time => Ok(time),
    }
}

/// `90`, `90s`, `2m`; at most a day, since a clock cannot tell when centuries are over.
pub fn duration(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_secs(86_400);
    let duration = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            humantime::parse_duration(text).map_err(|e| format!("{e}; use for example 90, 90s or 2m"))?
        }
    };
    if duration > LONGEST { Err("the longest time is 24h".into()) } else { Ok(duration) }
}
