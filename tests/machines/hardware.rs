//! What only hardware has: virtual functions, on NICs that qemu emulates after Intel's 82576; and links that ask who is
//! there (802.1X) or encrypt (MACsec), with a real partner in another network namespace of the machine.
//!
//! `cargo test` runs the first. LINESMAN_SOAK=1 runs all of them.

use linesman_tests::{Host, observe};
use serde_json::{Value, json};

use crate::full_kernel::PATIENT;

type Story = fn(&Host);

const STORIES: &[Story] = &[
    functions_are_made_and_used,
    what_is_not_there_is_refused,
    is_encrypted,
    is_authenticated,
    functions_are_rolled_back_and_survive_a_power_cut,
];

#[test]
fn hardware_is_used_as_declared() {
    let host = Host::built("hardware", |node| node.vm(true).intel_nics(true));
    let count = if std::env::var_os("LINESMAN_SOAK").is_some() { STORIES.len() } else { 1 };
    STORIES[..count].iter().for_each(|story| story(&host));
}

/// As other tools show it: the functions, what they have, and who uses them.
fn functions(host: &Host) -> Value {
    let numbered = |id: u8| {
        let link = format!("basename $(readlink -f /sys/class/net/eth2/device/virtfn{id}/net/*)");
        host.node.sh(&link).unwrap_or_default().trim().to_owned()
    };
    let nic = observe::link(&host.node, "eth2").unwrap_or_default();
    let master = |name: &str| observe::link(&host.node, name).unwrap_or_default()["master"].clone();
    json!({
        "count": host.node.run(["cat", "/sys/class/net/eth2/device/sriov_numvfs"]).unwrap_or_default().trim(),
        "first": { "mac": nic["vfinfo_list"][0]["address"], "spoof-check": nic["vfinfo_list"][0]["spoofchk"] },
        "addresses": observe::addresses(&host.node, &numbered(0)),
        "ports": [master(&numbered(1)), master(&numbered(2))],
    })
}

const FUNCTIONS: &str = "interfaces:
- name: eth2
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
  ethernet:
    sr-iov: {total-vfs: 3, vfs: [{id: 0, mac-address: '02:00:00:AA:01:01', spoof-check: false}]}
- name: sriov:eth2:0
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.55.0.1, prefix-length: 24}]}
  ipv6: {enabled: false}
- name: bond0
  type: bond
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
  link-aggregation: {mode: active-backup, options: {miimon: 100}, port: ['sriov:eth2:1', 'sriov:eth2:2']}
";

const NO_FUNCTIONS: &str = "interfaces:
- {name: bond0, type: bond, state: absent}
- {name: eth2, type: ethernet, state: up, ethernet: {sr-iov: {total-vfs: 0}}}
";

/// NMState waits for them in its own verification, which linesman otherwise does without.
fn functions_are_made_and_used(host: &Host) {
    commits(host, FUNCTIONS);
    assert_eq!(functions(host), wanted());
    are_removed(host);
}

fn wanted() -> Value {
    json!({
        "count": "3",
        "first": { "mac": "02:00:00:aa:01:01", "spoof-check": false },
        "addresses": ["10.55.0.1/24"],
        "ports": ["bond0", "bond0"],
    })
}

fn are_removed(host: &Host) {
    commits(host, NO_FUNCTIONS);
    assert_eq!(functions(host)["count"], "0");
    assert!(!observe::link_exists(&host.node, "bond0"));
    let profiles = host.node.run(["ls", "/etc/NetworkManager/system-connections"]).unwrap();
    let left =
        profiles.lines().find(|file| ["eth3", "eth4", "eth5"].iter().any(|name| file.starts_with(name)));
    assert_eq!(left, None, "of functions that are gone");
}

fn functions_are_rolled_back_and_survive_a_power_cut(host: &Host) {
    let none = functions(host);
    let away = host.node.mgmt_ipv4().to_string().replace("10.9.", "10.8.");
    let cuts_off = format!(
        "{FUNCTIONS}- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {away}, prefix-length: 24}}]}}
"
    );
    let flags = [PATIENT, &["--probe", "gateway:v4", "--patience", "5s"]].concat();
    let failed = host.try_apply(&cuts_off, &flags);
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", failed.stdout, failed.stderr);
    let reason = host.history().last().expect("it is recorded")["outcome"]["reason"].to_string();
    assert!(reason.contains("gateway:v4"), "for another reason: {reason}");
    assert_eq!(functions(host), none, "{}{}", failed.stdout, failed.stderr);

    commits(host, FUNCTIONS);
    host.node.power_cut().unwrap();
    host.node.boot().unwrap();
    host.assert_settled();
    host.eventually("all of it is up again", || functions(host) == wanted());
    are_removed(host);
}

/// Then the same document once more changes nothing.
fn commits(host: &Host, document: &str) {
    let output = host.try_apply(document, PATIENT);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    let again = host.linesman(&["plan", &host.document(document)]);
    assert_eq!(again.code(), Some(0), "the second time\n{}{}", again.stdout, again.stderr);
}

fn what_is_not_there_is_refused(host: &Host) {
    let refused = |interface: &str, code: &str| {
        let document = host.document(&format!("interfaces:\n- {interface}\n"));
        let plan = host.linesman(&["plan", &document]);
        assert!(plan.stderr.contains(code), "{interface}: {}{}", plan.stdout, plan.stderr);
    };
    let functions = |nic: &str, count: u8| {
        format!("{{name: {nic}, type: ethernet, state: up, ethernet: {{sr-iov: {{total-vfs: {count}}}}}}}")
    };
    refused(&functions("eth0", 1), "LM1030");
    refused(&functions("eth2", 8), "LM1030");
    refused("{name: 'sriov:eth2:0', type: ethernet, state: up}", "LM1010");
    refused(
        "{name: mlx0, type: infiniband, state: up, infiniband: {mode: datagram, pkey: '0xffff'}}",
        "LM1010",
    );
    let tunnel =
        "{name: tunnel, type: ipsec, state: up, libreswan: {left: 10.0.0.1, right: 10.0.0.2, psk: secret}}";
    refused(tunnel, "LM1033");
}

/// A cable to another namespace, where somebody asks for a password.
const AUTHENTICATOR: &str = "
ip netns add port
ip link add eap0 type veth peer name eap1 netns port
ip link set eap0 up
ip -n port link set eap1 up
cat > /run/hostapd.conf <<CONF
interface=eap1
driver=wired
ieee8021x=1
eap_server=1
eap_user_file=/run/hostapd.users
use_pae_group_addr=1
CONF
echo '\"worker\" MD5 \"right\"' > /run/hostapd.users
";

fn is_authenticated(host: &Host) {
    host.node.sh(AUTHENTICATOR).unwrap();
    let log = "/run/hostapd.log";
    let hostapd = host.node.spawn(["ip", "netns", "exec", "port", "hostapd", "-f", log, "/run/hostapd.conf"]);
    let hostapd = hostapd.unwrap();
    let with = |password: &str| {
        format!(
            "interfaces:
- name: eap0
  type: ethernet
  state: up
  802.1x: {{eap-methods: [md5], identity: worker, password: {password}}}
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: 10.56.0.1, prefix-length: 24}}]}}
  ipv6: {{enabled: false}}
"
        )
    };
    let failed = host.try_apply(&with("wrong"), PATIENT);
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", failed.stdout, failed.stderr);
    assert!(!failed.stdout.contains("wrong") && !failed.stderr.contains("wrong"), "a password is shown");
    commits(host, &with("right"));
    let said = host.node.run(["cat", log]).unwrap();
    assert!(said.contains("CTRL-EVENT-EAP-SUCCESS"), "{said}");
    assert_eq!(observe::addresses(&host.node, "eap0"), ["10.56.0.1/24"]);
    commits(host, "interfaces:\n- {name: eap0, type: ethernet, state: absent}\n");
    drop(hostapd);
    host.node.sh("ip netns delete port; rm -f /run/hostapd.*").unwrap();
}

const KEYS: (&str, &str) =
    ("50b71a8ef0bd5751ea76de6d6c98c03a", "f2b4297d39da7330910a74abc0449feb45b5c0b9fc23df1430e1898fcf1c4550");

/// wpa_supplicant agrees on a key with another one, at the other end of a cable.
fn is_encrypted(host: &Host) {
    let (cak, ckn) = KEYS;
    let partner = format!(
        "ip netns add port
ip link add sec0 type veth peer name sec1 netns port
ip link set sec0 up
ip -n port link set sec1 up
cat > /run/partner.conf <<CONF
eapol_version=3
ap_scan=0
network={{
  key_mgmt=NONE
  eapol_flags=0
  macsec_policy=1
  mka_cak={cak}
  mka_ckn={ckn}
}}
CONF
"
    );
    host.node.sh(&partner).unwrap();
    let words = [
        "ip",
        "netns",
        "exec",
        "port",
        "wpa_supplicant",
        "-i",
        "sec1",
        "-D",
        "macsec_linux",
        "-c",
        "/run/partner.conf",
    ];
    let supplicant = host.node.spawn(words).unwrap();
    let document = format!(
        "interfaces:
- {{name: sec0, type: ethernet, state: up, ipv4: {{enabled: false}}, ipv6: {{enabled: false}}}}
- name: macsec0
  type: macsec
  state: up
  macsec: {{base-iface: sec0, encrypt: true, mka-cak: {cak}, mka-ckn: {ckn}, port: 1, validation: strict, send-sci: true}}
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: 10.57.0.1, prefix-length: 24}}]}}
  ipv6: {{enabled: false}}
"
    );
    let applied = host.try_apply(&document, &[PATIENT, &["--patience", "60s"]].concat());
    assert!(applied.success(), "{}{}", applied.stdout, applied.stderr);
    assert!(!applied.stdout.contains(cak), "a key is shown:\n{}", applied.stdout);
    let again = host.linesman(&["plan", &host.document(&document)]);
    assert_eq!(again.code(), Some(0), "the second time\n{}{}", again.stdout, again.stderr);
    host.node.sh("ip -n port link set macsec0 up; ip -n port address add 10.57.0.2/24 dev macsec0").unwrap();
    host.eventually("both ends have agreed", || host.node.run(["ping", "-c1", "-W2", "10.57.0.2"]).is_ok());
    let shown = host.node.run(["ip", "-d", "macsec", "show", "macsec0"]).unwrap();
    assert!(shown.contains("validate strict") && shown.contains("encrypt on"), "{shown}");
    commits(
        host,
        "interfaces:\n- {name: macsec0, type: macsec, state: absent}\n- {name: sec0, type: ethernet, state: absent}\n",
    );
    drop(supplicant);
    host.node.sh("ip netns delete port; rm -f /run/partner.conf").unwrap();
}
