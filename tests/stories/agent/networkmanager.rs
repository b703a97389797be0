//! NetworkManager is restarted under the agent, is missing, or never falls silent.

use linesman_lab::Daemon;
use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn the_agent_survives_a_restart_of_networkmanager() {
    let agent_host = AgentHost::new("nm-restart");
    agent_host.write("bridge", &policy("bridge", "drift: Correct", "br1", 1400, "eth1"));
    agent_host.wait_phase("bridge", "in-sync");
    let changes = agent_host.changes();
    agent_host.host.node.kill_daemon(Daemon::NetworkManager).unwrap();
    agent_host.host.node.wait_daemon(Daemon::NetworkManager).unwrap();
    // It hears NetworkManager again: what is changed through it is seen.
    agent_host.host.node.sh("nmcli general status").unwrap();
    agent_host.host.eventually("it looks again", || {
        agent_host.status()["observation_error"].is_null() && agent_host.phase("bridge") == "in-sync"
    });
    assert_eq!(agent_host.changes(), changes, "a restart alone changes nothing");
    agent_host.write("more", &policy("more", "priority: 0", "br2", 1400, "eth2"));
    agent_host.wait_phase("more", "in-sync");
    agent_host.host.node.nmcli(&["connection", "modify", "br2", "bridge.priority", "4096"]).unwrap();
    agent_host.host.node.nmcli(&["connection", "up", "br2"]).unwrap();
    agent_host.wait_phase("more", "in-sync");
    agent_host.host.assert_settled();
}

#[test]
fn without_networkmanager_the_agent_waits_and_reports_it() {
    let agent_host = AgentHost::new("nm-gone");
    agent_host.host.node.pause_restarts(true).unwrap();
    agent_host.host.node.kill_daemon(Daemon::NetworkManager).unwrap();
    agent_host.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    agent_host.wait_phase("bridge", "waiting");
    let reason = agent_host.policy("bridge").unwrap()["reason"].to_string();
    assert!(reason.contains("NetworkManager"), "{reason}");
    agent_host.host.node.pause_restarts(false).unwrap();
    agent_host.host.node.wait_daemon(Daemon::NetworkManager).unwrap();
    agent_host.wait_phase("bridge", "in-sync");
}

#[test]
fn a_checkpoint_of_others_is_rolled_back_only_with_the_agents_option() {
    let agent_host = AgentHost::new("nm-checkpoint");
    let host = &agent_host.host;
    let checkpoint = host.foreign_checkpoint();
    host.node
        .nmcli(&["connection", "add", "type", "bridge", "ifname", "theirs", "con-name", "theirs"])
        .unwrap();
    host.eventually("their interface is there", || host.interface("theirs").is_some());
    agent_host.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    agent_host.wait_phase("bridge", "waiting");
    let reason = agent_host.policy("bridge").unwrap()["reason"].to_string();
    assert!(reason.contains(&checkpoint), "{reason}");
    assert!(host.interface("br1").is_none() && host.interface("theirs").is_some());

    agent_host.stop();
    let listen = ["--listen", "127.0.0.1:9473"];
    agent_host
        .start_as(&[&["linesman", "agent", "--standalone", "--roll-back-checkpoints"], &listen[..]].concat());
    agent_host.wait_phase("bridge", "in-sync");
    assert!(host.interface("theirs").is_none(), "what they had not committed is undone");
    host.assert_settled();
}

const ROUTE: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.50, prefix-length: 24}]}
routes:
  config:
  - {destination: 192.0.2.0/24, next-hop-address: 10.9.1.1, next-hop-interface: eth1, metric: 150}
";

/// Routes are seen by a full look only, and a full look waits until NetworkManager falls silent.
#[test]
fn drift_is_found_although_networkmanager_never_falls_silent() {
    let agent_host = AgentHost::new("nm-noise");
    agent_host.write("route", ROUTE);
    agent_host.wait_phase("route", "in-sync");
    let node = &agent_host.host.node;
    let device = node.nmcli(&["-g", "GENERAL.DBUS-PATH", "device", "show", "eth2"]).unwrap();
    let set = format!(
        "busctl set-property org.freedesktop.NetworkManager {} org.freedesktop.NetworkManager.Device Autoconnect b",
        device.trim()
    );
    let noise = format!("while true; do {set} false; {set} true; echo; done");
    let noise = node.spawn(["bash", "-c", &noise]).unwrap();
    // Until the full look after the change is over.
    agent_host.host.eventually("there is noise", || noise.stdout().lines().count() > 50);
    node.run(["ip", "route", "del", "192.0.2.0/24"]).unwrap();
    agent_host.wait_phase("route", "drifted");
    noise.kill().unwrap();
    noise.wait().ok();
}
