//! A change is interrupted, and what linesman wrote about it is damaged, or of another version.

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
    host.eventually("the change is there", || has_new_address(&host));
    host
}

fn has_new_address(host: &Host) -> bool {
    host.interface("eth1").unwrap()["ipv4"].to_string().contains("10.77.0.2")
}

#[test]
fn a_change_is_rolled_back_though_its_record_is_damaged() {
    let host = interrupted("damaged-record");
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

/// As a file system without them on its disk leaves them: names without content, and files that were to be renamed.
#[test]
fn what_a_power_cut_leaves_of_profiles_is_restored_or_removed() {
    const FOLDER: &str = "/etc/NetworkManager/system-connections";
    let host = Host::new("cut-profiles");
    let list = || host.node.sh(&format!("cd {FOLDER} && ls -A && cat *.nmconnection | grep ^uuid=")).unwrap();
    let before = list();
    host.node
        .write_file("/etc/lab/boot.d/50-linesman", "#!/bin/sh\nexec linesman recover --boot\n", 0o755)
        .unwrap();
    let _apply = host.start_apply(BRIDGE, &[], "applied");
    host.wait_failpoint("applied");
    let damage = "truncate -s 0 *.nmconnection && touch br1.nmconnection.A1B2C3 .br1.nmconnection.tmp";
    host.node.sh(&format!("cd {FOLDER} && {damage}")).unwrap();
    host.node.power_cut().unwrap();
    host.node.boot().unwrap();
    let recovered = host.linesman(&["recover"]);
    assert!(recovered.success(), "{}{}", recovered.stdout, recovered.stderr);
    assert_eq!(list(), before);
    assert_eq!(host.last_verdict(), "rolled-back");
    host.assert_settled();
}

/// Upgraded or downgraded in mid-change: what the version before wrote, and what the next one may add, is recovered; a
/// format that is not known is refused and left alone.
#[test]
fn a_change_of_another_version_is_recovered_or_refused() {
    let host = interrupted("other-version");
    let rewrite = |edit: &str| {
        let command = format!(
            "cd /var/lib/linesman/journal && for f in *.record.json *.snapshot.json; do perl -pi -e '{edit}' $f; done"
        );
        host.node.sh(&command).unwrap();
    };
    rewrite(r#"s/"version":1/"version":2/g"#);
    for verb in [&["recover"][..], &["apply", &host.document(BRIDGE)]] {
        let refused = host.linesman(verb);
        assert_eq!(refused.code(), Some(4), "{}{}", refused.stdout, refused.stderr);
        assert!(
            refused.stderr.contains("install the newer linesman and run `linesman recover`"),
            "{}",
            refused.stderr
        );
    }
    let doctor = host.linesman(&["doctor"]).stdout;
    assert!(doctor.contains("of an unfinished change that a newer linesman began"), "{doctor}");
    assert!(has_new_address(&host), "nothing was tried");
    // The next version of the same format has more fields, the one before had fewer.
    rewrite(r#"s/"version":2/"version":1,"later":{"more":[1]}/g; s/"revert":(true|false),//g"#);
    let recovered = host.linesman(&["recover"]);
    assert!(recovered.success(), "{}{}", recovered.stdout, recovered.stderr);
    assert!(!has_new_address(&host), "{}", recovered.stdout);
    assert_eq!(host.last_verdict(), "rolled-back");
    host.assert_settled();
}

/// What others set in the kernel ends with a boot: meanwhile a virtual IP may be on another host.
#[test]
fn a_power_cut_revives_nothing_of_others() {
    const OF_OTHERS: &str =
        "ip address add 10.77.9.9/24 dev eth1 && ip route add 10.78.0.0/16 dev eth1 proto bird";
    let host = Host::new("cut-others");
    host.node
        .write_file("/etc/lab/boot.d/50-linesman", "#!/bin/sh\nexec linesman recover --boot\n", 0o755)
        .unwrap();
    host.apply(NEW_ADDRESS);
    let found = |what: &str| host.node.sh("ip address show dev eth1; ip route").unwrap().contains(what);
    host.node.sh(OF_OTHERS).unwrap();
    let changed = NEW_ADDRESS.replace("10.77.0.2", "10.77.0.3");
    let apply = host.start_apply(&changed, &[], "applied");
    host.wait_failpoint("applied");
    host.node.power_cut().unwrap();
    drop(apply);
    host.node.boot().unwrap();
    let recovered = host.linesman(&["recover"]);
    assert!(recovered.success(), "{}{}", recovered.stdout, recovered.stderr);
    assert_eq!(host.last_verdict(), "rolled-back");
    host.eventually("the former address is there", || found("10.77.0.2/24"));
    assert!(!found("10.77.9.9") && !found("10.78.0.0"), "{}", host.node.sh("ip address; ip route").unwrap());
    // A kill is no boot.
    host.node.sh(OF_OTHERS).unwrap();
    let apply = host.start_apply(&changed, &[], "applied");
    host.wait_failpoint("applied");
    apply.signal(Signal::SIGKILL).unwrap();
    apply.wait().ok();
    assert!(host.linesman(&["recover"]).success());
    assert!(found("10.77.0.2/24") && found("10.77.9.9") && found("10.78.0.0"), "as before the kill");
}
