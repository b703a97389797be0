//! Documents that cannot be applied: the host is reachable as before, the reason is where people look, the next boot tries
//! again.

use linesman_lab::documents::cut_off;
use linesman_tests::br_ex;

use super::{Installed, SETTINGS, UNIT};

#[test]
fn a_wrong_document_leaves_the_host_as_it_was() {
    let installed = Installed::new("first-boot-wrong");
    let (node, host) = (installed.node(), &installed.host);
    node.write_file(SETTINGS, "LINESMAN_ON_CHANGE=often\n", 0o644).unwrap();
    let wrong = "interfaces:\n- name: eth0\n  type: etherne\n";
    installed.install("n1.yml", wrong);
    installed.install("hosts.json", "{");
    installed.reboot();
    installed.assert_state("Ambiguous");
    assert!(installed.journal().contains("LINESMAN_ON_CHANGE=often: expected"), "{}", installed.journal());
    assert!(installed.journal().contains("hosts.json is damaged"), "{}", installed.journal());
    assert!(installed.flag().is_some(), "one of the documents may be for this host");

    node.sh(&format!("rm {SETTINGS} /etc/nmstate/openshift/hosts.json")).unwrap();
    installed.reboot();
    installed.assert_state("Failed");
    assert_eq!((installed.property("Result"), installed.changes()), ("exit-code".into(), 0));
    assert!(installed.journal().contains("n1.yml:3:9: error[LM"), "{}", installed.journal());
    assert!(installed.flag().is_some(), "what the host gets instead would be guessed");
    host.assert_settled();
    assert_eq!(host.linesman(&["firstboot", "--fall-back"]).code(), Some(3));
    assert_eq!((installed.flag(), installed.record()["inUse"].as_bool()), (None, Some(false)));

    // Documents of two hosts match.
    installed.install("n1.yml", &br_ex(node));
    let index = format!(r#"{{"hosts": [{{"file": "n9.yml", "macs": ["{}"]}}]}}"#, node.mac(1));
    installed.install("n9.yml", &br_ex(node));
    installed.install("hosts.json", &index);
    installed.reboot();
    installed.assert_state("Ambiguous");
    let message = installed.record()["message"].to_string();
    assert!(message.contains("n1.yml") && message.contains("n9.yml"), "{message}");
    assert_eq!(installed.changes(), 0);
    host.assert_settled();
    node.sh("rm /etc/nmstate/openshift/hosts.json /etc/nmstate/openshift/n9.yml").unwrap();

    installed.install("n1.yml", &cut_off("eth0", "ethernet"));
    quick(&installed);
    installed.reboot();
    installed.assert_state("Failed");
    assert_eq!((host.last_verdict().as_str(), installed.changes()), ("rolled-back", 1));
    let message = installed.record()["message"].to_string();
    assert!(message.contains("gateway"), "{message}");
    assert!(installed.journal().contains("rolled back: this host is in its previous state"));
    assert!(installed.flag().is_some());
    host.assert_settled();

    installed.reboot();
    assert_eq!(installed.changes(), 2, "the next boot tries again");
    host.assert_settled();

    node.write_file(SETTINGS, "LINESMAN_FALL_BACK=yes\n", 0o644).unwrap();
    installed.reboot();
    installed.assert_state("Failed");
    assert_eq!((installed.flag(), installed.record()["inUse"].as_bool()), (None, Some(false)));
    host.assert_settled();

    installed.install("n1.yml", &br_ex(node));
    installed.reboot();
    installed.assert_state("Applied");
    assert!(installed.flag().is_some());
    installed.assert_br_ex_has_the_address();
}

/// It need not wait for a gateway that cannot answer.
fn quick(installed: &Installed) {
    let script = format!(
        "mkdir -p /etc/systemd/system/{UNIT}.d
printf '[Service]\\nExecStart=\\nExecStart=/usr/bin/linesman firstboot --patience 3s\\n' >/etc/systemd/system/{UNIT}.d/quick.conf"
    );
    installed.node().sh(&script).unwrap();
}
