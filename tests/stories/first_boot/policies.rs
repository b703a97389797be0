//! A policy takes over what the first boot made.

use linesman_tests::{BRIDGE, br_ex, observe};

use super::{Installed, SETTINGS, profiles};

#[test]
fn a_policy_adopts_br_ex_and_wins() {
    let installed = Installed::new("first-boot-day2");
    let (node, host) = (installed.node(), &installed.host);
    installed.install("n1.yml", &br_ex(node));
    installed.reboot();
    installed.assert_state("Applied");
    let (changes, written, port) = (installed.changes(), profiles(node), installed.ofport("eth0"));

    node.write_file("/etc/linesman/policies/site.yaml", br_ex(node), 0o600).unwrap();
    node.run(["systemctl", "enable", "--now", "linesman-agent"]).unwrap();
    let status = || host.linesman(&["status"]).stdout;
    host.eventually("the policy is in sync", || status().contains("1 policy in sync"));
    assert_eq!((installed.changes(), profiles(node)), (changes, written), "adopted without a change");
    assert_eq!(installed.ofport("eth0"), port);
    assert!(status().contains("first boot: n1.yml applied"), "{}", status());

    node.write_file(SETTINGS, "LINESMAN_ON_CHANGE=boot\n", 0o644).unwrap();
    let edited = br_ex(node).replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1400");
    installed.install("n1.yml", &edited);
    installed.reboot();
    installed.assert_state("Superseded");
    assert_eq!(installed.changes(), changes);
    host.eventually("people see it", || {
        status().contains("first boot: n1.yml superseded: policies declare its interfaces by now: ")
    });
    installed.assert_br_ex_has_the_address();
}

/// A host has one list of name servers and one name; the rest of a document is its own business.
#[test]
fn a_policy_about_dns_leaves_the_rest_to_the_document() {
    let installed = Installed::new("first-boot-dns");
    let (node, host) = (installed.node(), &installed.host);
    let dns = "dns-resolver: {config: {server: [10.9.0.1]}}\n";
    node.write_file("/etc/linesman/policies/dns.yaml", dns, 0o600).unwrap();
    node.run(["systemctl", "enable", "--now", "linesman-agent"]).unwrap();
    let in_sync = || host.linesman(&["status"]).stdout.contains("1 policy in sync");
    host.eventually("the policy is in sync", in_sync);

    let others = "dns-resolver: {config: {server: [10.9.0.9]}}\nhostname: {config: worker-7.example.org}\n";
    installed.install("n1.yml", &format!("{BRIDGE}{others}"));
    installed.reboot();
    installed.assert_state("Applied");
    assert_eq!(observe::addresses(node, "br1"), ["10.20.1.1/24"]);
    assert_eq!(host.state()["dns-resolver"]["config"]["server"], serde_json::json!(["10.9.0.1"]));

    // Its own document has given this host another name.
    let changes = installed.changes();
    installed.reboot();
    installed.assert_state("Applied");
    let said = "n1.yml is applied and counts, whatever this host is called";
    assert!(installed.journal().contains(said), "{}", installed.journal());
    assert!(installed.flag().is_some());
    assert_eq!(installed.changes(), changes);

    // As after an installation that keeps /var.
    node.sh("cd /etc/NetworkManager/system-connections && grep -l br1 * | xargs rm").unwrap();
    installed.reboot();
    installed.assert_state("Applied");
    assert!(installed.journal().contains("profiles that it had brought are gone"), "{}", installed.journal());
    assert_eq!(observe::addresses(node, "br1"), ["10.20.1.1/24"]);
    host.eventually("the policy is in sync", in_sync);
    host.assert_settled();
}
