//! Nothing outlives the process that made a lab, however it ends.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use linesman_lab::run::{Description, running, sweep};
use linesman_lab::{Cluster, Lab, places};

const PATIENCE: Duration = Duration::from_secs(60);
const OWNER: &str = "LINESMAN_LAB_TEST_OWNER";

/// Not a test by itself: the process that the test below kills.
#[test]
fn owner_to_be_killed() {
    let Ok(name) = std::env::var(OWNER) else { return };
    let lab = Lab::start(&name).unwrap();
    let plain = lab.node("n1").start().unwrap();
    let systemd = lab.node("n2").systemd(true).start().unwrap();
    let _cluster = Cluster::start(&lab).unwrap();
    let _busy = plain.spawn(["sleep", "1000"]).unwrap();
    fs::write(systemd_mark(&name), "").unwrap();
    let _watch = lab.hub().watch(systemd.mgmt_ipv4()).unwrap();
    std::thread::sleep(PATIENCE);
}

fn systemd_mark(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{name}.up"))
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn described(name: &str) -> Option<Description> {
    running().unwrap().into_iter().find(|lab| lab.name == name)
}

/// PIDs of all processes that share a namespace of this kind with one of those.
fn in_namespaces(kind: &str, namespaces: &[u64]) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let inode = |path: &Path| fs::metadata(path.join("ns").join(kind)).map_or(0, |data| data.ino());
    entries.filter(|path| namespaces.contains(&inode(path))).collect()
}

fn namespaces_of(lab: &Description, kind: &str) -> Vec<u64> {
    let nodes = lab.nodes.iter().filter_map(|node| node.init);
    let inits = lab.hub.into_iter().chain(nodes);
    inits.map(|init| fs::metadata(format!("/proc/{}/ns/{kind}", init.pid)).unwrap().ino()).collect()
}

fn cgroups(name: &str) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mount =
        mounts.lines().find(|line| line.contains(" cgroup2 ")).unwrap().split(' ').nth(1).unwrap().to_owned();
    let entries = fs::read_dir(mount).unwrap().filter_map(Result::ok).map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().contains(&format!("linesman-{name}-"))).collect()
}

fn folders(name: &str) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(places::cache().join("run")).unwrap().filter_map(Result::ok).map(|entry| entry.path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(name)).collect()
}

#[test]
fn a_killed_owner_leaves_no_process_and_the_next_start_sweeps_the_rest() {
    let name = format!("killed{}", std::process::id());
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owner_to_be_killed"])
        .env(OWNER, &name)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the owner's lab", || systemd_mark(&name).exists() || owner.try_wait().unwrap().is_some());
    let _ = fs::remove_file(systemd_mark(&name));
    let lab = described(&name).expect("the owner's lab runs");
    let (pids, nets) = (namespaces_of(&lab, "pid"), namespaces_of(&lab, "net"));
    assert_eq!(nets.len(), 3);
    assert!(in_namespaces("pid", &pids).len() > 10);
    assert_eq!(cgroups(&name).len(), 1);

    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_for("all its processes to end", || in_namespaces("pid", &pids).is_empty());
    assert!(in_namespaces("net", &nets).is_empty());
    assert!(!fs::read_to_string("/proc/self/mounts").unwrap().contains(&name));
    assert!(described(&name).is_none());

    drop(Lab::start("after-a-killed-one").unwrap());
    assert!(folders(&name).is_empty());
    assert!(cgroups(&name).is_empty());
}

#[test]
fn a_panic_cleans_up_like_any_other_end() {
    let name = format!("panic{}", std::process::id());
    let inner = name.clone();
    let panicked = std::thread::spawn(move || {
        let lab = Lab::start(&inner).unwrap();
        let _node = lab.node("n1").start().unwrap();
        panic!("as tests do");
    });
    assert!(panicked.join().is_err());
    assert!(folders(&name).is_empty());
}

#[test]
fn a_lab_outlives_the_thread_that_made_it_and_its_own_nodes_outlive_nothing() {
    let name = format!("moved{}", std::process::id());
    let inner = name.clone();
    let (lab, node) = std::thread::spawn(move || {
        let lab = Lab::start(&inner).unwrap();
        let node = lab.node("n1").start().unwrap();
        (lab, node)
    })
    .join()
    .unwrap();
    node.run(["true"]).unwrap();
    assert!(!sweep().unwrap().iter().any(|swept| swept.starts_with(&name)), "a living lab was swept");
    let busy = node.spawn(["sleep", "1000"]).unwrap();
    drop(lab);
    assert!(!busy.wait().unwrap().success());
    assert!(node.run(["true"]).is_err());
    assert!(folders(&name).is_empty());
}

/// Each start looks for what dead labs left, and finds folders that others are just removing.
#[test]
fn labs_start_while_others_end() {
    let ends = || {
        for _ in 0..8 {
            drop(Lab::start("comes-and-goes").expect("the lab starts"));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(ends);
        }
    });
}
