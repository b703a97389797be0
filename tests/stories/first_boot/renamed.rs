//! NICs that firmware or a kernel calls differently after a while.

use linesman_tests::{br_ex, observe};
use serde_json::Value;

use super::{FLAG, Installed, SETTINGS};

const BR_EX: &str = "interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    options: {datapath: netdev}
    port: [{name: eth1}, {name: br-ex}]
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eth1
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.77, prefix-length: 24}]}
  ipv6: {enabled: false}
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
";

fn ports(installed: &Installed) -> Vec<String> {
    let listed = installed.node().ovs_vsctl(&["list-ports", "br-ex"]).unwrap();
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn a_nic_is_known_by_its_mac_address() {
    let installed = Installed::new("first-boot-nics");
    let (node, host) = (installed.node(), &installed.host);
    // The host is recognised by a MAC address, and its document calls the NIC as nobody does.
    let index = format!(
        r#"{{"hosts": [{{"file": "master-7.yml", "name": "master-7", "macs": ["{mac}"], "nics": {{"uplink": "{mac}", "eth0": "{other}"}}}}]}}"#,
        mac = node.mac(1).to_uppercase(),
        // The document has nothing to say about what is called eth0 here.
        other = node.mac(2)
    );
    installed.install("hosts.json", &index);
    installed.install("master-7.yml", &BR_EX.replace("eth1", "uplink"));
    installed.reboot();
    installed.assert_state("Applied");
    assert_eq!(ports(&installed), ["eth1"]);
    assert!(installed.journal().contains("the NIC eth1 has the MAC address"), "{}", installed.journal());
    host.assert_settled();

    // Another name after a firmware update.
    let rename = "#!/bin/sh\nip link set eth1 down && ip link set eth1 name ens5\n";
    node.run(["mkdir", "-p", "/etc/lab/boot.d"]).unwrap();
    node.write_file("/etc/lab/boot.d/10-rename", rename, 0o755).unwrap();
    installed.reboot();
    installed.assert_state("Applied");
    assert_eq!(ports(&installed), ["ens5"]);
    assert_eq!(observe::addresses(node, "br-ex"), ["10.9.1.77/24"]);
    assert_eq!(observe::profiles(node, "eth1"), Vec::<String>::new());
    let mac = |name: &str| observe::link(node, name).map(|link: Value| link["address"].clone());
    assert_eq!(mac("br-ex"), mac("ens5"));
    host.assert_settled();

    let changes = installed.changes();
    installed.reboot();
    installed.assert_state("Applied");
    assert_eq!((installed.changes(), ports(&installed)), (changes, vec!["ens5".to_owned()]));

    // A second time, while the document has changed and only is compared.
    installed.install(
        "master-7.yml",
        &format!("{}# edited\n", BR_EX.replace("eth1", "uplink").replace(".77", ".78")),
    );
    node.run(["sed", "-i", "s/ens5/ens6/", "/etc/lab/boot.d/10-rename"]).unwrap();
    installed.reboot();
    installed.assert_state("NotLive");
    assert_eq!(ports(&installed), ["ens6"]);
    assert_eq!(observe::addresses(node, "br-ex"), ["10.9.1.77/24"], "as it was applied");
    node.run(["sed", "-i", "s/ens6/ens5/", "/etc/lab/boot.d/10-rename"]).unwrap();
    installed.reboot();
    assert_eq!(ports(&installed), ["ens5"]);

    // Documents without a word about MAC addresses: the host remembers what it applied.
    node.sh("rm /etc/nmstate/openshift/*").unwrap();
    installed.install("n1.yml", &BR_EX.replace("eth1", "ens5"));
    node.run(["linesman", "firstboot", "--on-change", "boot"]).unwrap();
    node.run(["sed", "-i", "s/ens5/ens6/", "/etc/lab/boot.d/10-rename"]).unwrap();
    installed.reboot();
    installed.assert_state("Applied");
    assert!(
        installed.journal().contains("the NIC ens5 is called ens6 on this host"),
        "{}",
        installed.journal()
    );
    assert_eq!(ports(&installed), ["ens6"]);
    host.assert_settled();
    // Again: the document has the name before the last one.
    node.run(["sed", "-i", "s/ens6/ens7/", "/etc/lab/boot.d/10-rename"]).unwrap();
    installed.reboot();
    installed.assert_state("Applied");
    assert_eq!(ports(&installed), ["ens7"]);
    let changes = installed.changes();
    installed.reboot();
    assert_eq!((installed.changes(), ports(&installed)), (changes, vec!["ens7".to_owned()]));
    assert!(!installed.journal().contains("waiting for"), "{}", installed.journal());
    host.assert_settled();
}

#[test]
fn what_policies_have_set_since_stays_on_a_renamed_nic() {
    let installed = Installed::new("first-boot-nic-policy");
    let (node, host) = (installed.node(), &installed.host);
    installed.install("n1.yml", &BR_EX.replace("copy-mac-from: eth1", "copy-mac-from: eth1\n  mtu: 1500"));
    installed.reboot();
    installed.assert_state("Applied");
    let policy = "interfaces:\n- {name: br-ex, type: ovs-interface, state: up, mtu: 1400}\n";
    node.write_file("/etc/linesman/policies/mtu.yaml", policy, 0o600).unwrap();
    node.run(["systemctl", "enable", "--now", "linesman-agent"]).unwrap();
    let in_sync = || host.linesman(&["status"]).stdout.contains("1 policy in sync");
    host.eventually("the policy is in sync", in_sync);

    boot_with(&installed, "ip link set eth1 down && ip link set eth1 name ens5");
    installed.assert_state("Applied");
    assert_eq!(ports(&installed), ["ens5"]);
    assert_eq!(observe::link(node, "br-ex").unwrap()["mtu"], 1400, "as the policy wants it");
    host.eventually("the policy is in sync", in_sync);
    host.assert_settled();
}

/// A NIC that does not come any more is no reason to give its host to configure-ovs.
#[test]
fn a_document_is_not_withdrawn_with_a_nic() {
    let installed = Installed::new("first-boot-nic-gone");
    let (node, host) = (installed.node(), &installed.host);
    let index =
        format!(r#"{{"hosts": [{{"file": "site-4.yml", "name": "site-4", "macs": ["{}"]}}]}}"#, node.mac(2));
    installed.install("hosts.json", &index);
    installed.install("site-4.yml", &br_ex(node));
    installed.reboot();
    installed.assert_state("Applied");
    installed.install(
        "site-4.yml",
        &format!(
            "{}# edited\n",
            br_ex(node).replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1400")
        ),
    );
    installed.reboot();
    installed.assert_state("NotLive");

    let changes = installed.changes();
    boot_with(&installed, "ip link set eth2 address 02:00:00:00:99:99");
    installed.assert_state("NotLive");
    assert!(installed.journal().contains("nothing is concluded from that"), "{}", installed.journal());
    assert!(installed.flag().is_some(), "configure-ovs would make another br-ex");
    assert_eq!(installed.changes(), changes);
    installed.assert_br_ex_has_the_address();

    node.sh("rm /etc/lab/boot.d/10-nics /etc/nmstate/openshift/site-4.yml").unwrap();
    host.eventually("the document is withdrawn", || installed.state() == "Withdrawn");
    assert!(installed.flag().is_none());
}

/// The profiles of the host name no NIC then, and only what was applied connects it.
#[test]
fn a_renamed_nic_is_followed_whatever_has_become_of_the_document() {
    let installed = Installed::new("first-boot-nic-damage");
    let (node, host) = (installed.node(), &installed.host);
    installed.install("n1.yml", BR_EX);
    installed.reboot();
    installed.assert_state("Applied");
    let elsewhere = BR_EX.replace("copy-mac-from: eth1", "copy-mac-from: eth9");
    let documents = "/etc/nmstate/openshift";
    let damages = [
        ("Failed", format!("echo 'interfaces: [' >{documents}/n1.yml")),
        ("Ambiguous", format!("echo '{{' >{documents}/hosts.json")),
        (
            "Ambiguous",
            format!("rm {documents}/hosts.json {documents}/n1.yml; ln -s /nowhere {documents}/n1.yml"),
        ),
        (
            "Failed",
            format!(
                "rm {documents}/n1.yml; printf '{elsewhere}' >{documents}/n1.yml; echo LINESMAN_ON_CHANGE=boot >{SETTINGS}"
            ),
        ),
        ("NotLive", "echo '{' >/var/lib/linesman/policies.json".to_owned()),
    ];
    // The path unit would look at each damage on its own.
    node.sh("systemctl mask linesman-firstboot-changed.path").unwrap();
    for (number, (state, damage)) in damages.iter().enumerate() {
        node.sh(damage).unwrap();
        let name = format!("ens{number}");
        boot_with(&installed, &format!("ip link set eth1 down && ip link set eth1 name {name}"));
        installed.assert_state(state);
        assert_eq!(ports(&installed), [name.as_str()], "{damage}\n{}", installed.journal());
        host.eventually("br-ex has its address", || observe::addresses(node, "br-ex") == ["10.9.1.77/24"]);
        assert!(node.exists(FLAG).unwrap(), "{damage}");
    }

    // The record is damaged: what was edited before is not taken for the first document.
    node.sh(&format!(
        "rm {SETTINGS} /var/lib/linesman/policies.json; echo '{{' >/var/lib/linesman/first-boot.json"
    ))
    .unwrap();
    installed.install("n1.yml", &BR_EX.replace(".77", ".78").replace("eth1", "ens4"));
    boot_with(&installed, "ip link set eth1 down && ip link set eth1 name ens4");
    installed.assert_state("NotLive");
    assert_eq!(observe::addresses(node, "br-ex"), ["10.9.1.77/24"]);
    host.assert_settled();
}

/// As drivers and firmware leave the NICs.
fn boot_with(installed: &Installed, command: &str) {
    let script = format!("#!/bin/sh\n{command}\n");
    installed.node().write_file("/etc/lab/boot.d/10-nics", script, 0o755).unwrap();
    installed.reboot();
}
