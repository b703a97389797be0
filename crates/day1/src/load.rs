//! From files to a cluster with nothing wrong in it.

use linesman_core::check::Schema;
use linesman_core::codes::day1::NO_HOSTS;
use linesman_core::document::tree;

use crate::check::check;
use crate::cluster::{Checked, Cluster};
use crate::cursor::Cursor;
use crate::fault::{Fault, in_order};
use crate::input::{Input, InputKind};
use crate::place::Place;
use crate::{agent_config, host_file, install_config};

/// Reads the files of one cluster, or says everything that is wrong with them.
pub fn load(inputs: &[Input], schema: Schema<'_>) -> Result<Checked, Vec<Fault>> {
    let mut cluster = Cluster { needs_br_ex: true, ..Cluster::default() };
    let mut faults: Vec<Fault> =
        inputs.iter().enumerate().flat_map(|(file, input)| read(file, input, &mut cluster)).collect();
    cluster.complete();
    faults.extend(check(&cluster, schema));
    if faults.is_empty() && cluster.hosts.is_empty() && !cluster.has_cluster_wide() {
        faults.push(no_hosts());
    }
    if faults.is_empty() { Ok(Checked(cluster)) } else { Err(in_order(faults)) }
}

fn read(file: usize, input: &Input, cluster: &mut Cluster) -> Vec<Fault> {
    let root = match tree(&input.text) {
        Ok(root) => root,
        Err(found) => return found.into_iter().map(|diagnostic| Fault::new(file, diagnostic)).collect(),
    };
    let cursor = Cursor::root(file, input, &root);
    match InputKind::of(&root) {
        InputKind::InstallConfig => install_config::read(&cursor, cluster),
        InputKind::AgentConfig => agent_config::read(&cursor, cluster),
        InputKind::HostFile => host_file::read(&cursor, input.stem(), cluster),
    }
}

fn no_hosts() -> Fault {
    let hint = "list hosts under 'networking.hostConfig' of an install-config or 'hosts' of an agent-config";
    Place::file_name(0).fault(NO_HOSTS, "no network configuration of any host", hint)
}
