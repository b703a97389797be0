//! One host through its life: installed, booted again, documents added, edited and withdrawn.

use linesman_tests::{br_ex, observe};

use super::{Installed, SETTINGS, profiles};

#[test]
fn a_document_is_applied_once_and_only_compared_afterwards() {
    let installed = Installed::new("first-boot");
    let (node, host) = (installed.node(), &installed.host);
    let document = br_ex(node);
    installed.install("n1.yml", &document);
    installed.reboot();
    installed.assert_state("Applied");
    installed.assert_br_ex_has_the_address();
    assert_eq!(installed.property("Result"), "success");
    let record = installed.record();
    assert_eq!(record["selected"]["file"], "n1.yml");
    assert_eq!((record["inUse"].as_bool(), record["succeeded"].as_bool()), (Some(true), Some(true)));
    let hash = node.run(["sha256sum", "/etc/nmstate/openshift/n1.yml"]).unwrap();
    assert_eq!(record["applied"]["hash"], hash.split_whitespace().next().unwrap());
    assert_eq!(installed.flag().as_deref(), Some(document.as_str()), "OpenShift's script compares it");
    assert!(installed.journal().contains("chose n1.yml: this host is called n1"), "{}", installed.journal());

    let (changes, written, port) = (installed.changes(), profiles(node), installed.ofport("eth0"));
    installed.reboot();
    installed.assert_state("Applied");
    installed.assert_br_ex_has_the_address();
    assert_eq!((installed.changes(), profiles(node)), (changes, written.clone()), "nothing is touched");
    assert_eq!(installed.ofport("eth0"), port);

    // A host that does not know its name concludes nothing from that.
    node.run(["hostname", "localhost"]).unwrap();
    let unnamed = host.linesman(&["firstboot", "--wait", "1s"]);
    assert_eq!(unnamed.code(), Some(4), "{}{}", unnamed.stdout, unnamed.stderr);
    assert!(installed.flag().is_some(), "{}", unnamed.stdout);
    installed.assert_state("Applied");
    node.run(["hostname", "n1"]).unwrap();

    // A host that is added later disturbs nobody.
    installed.install("n2.yml", &document.replace("eth0", "eth9"));
    node.run(["systemctl", "start", "linesman-firstboot-changed.service"]).unwrap();
    assert_eq!((installed.changes(), profiles(node)), (changes, written.clone()));
    installed.assert_state("Applied");

    let edited = document.replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1400");
    installed.install("n1.yml", &edited);
    host.eventually("the change is reported without a boot", || installed.state() == "NotLive");
    let message = installed.record()["message"].to_string();
    assert!(message.contains("written, not live: ovs-interface br-ex would change"), "{message}");
    installed.reboot();
    installed.assert_state("NotLive");
    assert_eq!((installed.changes(), profiles(node)), (changes, written));
    installed.assert_br_ex_has_the_address();

    node.write_file(SETTINGS, "LINESMAN_ON_CHANGE=boot\n", 0o644).unwrap();
    installed.reboot();
    installed.assert_state("Applied");
    assert_eq!(observe::link(node, "br-ex").unwrap()["mtu"], 1400);
    assert_eq!(installed.flag().as_deref(), Some(edited.as_str()));
    installed.assert_br_ex_has_the_address();
    assert_eq!(installed.ofport("eth0"), port);

    node.write_file(SETTINGS, "LINESMAN_ON_CHANGE=live\n", 0o644).unwrap();
    installed.install("n1.yml", &document.replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1380"));
    host.eventually("the change is applied without a boot", || {
        observe::link(node, "br-ex").unwrap()["mtu"] == 1380 && installed.state() == "Applied"
    });

    let changes = installed.changes();
    node.sh("rm /etc/nmstate/openshift/*.yml").unwrap();
    host.eventually("the flag goes with the document", || installed.flag().is_none());
    host.eventually("it is recorded", || installed.state() == "Withdrawn");
    installed.reboot();
    installed.assert_state("Withdrawn");
    assert_eq!(installed.changes(), changes, "its network stays");
    installed.assert_br_ex_has_the_address();
}
