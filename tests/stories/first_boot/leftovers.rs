//! What others left on the host: profiles of the initramfs, files that a power cut truncated, a restarted NetworkManager.

use linesman_lab::{Daemon, Node};
use linesman_tests::{br_ex, observe};

use super::{Installed, profiles};

/// As an initramfs leaves for `ip=…` on the kernel's command line: on every boot, in memory.
const FROM_KERNEL_ARGUMENTS: &str = "#!/bin/sh
mkdir -p /run/NetworkManager/system-connections
umask 077
cat >/run/NetworkManager/system-connections/eth0.nmconnection <<END
[connection]
id=eth0
uuid=$(cat /proc/sys/kernel/random/uuid)
type=ethernet
autoconnect-retries=1
interface-name=eth0
multi-connect=1
wait-device-timeout=60000

[ipv4]
address1=ADDRESS/24,10.9.0.1
dhcp-timeout=90
method=manual
may-fail=false

[ipv6]
method=auto
END
";

#[test]
fn profiles_of_others_do_not_rival_the_document() {
    let installed = Installed::new("first-boot-left");
    let node = installed.node();
    let early = FROM_KERNEL_ARGUMENTS.replace("ADDRESS", &node.mgmt_ipv4().to_string());
    node.run(["mkdir", "-p", "/etc/lab/boot.d"]).unwrap();
    node.write_file("/etc/lab/boot.d/50-initramfs", early, 0o755).unwrap();
    let folder = "/etc/NetworkManager/system-connections";
    let half = "[connection]\nid=br-ex-br\nuuid=6a3b9c6e-5c0e-4a55-9d77-0a54f2a5a002\ntype=ovs-br";
    node.run(["rm", "-f", &format!("{folder}/eth0.nmconnection")]).unwrap();
    node.write_file(format!("{folder}/br-ex-if.nmconnection"), "", 0o600).unwrap();
    node.write_file(format!("{folder}/br-ex-br.nmconnection"), half, 0o600).unwrap();
    installed.install("n1.yml", &br_ex(node));
    installed.reboot();
    installed.assert_state("Applied");
    installed.assert_br_ex_has_the_address();
    assert_only_br_ex_has_addresses(node);

    let (changes, written) = (installed.changes(), profiles(node));
    installed.reboot();
    installed.assert_state("Applied");
    installed.assert_br_ex_has_the_address();
    assert_eq!((installed.changes(), profiles(node)), (changes, written), "the profiles bring it up alone");
    assert_only_br_ex_has_addresses(node);

    let port = installed.ofport("eth0");
    node.restart_daemon(Daemon::NetworkManager).unwrap();
    node.wait_daemon(Daemon::NetworkManager).unwrap();
    installed.assert_br_ex_has_the_address();
    assert_eq!((installed.changes(), installed.ofport("eth0")), (changes, port));
    assert_only_br_ex_has_addresses(node);
}

/// What a power cut left of br-ex: eth0 and its port are there, the bridge is not.
#[test]
fn half_of_a_bridge_does_not_block_a_boot() {
    let installed = Installed::new("first-boot-half");
    let node = installed.node();
    let profile = |id: &str, kind: &str, more: &str| {
        let uuid = format!("6a3b9c6e-5c0e-4a55-9d77-0a54f2a5a0{:02}", id.len());
        let text = format!("[connection]\nid={id}\nuuid={uuid}\ntype={kind}\ninterface-name=eth0\n{more}");
        let path = format!("/etc/NetworkManager/system-connections/{id}.nmconnection");
        node.write_file(path, text, 0o600).unwrap();
    };
    profile(
        "eth0",
        "ethernet",
        "controller=eth0\nport-type=ovs-port\n\n[ovs-interface]\nofport-request=3\ntype=system\n",
    );
    profile("eth0-port", "ovs-port", "controller=br-ex\nport-type=ovs-bridge\n\n[ovs-port]\n");
    let address = node.mgmt_ipv4();
    let plain = format!(
        "interfaces: [{{name: eth0, type: ethernet, state: up, ipv4: {{enabled: true, dhcp: false, address: [{{ip: {address}, \
         prefix-length: 24}}]}}}}]\n"
    );
    installed.install("n1.yml", &plain);
    installed.reboot();
    installed.assert_state("Applied");
    assert!(observe::addresses(node, "eth0").contains(&format!("{address}/24")));
    installed.host.assert_settled();
    installed.reboot();
    installed.host.eventually("eth0 has its address", || {
        observe::addresses(node, "eth0").contains(&format!("{address}/24"))
    });
    installed.host.assert_settled();
}

#[track_caller]
fn assert_only_br_ex_has_addresses(node: &Node) {
    let addresses = observe::addresses(node, "eth0");
    let profiles = || {
        node.nmcli(&["-f", "NAME,UUID,DEVICE,ACTIVE,AUTOCONNECT-PRIORITY,FILENAME", "connection"]).unwrap()
    };
    assert!(addresses.iter().all(|address| address.starts_with("fe80")), "{addresses:?}\n{}", profiles());
}
