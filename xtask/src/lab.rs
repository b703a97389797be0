//! `cargo xtask lab`: the lab on the command line.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use clap::Subcommand;
use linesman_lab::Kubernetes;
use linesman_lab::by_hand::{self, LabOptions};
use linesman_lab::progress::step;
use linesman_lab::run::{Description, NodeDescription};

use crate::build;

type Done = Result<ExitCode, Box<dyn Error>>;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Start a lab: nodes n1 to nN with a static address each, and a hub that reaches them
    Up(Up),
    /// Run a command on a node; a shell if none is given
    Exec {
        node: String,
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Show the nodes and whether they are reachable
    Status,
    /// Stop the lab and remove everything that it created
    Down,
    /// The process that owns the lab (started by `up`)
    #[command(hide = true)]
    Own(Up),
}

#[derive(Debug, clap::Args)]
pub struct Up {
    /// Number of nodes
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32))]
    nodes: u8,
    /// Run systemd as PID 1 of every node
    #[arg(long)]
    systemd: bool,
    /// Make every node a virtual machine with a kernel of its own (bonds, VLANs, VRFs, Open vSwitch's datapath)
    #[arg(long)]
    vm: bool,
    /// Also start a Kubernetes control plane, the agents and the operator
    #[arg(long)]
    cluster: bool,
    /// Use the linesman binary that is already built, if there is one
    #[arg(long)]
    no_build: bool,
}

pub fn run(verb: Verb) -> Done {
    match verb {
        Verb::Up(up) => start(&up),
        Verb::Exec { node, command } => exec(&node, &command),
        Verb::Status => status(),
        Verb::Down => end(),
        Verb::Own(up) => own(&up),
    }
}

const READY: &str = "ready";

fn start(up: &Up) -> Done {
    if let Some(lab) = by_hand::find()? {
        return Err(format!(
            "a lab with {} node(s) is already up: end it with `cargo xtask lab down`",
            lab.nodes.len()
        )
        .into());
    }
    linesman_lab::setup()?;
    if !up.no_build {
        build::linesman()?;
    }
    if up.cluster {
        Kubernetes::ensure()?;
    }
    if up.vm {
        linesman_lab::setup_vms()?;
    }
    step(&format!("starting {} node(s)", up.nodes));
    wait_ready(start_owner(up)?)?;
    let lab = by_hand::find()?.ok_or("the lab ended as soon as it was up")?;
    welcome(&lab, up.cluster)
}

/// It says on standard output how far it is; what goes wrong later is in its log.
fn start_owner(up: &Up) -> Result<Child, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["lab", "own", "--nodes", &up.nodes.to_string()]);
    if up.systemd {
        command.arg("--systemd");
    }
    if up.vm {
        command.arg("--vm");
    }
    if up.cluster {
        command.arg("--cluster");
    }
    let log = File::create(by_hand::log())?;
    Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn()?)
}

fn wait_ready(mut owner: Child) -> Result<(), Box<dyn Error>> {
    let stdout = owner.stdout.take().ok_or("the owner has no output")?;
    for line in BufReader::new(stdout).lines() {
        match line? {
            line if line == READY => return Ok(()),
            line => step(&line),
        }
    }
    owner.wait()?;
    let log = std::fs::read_to_string(by_hand::log()).unwrap_or_default();
    Err(format!("the lab did not start\n{}", log.trim_start_matches("error: ").trim_end()).into())
}

fn own(up: &Up) -> Done {
    let binary = by_hand::built_beside(&std::env::current_exe()?, "linesman");
    let cluster = up.cluster.then(build::deploy);
    let options = LabOptions { nodes: up.nodes, systemd: up.systemd, vm: up.vm, binary, cluster };
    // Nobody reads any more once it is up, and that must not end the lab.
    let say = |line: &str| _ = writeln!(std::io::stdout(), "{line}");
    by_hand::own(&options, say, || say(READY))?;
    Ok(ExitCode::SUCCESS)
}

fn welcome(lab: &Description, cluster: bool) -> Done {
    println!("The lab is up:");
    for node in &lab.nodes {
        println!("  {:<6} {:<12} {}", node.name, node.ipv4.to_string(), node.ipv6);
    }
    println!(
        "\nTry:\n  cargo xtask lab exec n1 -- nmcli device\n  cargo xtask lab exec n1              (a shell)\n  \
         cargo xtask lab status\n  cargo xtask lab down"
    );
    if cluster {
        welcome_to_cluster()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn welcome_to_cluster() -> Result<(), Box<dyn Error>> {
    let kubectl = Kubernetes::ensure()?.program("kubectl");
    let programs = kubectl.parent().unwrap_or(&kubectl).display();
    println!("\nThe cluster:\n  export KUBECONFIG={}", by_hand::kubeconfig().display());
    println!("  export PATH=$PATH:{programs}   (if you have no kubectl of your own)");
    println!("  kubectl get nodes,nncp,nnce,nns");
    println!("  tail {}   (the operator)", by_hand::operator_log().display());
    println!("  cargo xtask lab exec n1 -- tail /var/log/linesman.log   (an agent)");
    Ok(())
}

fn the_lab() -> Result<Description, Box<dyn Error>> {
    Ok(by_hand::find()?.ok_or("no lab is up: start one with `cargo xtask lab up --nodes 3`")?)
}

fn exec(node: &str, command: &[String]) -> Done {
    let shell = ["bash".to_owned()];
    let words = if command.is_empty() { &shell } else { command };
    let status = by_hand::command(&the_lab()?, node, words)?.interactive()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn status() -> Done {
    let Some(lab) = by_hand::find()? else {
        println!("No lab is up. Start one with `cargo xtask lab up --nodes 3`.");
        return Ok(ExitCode::SUCCESS);
    };
    let hub = lab.hub()?;
    println!(
        "{:<6} {:<12} {:<10} {:<10} {:<20} {:<8} UP FOR",
        "NODE", "ADDRESS", "ADDRESS", "REACHABLE", "NETWORKMANAGER", "OVS"
    );
    for node in &lab.nodes {
        let reachable = if hub.ping(node.ipv4) { "yes" } else { "no" };
        let manager = ask(node, &["nmcli", "-g", "STATE", "general"]);
        let ovs = ask(node, &["ovs-appctl", "-t", "ovs-vswitchd", "version"]);
        let ovs = ovs.lines().next().and_then(|line| line.split(' ').next_back()).unwrap_or("-");
        let age = node.init.map_or("off".into(), |init| readable(init.age()));
        println!(
            "{:<6} {:<12} {:<10} {:<10} {:<20} {:<8} {age}",
            node.name,
            node.ipv4.to_string(),
            node.ipv6.to_string(),
            reachable,
            manager,
            ovs
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// "-" if there is no answer within seconds: `lab status` must not hang.
fn ask(node: &NodeDescription, words: &[&str]) -> String {
    let output = node.command(words).and_then(|command| command.limit(Duration::from_secs(5)).output());
    match output {
        Ok(output) if output.success() => output.stdout.trim().to_owned(),
        _ => "-".into(),
    }
}

fn readable(age: Duration) -> String {
    let seconds = age.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn end() -> Done {
    println!("{}", if by_hand::end()? { "The lab is down." } else { "No lab was up." });
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_well() {
        assert_eq!(readable(Duration::from_secs(9)), "9 s");
        assert_eq!(readable(Duration::from_secs(69)), "1 min 9 s");
        assert_eq!(readable(Duration::from_secs(3 * 3600 + 61)), "3 h 1 min");
    }
}
