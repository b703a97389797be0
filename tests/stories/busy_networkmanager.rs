//! NetworkManager, or linesman's own disk, is busy for longer than NetworkManager waits for a sign of life.

use linesman_tests::{BRIDGE, Host};

/// It neither answers nor looks at its timers, for so many seconds each time.
fn keep_busy(host: &Host, pauses: &str) {
    let script = format!(
        "nm=$(pidof NetworkManager); for pause in {pauses}; do kill -STOP $nm; sleep $pause; kill -CONT $nm; sleep 0.5; done"
    );
    host.node.sh(&script).expect("NetworkManager is stopped and goes on");
}

#[test]
fn a_change_is_kept_by_a_networkmanager_that_answers_later_and_later() {
    let host = Host::new("busy");
    // Without a warning, thirteen seconds are too long: nobody could tell this from a host that is cut off.
    let running = host.start_apply(BRIDGE, &[], "applied");
    host.wait_failpoint("applied");
    keep_busy(&host, "13");
    host.pass_failpoint("applied");
    let output = running.wait().unwrap();
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("NetworkManager was busy for 1"), "{}{}", output.stdout, output.stderr);
    host.eventually("it is rolled back", || host.interface("br1").is_none());
    host.assert_settled();

    let running = host.start_apply(BRIDGE, &[], "applied");
    host.wait_failpoint("applied");
    keep_busy(&host, "6 12 15");
    host.pass_failpoint("applied");
    let output = running.wait().unwrap();
    assert_eq!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
    assert!(host.interface("br1").is_some());
    host.assert_settled();
}

#[test]
fn a_change_is_kept_while_linesman_waits_for_its_disk() {
    let host = Host::new("slow-disk");
    let running = host.start_apply(BRIDGE, &[], "committing!");
    host.wait_failpoint("committing");
    let wound = || {
        let count = ["grep", "-c", "checkpoint-adjust-rollback-timeout", "/var/log/NM.log"];
        let count = host.node.exec(count).expect("the log can be read").stdout;
        count.trim().parse::<u32>().expect("grep counts")
    };
    // Every 2.5 s: that is longer than NetworkManager's timer, twice. Without it, NetworkManager rolls back.
    let enough = wound() + 9;
    host.eventually("NetworkManager hears of linesman", || wound() >= enough || host.open_checkpoints() == 0);
    host.pass_failpoint("committing");
    let output = running.wait().unwrap();
    assert_eq!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
    assert!(host.interface("br1").is_some());
    host.assert_settled();
}
