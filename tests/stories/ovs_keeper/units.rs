//! The units are enabled, started and kept running, whatever happens to them; and nothing else is.

use std::time::Instant;

use super::bed::{DATABASE, KeeperHost, SWITCH, UMBRELLA};

/// As on a node of OpenShift: whoever runs this again breaks the Pods of the node.
const CONFIGURATION: &str = "[Unit]
Requires=openvswitch-switch.service
After=openvswitch-switch.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'echo ran >>/root/ovs-configuration'
";

#[test]
fn open_vswitch_is_enabled_started_and_kept_running() {
    let keeper = KeeperHost::new("keeper-units");
    keeper
        .host
        .node
        .write_file("/etc/systemd/system/ovs-configuration.service", CONFIGURATION, 0o644)
        .unwrap();
    keeper.run(&["systemctl", "start", "ovs-configuration.service"]);
    keeper.stop_everything();

    keeper.start("");
    keeper.wait_ready();
    assert_eq!(keeper.enabled(), "enabled");
    assert_eq!(keeper.property(UMBRELLA, "ActiveState"), "active");
    assert!(keeper.get("livez").0);
    keeper.run(&[
        "ovs-vsctl",
        "--timeout=20",
        "add-br",
        "br7",
        "--",
        "set",
        "bridge",
        "br7",
        "datapath_type=netdev",
    ]);

    stopped_and_continued(&keeper);
    killed(&keeper);
    stopped_by_hand(&keeper);
    masked(&keeper);
    crash_loop(&keeper);

    // It ends, and everything goes on.
    let before = keeper.invocations();
    keeper.stop();
    assert!(keeper.log().contains("Open vSwitch stays as it is"), "{}", keeper.log());
    assert_eq!(keeper.invocations(), before);
    assert_eq!(keeper.property(SWITCH, "ActiveState"), "active");
    restarts_without_a_keeper_are_seen(&keeper);

    keeper.start("--restart-hung --hung-after 5s --no-logs");
    keeper.wait_ready();
    hung_and_restarted(&keeper);
    keeper.stop();

    hardened(&keeper);
    assert_eq!(keeper.sh("cat /root/ovs-configuration"), "ran\n");
    assert!(keeper.run(&["ovs-vsctl", "--timeout=20", "list-br"]).contains("br7"));
}

/// A daemon that hangs is reported, and left alone.
fn stopped_and_continued(keeper: &KeeperHost) {
    let before = keeper.invocations();
    for (unit, check) in [(SWITCH, "switch"), (DATABASE, "database")] {
        keeper.signal(unit, "STOP");
        let stopped = Instant::now();
        keeper.wait_not_ready("the process is stopped (SIGSTOP)");
        println!("{unit} stopped: not ready after {:.1} s", stopped.elapsed().as_secs_f64());
        let (_, body) = keeper.get("readyz");
        assert!(body.contains(&format!("[-] {check}: no answer within 1500 ms")), "{body}");
        keeper.wait_logged(&format!("{unit} runs and does not answer"));
        assert!(keeper.get("livez").0, "it may be for a moment only");
        keeper.signal(unit, "CONT");
        keeper.wait_ready();
    }
    assert_eq!(keeper.invocations(), before, "nothing was restarted");
}

/// systemd restarts it; the keeper has seen that.
fn killed(keeper: &KeeperHost) {
    for unit in [SWITCH, DATABASE] {
        keeper.skip_log();
        let before = keeper.property(unit, "InvocationID");
        keeper.signal(unit, "KILL");
        keeper.wait_logged(&format!("{unit} was restarted"));
        keeper.wait_ready();
        assert_ne!(keeper.property(unit, "InvocationID"), before);
        assert_eq!(keeper.property(UMBRELLA, "ActiveState"), "active");
    }
}

/// systemd does not start it again, so the keeper does.
fn stopped_by_hand(keeper: &KeeperHost) {
    keeper.skip_log();
    keeper.run(&["systemctl", "stop", SWITCH]);
    keeper.wait_logged("done: start");
    keeper.wait_ready();
}

fn masked(keeper: &KeeperHost) {
    keeper.skip_log();
    keeper.run(&["systemctl", "mask", "--runtime", SWITCH]);
    keeper.run(&["systemctl", "stop", SWITCH]);
    keeper.wait_not_ready("ovs-vswitchd.service is masked and is not started");
    keeper.run(&["systemctl", "unmask", "--runtime", SWITCH]);
    keeper.wait_ready();
}

/// More often than systemd puts up with.
fn crash_loop(keeper: &KeeperHost) {
    keeper.skip_log();
    for _ in 0..7 {
        let pid = keeper.property(SWITCH, "MainPID");
        keeper.signal(SWITCH, "KILL");
        keeper.eventually("another ovs-vswitchd runs", || {
            !["0", &pid].contains(&keeper.property(SWITCH, "MainPID").as_str())
        });
    }
    // Said once; the restarts before count as well.
    let said = || keeper.whole_log().contains("ovs-vswitchd.service was restarted 3 times within 300 s");
    keeper.eventually("the crash loop is reported", said);
    keeper.wait_ready();
    assert_eq!(
        keeper.whole_log().matches("WARN ovs-vswitchd.service was restarted 3 times within").count(),
        1
    );
}

fn restarts_without_a_keeper_are_seen(keeper: &KeeperHost) {
    keeper.skip_log();
    keeper.sh(&format!("systemctl reset-failed {SWITCH} && systemctl restart {SWITCH}"));
    keeper.start("--no-logs");
    keeper.wait_logged("ovs-vswitchd.service was restarted");
    keeper.wait_ready();
    keeper.stop();
}

fn hung_and_restarted(keeper: &KeeperHost) {
    keeper.skip_log();
    let before = keeper.property(SWITCH, "InvocationID");
    keeper.signal(SWITCH, "STOP");
    keeper.wait_logged("done: kill the main process of ovs-vswitchd.service");
    keeper.wait_ready();
    assert_ne!(keeper.property(SWITCH, "InvocationID"), before);
}

/// As a unit of the host, as hardened as it ships.
fn hardened(keeper: &KeeperHost) {
    linesman_tests::agent_host::install_units(&keeper.host.node);
    keeper.stop_everything();
    keeper.run(&["systemctl", "enable", "--now", "linesman-ovs-keeper"]);
    keeper.wait_ready();
    assert_eq!(keeper.enabled(), "enabled");
    let unit = "linesman-ovs-keeper.service";
    keeper.eventually("systemd shows that it is ready", || keeper.property(unit, "StatusText") == "ready");
    keeper.signal(SWITCH, "STOP");
    keeper.wait_not_ready("the process is stopped (SIGSTOP)");
    keeper.signal(SWITCH, "CONT");
    keeper.run(&["systemctl", "stop", unit]);
    assert_eq!(keeper.property(unit, "Result"), "success");
    assert_eq!(keeper.property(SWITCH, "ActiveState"), "active");
}
