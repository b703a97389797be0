//! NetworkManager is restarted under the agent.

use linesman_lab::Daemon;
use linesman_tests::keeper::{Keeper, policy};

#[test]
fn a_restart_of_networkmanager_is_sat_out() {
    let keeper = Keeper::new("nm-restart");
    keeper.write("bridge", &policy("bridge", "drift: Correct", "br1", 1400, "eth1"));
    keeper.wait_phase("bridge", "in-step");
    let changes = keeper.changes();
    keeper.host.node.kill_daemon(Daemon::NetworkManager).unwrap();
    keeper.host.node.wait_daemon(Daemon::NetworkManager).unwrap();
    // It hears NetworkManager again: what is changed through it is seen.
    keeper.host.node.sh("nmcli general status").unwrap();
    keeper.host.eventually("it looks again", || {
        keeper.status()["blind"].is_null() && keeper.phase("bridge") == "in-step"
    });
    assert_eq!(keeper.changes(), changes, "a restart alone changes nothing");
    keeper.write("more", &policy("more", "priority: 0", "br2", 1400, "eth2"));
    keeper.wait_phase("more", "in-step");
    keeper.host.node.nmcli(&["connection", "modify", "br2", "bridge.priority", "4096"]).unwrap();
    keeper.host.node.nmcli(&["connection", "up", "br2"]).unwrap();
    keeper.wait_phase("more", "in-step");
    keeper.host.assert_settled();
}

#[test]
fn without_networkmanager_the_agent_waits_and_says_so() {
    let keeper = Keeper::new("nm-gone");
    keeper.host.node.pause_restarts(true).unwrap();
    keeper.host.node.kill_daemon(Daemon::NetworkManager).unwrap();
    keeper.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    keeper.wait_phase("bridge", "waiting");
    let reason = keeper.policy("bridge").unwrap()["reason"].to_string();
    assert!(reason.contains("NetworkManager"), "{reason}");
    keeper.host.node.pause_restarts(false).unwrap();
    keeper.host.node.wait_daemon(Daemon::NetworkManager).unwrap();
    keeper.wait_phase("bridge", "in-step");
}
