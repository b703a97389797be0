//! `make demo`: the main job on a fresh machine, no cluster, watched from outside.

mod agent;
mod day1;
pub mod show;

use std::time::{Duration, Instant};

use linesman_lab::{Lab, Node, documents};
use show::Show;

use crate::build::{self, Fallible};

const BRIDGE: &str = include_str!("../../examples/linux-bridge.yaml");

pub fn run() -> Fallible<()> {
    let show = Show::new();
    linesman_lab::setup()?;
    let binary = build::linesman()?;
    show.title("A lab: one node and a hub that watches it from outside");
    show.say("Namespaces on this machine with real NetworkManager, D-Bus and Open vSwitch. The network of this machine is not changed.");
    let start = Instant::now();
    let lab = Lab::start("demo")?;
    let node = lab.node("n1").nics(3).binary(&binary).start()?;
    node.configure_static()?;
    show.say(&format!("n1 is up at {} after {:.1} s.", node.mgmt_ipv4(), start.elapsed().as_secs_f64()));

    state(&show, &node)?;
    bridge(&show, &node)?;
    br_ex(&show, &lab, &node)?;
    cut_off(&show, &lab, &node)?;
    killed(&show, &lab, &node)?;
    agent::run_agent(&show, &node)?;

    show.title("What happened on this host");
    show.command(&node, &["linesman", "history"], 0)?;
    let new = lab.node("master-0").nics(2).binary(&binary).start()?;
    new.configure_static()?;
    day1::run(&show, &lab, &new)?;
    show.title("Done. What to try next");
    show.say(
        "cargo xtask lab up --nodes 3          a lab of your own (--cluster: in a Kubernetes cluster); then",
    );
    show.say("cargo xtask lab exec n1 -- bash       a root shell on a node");
    show.say("docs/howto/run-the-agent.md           what the agent does with your policies");
    show.say("docs/tutorial.md                      the same by hand, in a quarter of an hour");
    show.say("make test, make bench                 the tests and benchmarks behind this demo");
    Ok(())
}

fn state(show: &Show, node: &Node) -> Fallible<()> {
    show.title("1. The state of a node");
    show.say("eth0 carries the node's own path: its address, its default route, its DNS.");
    show.command(
        node,
        &["sh", "-c", "linesman show eth0 -o yaml | sed -n '/^routes:/,/^interfaces:/p'; ip -brief address"],
        0,
    )
}

fn bridge(show: &Show, node: &Node) -> Fallible<()> {
    show.title(
        "2. A change, planned and applied: a bridge with an address over a free NIC, and a route behind it",
    );
    let document = format!(
        "{BRIDGE}routes:\n  config:\n  - {{destination: 192.0.2.0/24, next-hop-address: 10.20.1.254, next-hop-interface: br1}}\n"
    );
    node.write_file("/root/bridge.yaml", document, 0o644)?;
    show.say("`plan` makes no changes. It exits with 2 because there are differences.");
    show.command(node, &["linesman", "plan", "/root/bridge.yaml"], 2)?;
    show.command(node, &["linesman", "apply", "/root/bridge.yaml"], 0)?;
    show.say("Once more: the host is already in the desired state, so no changes are made and no profile is activated.");
    show.command(node, &["linesman", "apply", "/root/bridge.yaml"], 0)
}

fn br_ex(show: &Show, lab: &Lab, node: &Node) -> Fallible<()> {
    show.title("3. br-ex takes eth0 over, with the node's own address");
    show.say(
        "The change affects the path by which the node is reached. The hub pings it ten times a second.",
    );
    node.write_file("/root/br-ex.yaml", documents::br_ex(node), 0o644)?;
    let watch = lab.hub().watch(node.mgmt_ipv4())?;
    show.command(node, &["linesman", "apply", "/root/br-ex.yaml"], 0)?;
    lab.hub().wait_reachable(node.mgmt_ipv4(), Duration::from_secs(30))?;
    show.seen(watch);
    show.command(node, &["ovs-vsctl", "--columns=name,type", "find", "Interface", "type!=\"\""], 0)
}

fn cut_off(show: &Show, lab: &Lab, node: &Node) -> Fallible<()> {
    show.title("4. A state that cuts the node off");
    show.say(
        "A wrong address on br-ex: the document is valid, but the gateway no longer answers. The probes have 5 s to pass:",
    );
    node.write_file("/root/wrong.yaml", documents::cut_off("br-ex", "ovs-interface"), 0o644)?;
    let watch = lab.hub().watch(node.mgmt_ipv4())?;
    show.command(node, &["linesman", "apply", "/root/wrong.yaml", "--patience", "5s"], 5)?;
    lab.hub().wait_reachable(node.mgmt_ipv4(), Duration::from_secs(30))?;
    show.seen(watch);
    Ok(())
}

fn killed(show: &Show, lab: &Lab, node: &Node) -> Fallible<()> {
    show.title("5. The same, and linesman itself is killed in the middle (kill -9)");
    show.prompt(node, &["linesman", "apply", "/root/wrong.yaml"]);
    let watch = lab.hub().watch(node.mgmt_ipv4())?;
    let apply = node.spawn(["linesman", "apply", "/root/wrong.yaml"])?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while !apply.stdout().contains("probing") && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    lab.hub().wait_unreachable(node.mgmt_ipv4(), Duration::from_secs(20))?;
    apply.kill()?;
    show.print(&apply.stdout());
    show.say(
        "linesman was killed. The timer of NetworkManager's checkpoint is no longer extended, so NetworkManager rolls back.",
    );
    let start = Instant::now();
    lab.hub().wait_reachable(node.mgmt_ipv4(), Duration::from_secs(60))?;
    show.say(&format!("Reachable again after {:.1} s.", start.elapsed().as_secs_f64()));
    show.seen(watch);
    show.say("`linesman recover` restores what NetworkManager's checkpoint does not cover; `linesman apply` and the agent do the same:");
    show.command(node, &["linesman", "recover"], 0)
}
