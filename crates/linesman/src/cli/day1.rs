//! Arguments of the commands that install hosts.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use super::{ChangeArgs, duration, patience};
use crate::verbs::completion;

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// What to generate
    #[arg(long = "as", value_enum, value_name = "FORM", default_value_t = GeneratedForm::Ignition)]
    pub form: GeneratedForm,

    /// Directory to write to; only files that were generated before are replaced or removed [default: write nothing,
    /// list the files]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// With --as machine-config: role of hosts that state none, and roles that get the cluster-wide document; may be
    /// given more than once [default for the cluster-wide document: master and worker]
    #[arg(long = "role", value_name = "ROLE", value_parser = role)]
    pub roles: Vec<String>,

    /// Version of Ignition's specification
    #[arg(long, value_enum, value_name = "VERSION", default_value_t = IgnitionVersion::V3_2)]
    pub ignition_version: IgnitionVersion,

    /// Files of one cluster, or directories of *.yaml and *.yml files; `-` for standard input. Several install-configs
    /// are several clusters, each written to a directory of its own below DIR
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GeneratedForm {
    /// One Ignition config per host
    Ignition,
    /// One MachineConfig per role with the documents of its hosts, and a policy that spares nodes a reboot
    MachineConfig,
    /// The documents as files for /etc/nmstate/openshift
    Files,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IgnitionVersion {
    #[value(name = "3.2.0")]
    V3_2,
    #[value(name = "3.3.0")]
    V3_3,
    #[value(name = "3.4.0")]
    V3_4,
    #[value(name = "3.5.0")]
    V3_5,
}

fn role(text: &str) -> Result<String, String> {
    match linesman_day1::is_role(text) {
        true => Ok(text.to_owned()),
        false => Err("use master, worker, arbiter, or the name of a machine config pool".into()),
    }
}

#[derive(Debug, Args)]
#[command(mut_group("ChangeArgs", |group| group.requires("apply")))]
pub struct BrexArgs {
    /// Uplink of the bridge: a NIC, a bond or a VLAN [default: the one that an earlier run or configure-ovs chose, while it
    /// has a default route; otherwise that of the default route with the lowest metric, IPv4 before IPv6]
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(completion::interfaces))]
    pub interface: Option<String>,

    /// Bridge to create
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BridgeName::BrEx)]
    pub bridge: BridgeName,

    /// Apply the document instead of printing it: verify and probe the result, and roll back on failure
    #[arg(long)]
    pub apply: bool,

    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BridgeName {
    /// The bridge of OVN-Kubernetes; its default route has metric 48
    #[value(name = "br-ex")]
    BrEx,
    /// A second bridge; its default route has metric 49
    #[value(name = "br-ex1")]
    BrEx1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChangePolicy {
    /// Compare it with this host and report what differs
    Report,
    /// Apply it at the next boot
    Boot,
    /// Apply it at once
    Live,
}

#[derive(Debug, Args)]
pub struct FirstbootArgs {
    /// Directory of the documents and of hosts.json
    #[arg(long, value_name = "DIR", default_value = linesman_day1::generate::DIRECTORY)]
    pub dir: PathBuf,

    /// What to do with a document that has changed since it was applied [env: LINESMAN_ON_CHANGE] [default: report]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub on_change: Option<ChangePolicy>,

    /// If the document cannot be applied, let configure-ovs configure this host [env: LINESMAN_FALL_BACK]
    #[arg(long)]
    pub fall_back: bool,

    /// Time to wait for NICs, for a host name, or for another change to end [env: LINESMAN_WAIT] [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub wait: Option<Duration>,

    /// Time that probes have to pass after the change [default: 20s and what the change itself makes slow]
    #[arg(long, value_name = "TIME", value_parser = patience)]
    pub patience: Option<Duration>,

    /// The documents have changed on a running host
    #[arg(long)]
    pub files_changed: bool,

    /// Show which document would be chosen, why, and what would be done with it; make no changes
    #[arg(long)]
    pub dry_run: bool,
}
