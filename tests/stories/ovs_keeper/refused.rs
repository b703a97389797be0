//! Hosts on which there is nothing to keep, or somebody else keeps it.

use super::bed::{DATABASE, KeeperHost, SWITCH};

/// Open vSwitch with PIDs of its own, as in a container of an older release: on the host's network and with its sockets.
const CONTAINER: &str = "systemd-run --quiet --unit=cri-containerd-ab --property=KillSignal=SIGKILL \
  unshare --pid --mount --fork --mount-proc --kill-child \
  sh -c '/usr/share/openvswitch/scripts/ovs-ctl --system-id=random start && exec sleep infinity'";

#[test]
fn there_are_never_two_switches_and_none_is_no_crash() {
    let keeper = KeeperHost::new("keeper-refused");
    keeper.stop_everything();
    let before = keeper.invocations();
    keeper.sh(CONTAINER);
    keeper.host.eventually("the container's ovs-vswitchd answers", || {
        keeper.host.node.exec(["ovs-vsctl", "--timeout=5", "show"]).unwrap().success()
    });

    keeper.start("");
    keeper.wait_not_ready("ovs-vswitchd runs outside the units of this host");
    let (_, body) = keeper.get("readyz");
    assert!(body.contains("cri-containerd-ab.service"), "{body}");
    assert!(body.contains("end the container or process that runs this one"), "{body}");
    assert!(keeper.get("livez").0);
    // However often it looks.
    keeper.run(&["systemctl", "daemon-reload"]);
    keeper.run(&["systemctl", "reset-failed"]);
    assert_eq!(keeper.invocations(), before, "a unit was started");
    for unit in [SWITCH, DATABASE] {
        assert_eq!(keeper.property(unit, "ActiveState"), "inactive");
    }
    assert_eq!(keeper.enabled(), "disabled");
    assert_eq!(keeper.sh("pgrep --count --exact ovs-vswitchd").trim(), "1");

    // The documented way: the container ends, and the units take over by themselves.
    keeper.run(&["systemctl", "stop", "cri-containerd-ab.service"]);
    keeper.wait_ready();
    assert_eq!(keeper.sh("pgrep --count --exact ovs-vswitchd").trim(), "1");
    one_at_a_time(&keeper);
    keeper.stop();
    units_are_kept_whatever_becomes_of_settings(&keeper);

    // A node without Open vSwitch.
    keeper.stop_everything();
    keeper.sh("cd /usr/lib/systemd/system && rm ovs*.service ovs*.socket openvswitch*.service && systemctl daemon-reload");
    keeper.skip_log();
    keeper.start("");
    keeper.wait_not_ready("Open vSwitch is not installed on this host");
    assert!(keeper.get("livez").0);
    assert!(!keeper.log().contains("to do:"), "{}", keeper.log());
    keeper.stop();
}

fn one_at_a_time(keeper: &KeeperHost) {
    let second = keeper.host.node.exec(["linesman", "ovs-keeper", "--listen", "none"]).unwrap();
    assert_eq!(second.code(), Some(4), "{}", second.stderr);
    assert!(second.stderr.contains("another linesman ovs-keeper runs on this host"), "{}", second.stderr);
    assert!(keeper.get("readyz").0, "the first one goes on");
}

/// As after a return to an older version.
fn units_are_kept_whatever_becomes_of_settings(keeper: &KeeperHost) {
    const LEDGER: &str = "/var/lib/linesman/ovs-keeper/settings.json";
    let newer = r#"{"version":2,"content":{}}"#;
    keeper.host.node.write_file(LEDGER, newer, 0o600).unwrap();
    keeper.sh(&format!("systemctl stop {SWITCH}"));
    keeper.start("");
    keeper.wait_logged("has version 2");
    keeper.wait_ready();
    keeper.stop();
    assert_eq!(keeper.sh(&format!("cat {LEDGER}")), newer);
    keeper.sh(&format!("rm {LEDGER}"));
}
