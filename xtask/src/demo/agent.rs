//! The part of the demo with the agent and its directory of policies.

use std::time::{Duration, Instant};

use linesman_lab::{Node, Running, Signal};
use serde_json::Value;

use super::{BRIDGE, Show};
use crate::build::Fallible;

const POLICIES: &str = "/etc/linesman/policies";

pub fn run_agent(show: &Show, node: &Node) -> Fallible<()> {
    show.title("6. The agent applies a directory of policies");
    show.say(
        "Two files: br1 from above, with drift corrected, and a new br2, which is removed with its policy.",
    );
    write(node, "office", &manifest("office", "drift: Correct", BRIDGE))?;
    write(node, "guests", &manifest("guests", "onDelete: Revert", GUESTS))?;
    show.prompt(node, &["linesman", "agent", "--standalone", "&"]);
    let agent = node.spawn(["linesman", "agent", "--standalone"])?;
    let mut printed = 0;
    wait(node, "both policies are in sync", |status| in_sync(status) == 2)?;
    printed = print_log(show, &agent, printed);
    show.say("br1 was already in the desired state, so only br2 was created.");
    show.command(node, &["linesman", "status"], 0)?;
    drifted(show, node)?;
    printed = print_log(show, &agent, printed);
    show.command(node, &["cat", "/sys/class/net/br1/mtu"], 0)?;
    reverted(show, node)?;
    print_log(show, &agent, printed);
    show.say("How the interfaces are stacked now; the path of the default route is marked:");
    show.command(node, &["linesman", "topology"], 0)?;
    agent.signal(Signal::SIGTERM)?;
    agent.wait()?;
    Ok(())
}

/// Frozen first, so that what drifted can be looked at before it is corrected.
fn drifted(show: &Show, node: &Node) -> Fallible<()> {
    show.title("7. Somebody changes br1 by hand");
    show.say("`freeze` stops the agent from changing this host, for as long as you need to look around:");
    show.command(node, &["linesman", "freeze", "to show the drift"], 0)?;
    show.command(node, &["ip", "link", "set", "br1", "mtu", "1400"], 0)?;
    wait(node, "the drift is seen", |status| phase(status, "office") == Some("drifted"))?;
    show.command(node, &["linesman", "status"], 0)?;
    show.say("`diff` shows it (`-` declared, `+` found), and `why` names the policy:");
    show.command(node, &["linesman", "diff"], 2)?;
    show.command(node, &["linesman", "why", "br1.mtu"], 0)?;
    show.command(node, &["linesman", "unfreeze"], 0)?;
    wait(node, "the drift is corrected", |status| in_sync(status) == 2)
}

fn reverted(show: &Show, node: &Node) -> Fallible<()> {
    show.title("8. A policy is removed, and its changes are reverted");
    show.command(node, &["rm", &format!("{POLICIES}/guests.yaml")], 0)?;
    wait(node, "guests is reverted", |status| phase(status, "guests").is_none())?;
    show.command(node, &["linesman", "status"], 0)
}

const GUESTS: &str = "interfaces:
- name: br2
  type: linux-bridge
  state: up
  bridge:
    port:
    - name: eth2
";

fn manifest(name: &str, option: &str, state: &str) -> String {
    let state: String =
        state.lines().filter(|line| !line.starts_with('#')).map(|line| format!("    {line}\n")).collect();
    // The example says nothing about it, and what is not declared cannot drift.
    let state = state.replace("    - name: br1\n", "    - name: br1\n      mtu: 1500\n");
    format!(
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {{name: {name}}}\nspec:\n  {option}\n  desiredState:\n{state}"
    )
}

fn write(node: &Node, name: &str, text: &str) -> Fallible<()> {
    node.run(["mkdir", "-p", POLICIES])?;
    node.write_file(format!("{POLICIES}/{name}.yaml"), text, 0o600)?;
    Ok(())
}

/// Prints what the agent logged since; returns the length of the log.
fn print_log(show: &Show, agent: &Running, printed: usize) -> usize {
    let log = agent.stderr();
    let new = log.get(printed..).unwrap_or_default();
    new.lines().for_each(|line| show.print(&format!("agent: {line}")));
    log.len()
}

fn in_sync(status: &Value) -> usize {
    policies(status).filter(|policy| policy["phase"] == "in-sync").count()
}

fn phase<'a>(status: &'a Value, name: &str) -> Option<&'a str> {
    policies(status).find(|policy| policy["name"] == name)?["phase"].as_str()
}

fn policies(status: &Value) -> impl Iterator<Item = &Value> {
    status["policies"].as_array().into_iter().flatten()
}

fn wait(node: &Node, what: &str, mut holds: impl FnMut(&Value) -> bool) -> Fallible<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut status = Value::Null;
    while Instant::now() < deadline {
        let output = node.exec(["linesman", "status", "-o", "json"])?;
        status = serde_json::from_str(&output.stdout).unwrap_or_default();
        if holds(&status) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{what}: not within a minute; {}", status["summary"]).into())
}
