//! Daemons of Open vSwitch that belong to no unit of the host: in a container, or started by hand.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::observed::Unit;

/// A process with the name of a daemon of Open vSwitch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    pub cgroup: String,
    /// Whether it is in the network namespace of the host; None if that cannot be read.
    #[serde(default)]
    pub host_network: Option<bool>,
    /// Whether it serves (or uses) the database of the host, as far as its command line tells.
    #[serde(default)]
    pub host_database: bool,
    /// Whether it could be a switch at all: anybody may call a process so.
    #[serde(default = "yes")]
    pub privileged: bool,
}

/// What /proc says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processes {
    pub found: Vec<Process>,
    /// PID 1 is not systemd: these are the processes of a container.
    pub hidden: bool,
}

impl Processes {
    pub fn read(proc: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(proc.join(path)).unwrap_or_default();
        let network = |pid: &str| Some(fs::metadata(proc.join(pid).join("ns/net")).ok()?.ino());
        let host = network("1");
        let users = |pid: &str| Some(fs::metadata(proc.join(pid).join("ns/user")).ok()?.ino());
        let users_of_host = users("1");
        let names = Unit::DAEMONS.map(|unit| unit.process().unwrap_or_default());
        let mut found = Vec::new();
        for entry in fs::read_dir(proc).into_iter().flatten().flatten() {
            let file_name = entry.file_name();
            let Some((pid, number)) = file_name.to_str().and_then(|pid| Some((pid, pid.parse().ok()?)))
            else {
                continue;
            };
            let name = text(&format!("{pid}/comm")).trim().to_owned();
            if !names.contains(&name.as_str()) || is_dead(&text(&format!("{pid}/stat"))) {
                continue;
            }
            let command = text(&format!("{pid}/cmdline"));
            found.push(Process {
                pid: number,
                name,
                cgroup: cgroup(&text(&format!("{pid}/cgroup"))),
                host_network: network(pid).zip(host).map(|(its, host)| its == host),
                host_database: command.split('\0').any(|word| word.contains("openvswitch/db.sock")),
                privileged: is_privileged(
                    &text(&format!("{pid}/status")),
                    users(pid).zip(users_of_host).is_none_or(|(its, host)| its == host),
                ),
            });
        }
        found.sort_by_key(|process| process.pid);
        Self { found, hidden: text("1/comm").trim() != "systemd" }
    }

    /// An ovs-vswitchd in a network of its own is somebody's test bed, and an ovsdb-server without the database of the host
    /// serves other databases: OVN's, for example.
    pub fn foreign(self) -> Vec<Process> {
        let competes = |process: &Process| {
            let may_be_of_host = process.host_network != Some(false);
            let is_switch = Some(process.name.as_str()) == Unit::OvsVswitchd.process();
            may_be_of_host
                && process.privileged
                && (is_switch || process.host_database)
                && !is_of_unit(&process.cgroup)
        };
        self.found.into_iter().filter(competes).collect()
    }
}

fn yes() -> bool {
    true
}

/// Root of the host, or who may administer its network: only they can have a datapath or the host's database. What cannot be read
/// may be.
fn is_privileged(status: &str, of_host: bool) -> bool {
    const NET_ADMIN: u64 = 1 << 12;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    let is_root = field("Uid:").map(|ids| ids.split_whitespace().nth(1) == Some("0"));
    let may = field("CapEff:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match (is_root, may) {
        (Some(false), Some(may)) => of_host && may & NET_ADMIN != 0,
        _ => true,
    }
}

/// A zombie serves nobody.
fn is_dead(stat: &str) -> bool {
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    matches!(state, Some("Z" | "X"))
}

/// The path in the unified hierarchy, or in systemd's own where there are several.
fn cgroup(text: &str) -> String {
    let paths = text.lines().filter_map(|line| {
        let (hierarchy, path) = line.split_once(':')?.1.split_once(':')?;
        matches!(hierarchy, "" | "name=systemd").then_some(path)
    });
    paths.max_by_key(|path| path.len()).unwrap_or("unknown").to_owned()
}

fn is_of_unit(cgroup: &str) -> bool {
    cgroup.split('/').any(|part| Unit::ALL.iter().any(|unit| unit.name() == part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(name: &str, cgroup: &str) -> Process {
        Process {
            pid: 7,
            name: name.into(),
            cgroup: cgroup.into(),
            host_network: Some(true),
            host_database: false,
            privileged: true,
        }
    }

    fn is_foreign(process: Process) -> bool {
        !Processes { found: vec![process], hidden: false }.foreign().is_empty()
    }

    #[test]
    fn what_no_unit_of_the_host_runs_is_foreign() {
        let pod = "/kubepods.slice/kubepods-pod7.slice/cri-containerd-ab.scope";
        assert!(!is_foreign(process("ovs-vswitchd", "/system.slice/ovs-vswitchd.service")));
        assert!(!is_foreign(process("ovs-vswitchd", "/../../ovs.slice/ovs-vswitchd.service")));
        assert!(is_foreign(process("ovs-vswitchd", pod)));
        assert!(is_foreign(Process { host_network: None, ..process("ovs-vswitchd", pod) }));
        assert!(!is_foreign(Process { host_network: Some(false), ..process("ovs-vswitchd", pod) }));
        assert!(!is_foreign(process("ovsdb-server", pod)), "OVN's databases");
        assert!(
            !is_foreign(Process { privileged: false, ..process("ovs-vswitchd", pod) }),
            "anybody's process"
        );
        assert!(is_foreign(Process { host_database: true, ..process("ovsdb-server", pod) }));
    }

    #[test]
    fn only_who_may_administer_the_network_is_a_switch() {
        let status = |uid: u32, caps: &str| format!("Name:\tx\nUid:\t0\t{uid}\t0\t0\nCapEff:\t{caps}\n");
        assert!(is_privileged(&status(0, "0000000000000000"), true));
        assert!(!is_privileged(&status(65534, "0000000000000000"), true));
        assert!(is_privileged(&status(992, "0000000000001000"), true), "user openvswitch");
        assert!(!is_privileged(&status(992, "000001ffffffffff"), false), "in a user namespace of its own");
        assert!(is_privileged("", true), "unknown");
    }

    #[test]
    fn a_cgroup_is_found_in_either_hierarchy() {
        assert_eq!(cgroup("0::/system.slice/a.service\n"), "/system.slice/a.service");
        assert_eq!(
            cgroup("5:memory:/x\n1:name=systemd:/system.slice/a.service\n0::/\n"),
            "/system.slice/a.service"
        );
        assert_eq!(cgroup(""), "unknown");
    }

    #[test]
    fn the_processes_of_this_machine_can_be_read() {
        let proc = Processes::read(Path::new("/proc"));
        assert!(proc.found.iter().all(|process| process.pid > 0));
        assert!(is_dead("7 (a) b) Z 1 1") && !is_dead("7 (a) S 1 1"));
    }
}
