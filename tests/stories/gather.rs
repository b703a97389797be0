//! `linesman gather` on a real node: everything is in the archive but the secrets.

use linesman_tests::{BRIDGE, Host, br_ex};

const ARCHIVE: &str = "/root/a.tar.gz";

/// Secrets as they lie around on hosts: in profiles, with and without their owner running.
const PROFILES: &[(&str, &str)] = &[
    (
        "wifi",
        "[connection]\nid=wifi\nuuid=11111111-0000-4000-8000-000000000001\ntype=wifi\n\n[wifi]\nssid=lab\n\n[wifi-security]\nkey-mgmt=wpa-psk\npsk=hunter2wifi\n",
    ),
    (
        "wg",
        "[connection]\nid=wg\nuuid=11111111-0000-4000-8000-000000000002\ntype=wireguard\ninterface-name=wg0\nautoconnect=false\n\n[wireguard]\nprivate-key=hunter2wg\n",
    ),
    (
        "eap",
        "[connection]\nid=eap\nuuid=11111111-0000-4000-8000-000000000003\ntype=ethernet\ninterface-name=eth2\nautoconnect=false\n\n[802-1x]\neap=peap;\nidentity=node1\npassword=hunter2eap\nphase2-auth=mschapv2\n\n[ipv4]\nmethod=disabled\n\n[ipv6]\nmethod=disabled\n",
    ),
];

/// What a host was installed with.
const FIRST_BOOT: &[(&str, &str)] = &[
    (
        "/etc/nmstate/openshift/n1.yml",
        "interfaces:\n- name: eth2\n  802.1x:\n    eap-methods: [peap]\n    identity: installed\n    password: |\n      hunter2document\n",
    ),
    ("/etc/linesman/firstboot.env", "LINESMAN_WAIT=10s\n"),
    (
        "/var/lib/linesman/first-boot.json",
        r#"{"version": 1, "content": {"inUse": false, "message": "psk=hunter2record"}}"#,
    ),
    ("/var/lib/ovnk/iface_default_hint", "eth0\n"),
];

#[test]
fn an_archive_contains_everything_but_secrets() {
    let host = Host::new("gather");
    for (name, text) in PROFILES {
        let path = format!("/etc/NetworkManager/system-connections/{name}.nmconnection");
        host.node.write_file(path, text, 0o600).expect("a profile can be written");
    }
    host.node.nmcli(&["connection", "reload"]).expect("profiles are read again");
    host.apply(&br_ex(&host.node));
    for (path, text) in FIRST_BOOT {
        host.node
            .run(["mkdir", "-p", &path[..path.rfind('/').unwrap_or(0)]])
            .expect("a directory can be made");
        host.node.write_file(path, text, 0o600).expect("a file can be written");
    }
    // An unfinished change keeps its snapshot, with all profiles in it.
    let apply = host.start_apply(BRIDGE, &[], "applied");
    host.wait_failpoint("applied");

    let output = host.linesman(&["gather", "--file", ARCHIVE]);
    assert!(output.success(), "{}", output.stderr);
    assert!(
        output.stderr.contains("wrote /root/a.tar.gz") && output.stderr.contains("KiB"),
        "{}",
        output.stderr
    );
    assert_eq!(host.node.sh(&format!("stat -c %a {ARCHIVE}")).expect("it is there").trim(), "600");
    host.node
        .sh(&format!("mkdir /root/a && tar -xzf {ARCHIVE} -C /root/a --strip-components=1"))
        .expect("it unpacks");
    let all = host.node.sh("cd /root/a && find . -type f | sort").expect("it has files");
    for part in [
        "./index.txt",
        "./version",
        "./state.json",
        "./doctor.txt",
        "./kernel/links.json",
        "./ovs/keys.json",
        "./ovs/br-ex.json",
        "./first-boot/etc/nmstate/openshift/n1.yml",
        "./first-boot/etc/linesman/firstboot.env",
        "./first-boot/var/lib/linesman/first-boot.json",
        "./first-boot/var/lib/ovnk/iface_default_hint",
        "./networkmanager/devices.json",
        "./machine/os-release",
        "wifi.nmconnection",
        ".snapshot.json",
        ".record.json",
    ] {
        assert!(all.lines().any(|line| line == part || line.ends_with(part)), "{part} is missing in\n{all}");
    }
    let leaks = host.node.exec(["grep", "-rl", "hunter2", "/root/a"]).expect("grep runs").stdout;
    assert_eq!(leaks, "", "secrets in the archive");
    let kept = host.node.sh("grep -rl 'identity=node1' /root/a").expect("what is no secret is there");
    assert!(kept.contains("eap.nmconnection"), "{kept}");
    let document = host.node.sh("cat /root/a/first-boot/etc/nmstate/openshift/n1.yml").expect("it is there");
    assert!(document.contains("installed"), "{document}");
    let bridge = host.node.sh("cat /root/a/ovs/br-ex.json").expect("it is there");
    assert!(bridge.contains("eth0") && bridge.contains("ofport"), "{bridge}");
    let index = host.node.sh("cat /root/a/index.txt").expect("there is an index");
    assert!(index.contains("missing") && index.contains("journalctl"), "no journald on this node:\n{index}");

    let again = host.linesman(&["gather", "--file", ARCHIVE]);
    assert_eq!(again.code(), Some(1), "{}", again.stderr);
    assert!(again.stderr.contains("already exists"), "{}", again.stderr);
    let piped =
        host.node.sh("linesman gather --file - 2>/dev/null | tar -tz | head -1").expect("it can be piped");
    assert!(piped.trim().ends_with("/index.txt"), "{piped}");
    apply.kill().expect("it can be killed");
}
