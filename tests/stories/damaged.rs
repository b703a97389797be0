//! A change is interrupted, and what linesman wrote about it is damaged.

use linesman_lab::{Daemon, Signal};
use linesman_tests::{BRIDGE, Host};

const NEW_ADDRESS: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.77.0.2, prefix-length: 24}]}
";

/// An apply that is killed when everything is applied; NetworkManager restarts, so its checkpoint is lost.
fn interrupted(name: &str) -> Host {
    let host = Host::new(name);
    let apply = host.start_apply(NEW_ADDRESS, &[], "applied");
    host.wait_failpoint("applied");
    apply.signal(Signal::SIGKILL).unwrap();
    apply.wait().ok();
    host.node.kill_daemon(Daemon::NetworkManager).unwrap();
    host.node.wait_daemon(Daemon::NetworkManager).unwrap();
    host
}

fn has_new_address(host: &Host) -> bool {
    host.interface("eth1").unwrap()["ipv4"].to_string().contains("10.77.0.2")
}

#[test]
fn a_change_is_rolled_back_though_its_record_is_damaged() {
    let host = interrupted("damaged-record");
    host.eventually("the change is there", || has_new_address(&host));
    host.node.sh("truncate -s 40 /var/lib/linesman/journal/*.record.json").unwrap();
    let doctor = host.linesman(&["doctor"]);
    assert!(!doctor.stdout.contains("no unfinished changes"), "{}", doctor.stdout);
    let recovered = host.linesman(&["recover"]);
    assert!(recovered.success(), "{}{}", recovered.stdout, recovered.stderr);
    assert!(!has_new_address(&host), "{}", recovered.stdout);
    assert_eq!(host.last_verdict(), "rolled-back");
    host.assert_settled();
    assert!(host.linesman(&["recover"]).stdout.contains("nothing to recover"));
}

#[test]
fn a_damaged_snapshot_is_reported_and_does_not_block_later_changes() {
    let host = interrupted("damaged-snapshot");
    host.node.sh("truncate -s 0 /var/lib/linesman/journal/*.snapshot.json").unwrap();
    let recovered = host.linesman(&["recover"]);
    assert_eq!(recovered.code(), Some(6), "{}{}", recovered.stdout, recovered.stderr);
    for words in ["cannot read /var/lib/linesman/journal/", "check the network of this host"] {
        assert!(recovered.stdout.contains(words), "no '{words}' in {}", recovered.stdout);
    }
    host.apply(BRIDGE);
    host.assert_settled();
}
