//! The agent: at rest, how soon it knows of a change, how soon a policy is committed.

use std::time::{Duration, Instant};

use linesman_lab::{Lab, Node, Running};

use crate::report::{BenchReport, median};
use crate::{Fallible, bed, states};

const ROUNDS: usize = 9;
const REST: Duration = Duration::from_secs(60);
const POLICIES: &str = "/etc/linesman/policies";

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let kept = Kept::start("bench-agent", 20)?;
    at_rest(&kept, report)?;
    knowing(&kept, 20, 0.5, report)?;
    drop(kept);
    let kept = Kept::start("bench-policy", 0)?;
    committed(&kept, report)?;
    drop(kept);
    let kept = Kept::start("bench-200", 200)?;
    knowing(&kept, 200, 1.0, report)
}

/// A node whose agent keeps one bridge among `interfaces`.
struct Kept {
    watch: Running,
    agent: Running,
    node: Node,
    _lab: Lab,
}

impl Kept {
    fn start(name: &str, interfaces: usize) -> Fallible<Self> {
        let (lab, node) = bed(name)?;
        let others = format!("for n in $(seq {interfaces}); do ip link add other$n type bridge; done");
        node.sh(&others)?;
        node.run(["mkdir", "-p", POLICIES])?;
        write_policy(&node, 1400)?;
        let agent = node.spawn(["linesman", "agent", "--standalone"])?;
        wait("the agent", || node.exists("/run/linesman/agent.sock").unwrap_or(false))?;
        let watch = node.spawn(["linesman", "status", "--watch", "-o", "json"])?;
        wait("the policy", || last_phase(&watch) == Some("in-sync"))?;
        Ok(Self { watch, agent, node, _lab: lab })
    }

    /// Seconds until the agent says so.
    fn until(&self, phase: &str) -> Fallible<f64> {
        let start = Instant::now();
        wait(phase, || last_phase(&self.watch) == Some(phase))?;
        Ok(start.elapsed().as_secs_f64())
    }
}

fn write_policy(node: &Node, mtu: u32) -> Fallible<()> {
    let text = format!(
        "interfaces:\n- {{name: br0, type: linux-bridge, state: up, mtu: {mtu}, ipv4: {{enabled: false}}, bridge: {{port: []}}}}\n"
    );
    node.write_file(format!("{POLICIES}/.bench"), text, 0o600)?;
    node.run(["mv", &format!("{POLICIES}/.bench"), &format!("{POLICIES}/bench.yaml")])?;
    Ok(())
}

/// The last phase that the watch printed.
fn last_phase(watch: &Running) -> Option<&'static str> {
    let text = watch.stdout();
    let last = text.rfind("\"phase\": \"")?;
    let word = text.get(last + 10..)?;
    ["in-sync", "drifted", "pending", "rolled-back"].into_iter().find(|phase| word.starts_with(phase))
}

pub fn wait(what: &str, holds: impl Fn() -> bool) -> Fallible<()> {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !holds() {
        if Instant::now() > deadline {
            return Err(format!("{what}: not within 90 s").into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn at_rest(kept: &Kept, report: &mut BenchReport) -> Fallible<()> {
    let pid = kept.agent.pid().ok_or("the agent is not on a node in namespaces")?;
    // What starting up set in motion comes to rest first.
    std::thread::sleep(Duration::from_secs(15));
    let before = ticks(pid)?;
    std::thread::sleep(REST);
    let used = (ticks(pid)? - before) / REST.as_secs_f64();
    eprintln!("............ at rest");
    report.row("agent at rest (20 interfaces): resident", megabytes(pid, "Rss:")?, "MB", None, 24.0);
    report.row("agent at rest (20 interfaces): anonymous", megabytes(pid, "Anonymous:")?, "MB", None, 10.0);
    // In hundredths of a second per second: per cent of a core.
    report.row("agent at rest over a minute: of a core", used, "%", None, 0.1);
    Ok(())
}

/// Megabytes of memory, by a line of the kernel's summary.
pub fn megabytes(pid: u32, key: &str) -> Fallible<f64> {
    let smaps = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line =
        smaps.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse::<f64>().ok());
    Ok(line.unwrap_or(f64::NAN) / 1024.0)
}

/// Processor time so far, in hundredths of a second.
fn ticks(pid: u32) -> Fallible<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after = stat.rsplit_once(')').ok_or("no name in stat")?.1;
    let field = |n: usize| after.split_whitespace().nth(n).and_then(|v| v.parse::<f64>().ok()).unwrap_or(0.0);
    Ok(field(11) + field(12))
}

fn knowing(kept: &Kept, interfaces: usize, goal: f64, report: &mut BenchReport) -> Fallible<()> {
    let mut seconds = Vec::new();
    for _ in 0..ROUNDS {
        kept.node.run(["ip", "link", "set", "br0", "mtu", "1300"])?;
        seconds.push(kept.until("drifted")?);
        kept.node.run(["ip", "link", "set", "br0", "mtu", "1400"])?;
        kept.until("in-sync")?;
        eprint!(".");
    }
    eprintln!(" known, {interfaces} interfaces");
    let name = format!("manual change observed, {interfaces} interfaces");
    report.row(name, median(seconds), "s", None, goal);
    Ok(())
}

/// A new bridge with an address, against nmstate's own apply of the same state.
fn committed(kept: &Kept, report: &mut BenchReport) -> Fallible<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let node = &kept.node;
    let (hidden, file) = (format!("{POLICIES}/.bench"), format!("{POLICIES}/round.yaml"));
    for _ in 0..ROUNDS {
        node.write_file(&hidden, manifest(&states::bridges(1).replace("br0", "br9")), 0o600)?;
        let printed = kept.watch.stdout().len();
        let start = Instant::now();
        node.run(["mv", &hidden, &file])?;
        wait("the policy", || {
            let text = kept.watch.stdout();
            text.get(printed..).is_some_and(|new| new.contains("pending"))
                && last_phase(&kept.watch) == Some("in-sync")
        })?;
        ours.push(start.elapsed().as_secs_f64() * 1e3);
        node.run(["rm", &file])?;
        wait("the revert", || !node.exists("/sys/class/net/br9").unwrap_or(true))?;
        kept.until("in-sync")?;
        node.write_file("/root/peer.yaml", states::bridges(1).replace("br0", "br9"), 0o600)?;
        let start = Instant::now();
        node.run(["linesman-bench", "incumbent", "apply", "/root/peer.yaml"])?;
        theirs.push(start.elapsed().as_secs_f64() * 1e3);
        node.write_file("/root/peer.yaml", states::no_bridges(1).replace("br0", "br9"), 0o600)?;
        node.run(["linesman-bench", "incumbent", "apply", "/root/peer.yaml"])?;
        eprint!(".");
    }
    eprintln!(" committed");
    report.row("policy file written to committed, one bridge", median(ours), "ms", Some(median(theirs)), 0.5);
    Ok(())
}

/// A policy named after those that are there already, so that its phase is printed last.
fn manifest(state: &str) -> String {
    let indented: String = state.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {{name: round}}\nspec:\n  \
         onDelete: Revert\n  desiredState:\n{indented}"
    )
}
