//! The journal's entries of the units on the keeper's standard output: none is lost and none is there twice.

use std::collections::BTreeMap;

use super::bed::{KeeperHost, SWITCH};

/// As ovs-vswitchd itself would: journald attributes an entry to the unit whose control group the process is in, if the process
/// is still there when journald looks.
const WRITE: &str = "echo $$ >/sys/fs/cgroup/system.slice/ovs-vswitchd.service/cgroup.procs
{ for number in $(seq $1 $2); do echo \"<4>entry $number.\"; done
  until journalctl --quiet --lines=5 --output=cat SYSLOG_IDENTIFIER=ovs-vswitchd | grep -q \"entry $2\\.\"; do sleep 0.05; done
} | logger --prio-prefix --tag ovs-vswitchd";

fn write(keeper: &KeeperHost, first: usize, last: usize) {
    keeper.run(&["sh", "-ec", WRITE, "sh", &first.to_string(), &last.to_string()]);
}

/// How often each entry has been shown.
fn shown(keeper: &KeeperHost) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    let output = keeper.output();
    let numbers =
        output.lines().filter_map(|line| line.split_once("entry ")?.1.strip_suffix('.')?.parse().ok());
    numbers.for_each(|number| *counts.entry(number).or_default() += 1);
    counts
}

#[track_caller]
fn wait_shown(keeper: &KeeperHost, last: usize) {
    keeper.eventually(&format!("entry {last} is shown"), || shown(keeper).contains_key(&last));
    let counts = shown(keeper);
    let wrong: Vec<_> = (1..=last).filter(|number| counts.get(number) != Some(&1)).collect();
    assert!(wrong.is_empty(), "lost or doubled up to {last}: {wrong:?}");
}

#[test]
fn no_entry_is_lost_and_none_is_there_twice() {
    let keeper = KeeperHost::new("keeper-logs");
    // Before the first keeper, since the host booted.
    write(&keeper, 1, 10);
    keeper.start("");
    keeper.wait_ready();
    wait_shown(&keeper, 10);
    let output = keeper.output();
    let line = output.lines().find(|line| line.ends_with("entry 7.")).unwrap();
    assert!(line.contains("Z  WARN ovs-vswitchd: ") || line.contains("Z  WARN ovs-vswitchd["), "{line}");
    assert!(output.contains(" systemd[1]: Started ovs-vswitchd.service"), "{output}");

    // While it is away, in the midst of entries, and over a rotation.
    let before = keeper.invocations();
    let mut last = 10;
    for round in 0..4 {
        write(&keeper, last + 1, last + 200);
        keeper.kill();
        write(&keeper, last + 201, last + 300);
        if round % 2 == 1 {
            keeper.run(&["journalctl", "--rotate"]);
        }
        keeper.start("");
        write(&keeper, last + 301, last + 400);
        last += 400;
        wait_shown(&keeper, last);
    }
    keeper.stop();
    write(&keeper, last + 1, last + 50);
    keeper.start("");
    wait_shown(&keeper, last + 50);
    keeper.run(&["journalctl", "--rotate"]);
    write(&keeper, last + 51, last + 100);
    wait_shown(&keeper, last + 100);
    last += 100;

    // journalctl dies, and the journal's service too.
    keeper.run(&["pkill", "-KILL", "--exact", "journalctl"]);
    write(&keeper, last + 1, last + 50);
    wait_shown(&keeper, last + 50);
    keeper.run(&["systemctl", "kill", "--signal=KILL", "systemd-journald.service"]);
    keeper.host.eventually("the journal takes entries", || {
        let one = ["sh", "-ec", WRITE, "sh", "0", "0"];
        keeper.host.node.exec(one).unwrap();
        keeper.output().contains("entry 0.")
    });
    write(&keeper, last + 51, last + 100);
    wait_shown(&keeper, last + 100);
    assert_eq!(keeper.invocations(), before, "Open vSwitch was not disturbed");

    // Over a restart of the unit itself.
    keeper.signal(SWITCH, "KILL");
    keeper.eventually("systemd's own entries are shown", || {
        keeper.output().contains("ovs-vswitchd.service: Main process exited, code=killed")
    });
    keeper.wait_ready();
    keeper.kill();
    keeper.host.eventually("no journalctl is left", || {
        !keeper.host.node.exec(["pgrep", "--exact", "journalctl"]).unwrap().success()
    });
}
