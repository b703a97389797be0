//! The agent is replaced, or dies; the host is not touched for it.

use linesman_tests::keeper::{Keeper, policy};

#[test]
fn an_agent_upgraded_in_place_touches_nothing() {
    let keeper = Keeper::new("upgrade");
    keeper.write("bridge", &policy("bridge", "drift: Correct", "br1", 1400, "eth1"));
    keeper.write("other", &policy("other", "priority: 0", "br2", 1400, ""));
    keeper.wait_phase("bridge", "in-step");
    keeper.wait_phase("other", "in-step");
    let changes = keeper.changes();
    let profiles = "cd /etc/NetworkManager/system-connections && sha256sum * && stat -c '%n %Y %i' *";
    let (written, active) = (keeper.host.node.sh(profiles).unwrap(), active(&keeper));

    keeper.host.node.run(["cp", "/usr/bin/linesman", "/usr/local/bin/linesman-next"]).unwrap();
    keeper.stop();
    keeper.start_with("/usr/local/bin/linesman-next");
    keeper.wait_phase("bridge", "in-step");
    keeper.wait_phase("other", "in-step");
    assert_eq!(keeper.changes(), changes);
    assert_eq!(keeper.host.node.sh(profiles).unwrap(), written);
    assert_eq!(self::active(&keeper), active, "no profile was activated again");
}

/// NetworkManager counts activations up in the names of its objects.
fn active(keeper: &Keeper) -> String {
    keeper
        .host
        .node
        .nmcli(&["-t", "-f", "NAME,DBUS-PATH,ACTIVE-PATH", "connection", "show", "--active"])
        .unwrap()
}

#[test]
fn an_agent_killed_in_mid_change_takes_it_back_and_starts_over() {
    let keeper = Keeper::new("killed");
    keeper.stop();
    keeper.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    keeper.host.node.run(["mkdir", "-p", "/run/linesman"]).unwrap();
    let agent = keeper
        .host
        .node
        .command(["linesman", "agent", "--standalone"])
        .unwrap()
        .env("LINESMAN_FAILPOINT", "applied")
        .spawn()
        .unwrap();
    keeper.host.wait_failpoint("applied");
    agent.kill().unwrap();
    agent.wait().unwrap();
    keeper.start();
    keeper.wait_phase("bridge", "in-step");
    let verdicts: Vec<String> =
        keeper.host.history().iter().map(|r| r["outcome"]["verdict"].to_string()).collect();
    assert_eq!(verdicts, ["\"rolled-back\"", "\"committed\""]);
    keeper.host.assert_settled();
}
