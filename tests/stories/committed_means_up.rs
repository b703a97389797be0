//! What is committed is up: NetworkManager has finished with it, and what the document switched off is gone.

use linesman_tests::{Host, NO_SUPPLICANT, observe};

/// For what fails: nothing changes any more after a moment.
const SOON: [&str; 2] = ["--settle", "4s"];

const AUTHENTICATED: &str = "interfaces:
- {name: eth1, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false},
   802.1x: {eap-methods: [md5], identity: n1, password: hunter2}}
";

fn rejected(host: &Host, document: &str, words: &[&str]) {
    let output = host.linesman(&["plan", &host.document(document)]);
    assert!(!output.success() && output.code() != Some(2), "{}{}", output.stdout, output.stderr);
    for word in words {
        assert!(output.stderr.contains(word), "'{word}' is not in:\n{}{}", output.stdout, output.stderr);
    }
}

fn rolled_back(host: &Host, document: &str, words: &[&str]) {
    let output = host.try_apply(document, &SOON);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    for word in words {
        assert!(output.stdout.contains(word), "'{word}' is not in:\n{}", output.stdout);
    }
}

fn doctor(host: &Host, check: &str) -> String {
    let output = host.linesman(&["doctor"]).stdout;
    output.lines().find(|line| line.contains(check)).unwrap_or_default().to_owned()
}

#[test]
fn a_nic_without_supplicant_and_an_address_in_use_are_not_up() {
    let host = Host::new("up");
    rejected(&host, AUTHENTICATED, &["LM1028", "wpa_supplicant"]);
    assert!(doctor(&host, "wpa_supplicant").contains("not installed"), "{}", doctor(&host, "wpa_supplicant"));
    let functions =
        "interfaces: [{name: eth1, type: ethernet, state: up, ethernet: {sr-iov: {total-vfs: 2}}}]\n";
    rejected(&host, functions, &["LM1030", "SR-IOV"]);
    let dpdk = "interfaces:
- {name: br-fast, type: ovs-bridge, state: up, bridge: {options: {datapath: netdev}, port: [{name: fast0}]}}
- {name: fast0, type: ovs-interface, state: up, dpdk: {devargs: '0000:05:00.1'}}
";
    rejected(&host, dpdk, &["LM1032", "DPDK"]);
    host.node.sh(NO_SUPPLICANT).expect("a service can be pretended");
    let unreadable = AUTHENTICATED.replace("identity: n1,", "identity: n1, ca-cert: /etc/lost.pem,");
    rejected(&host, &unreadable, &["LM1031", "/etc/lost.pem"]);
    rolled_back(&host, AUTHENTICATED, &["interfaces[eth1].state: wanted up, found", "LM2002"]);

    let taken = "interfaces:
- {name: eth2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.2.1, prefix-length: 24}]}}
";
    let link = host.lab.hub().run(["cat", "/sys/class/net/net2/address"]).expect("the hub has the address");
    rolled_back(
        &host,
        taken,
        &[&format!("the address is in use by {}", link.trim()), "wanted up, found down: "],
    );

    // Five questions of a second each: on a busy machine the answer may be late.
    let switch_on = "sysctl -qw net.ipv6.conf.all.accept_dad=1 net.ipv6.conf.eth2.accept_dad=1 \
                     net.ipv6.conf.eth2.dad_transmits=5 net.ipv6.neigh.eth2.retrans_time_ms=1000";
    host.node.sh(switch_on).expect("duplicate address detection is switched on");
    let taken = "interfaces:
- {name: eth2, type: ethernet, state: up, ipv4: {enabled: false},
   ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: 'fd09:0:0:2::1', prefix-length: 64}]}}
";
    rolled_back(&host, taken, &["interfaces[eth2]", "LM2002"]);
    host.assert_settled();
}

#[test]
fn a_bridge_without_datapath_is_rejected_and_diagnosed() {
    let host = Host::new("up-ovs");
    let bridge = "interfaces:\n- {name: br-k, type: ovs-bridge, state: up, bridge: {port: [{name: eth1}]}}\n";
    rejected(&host, bridge, &["LM1027", "the kernel of this host has no Open vSwitch datapath", "netdev"]);
    assert!(doctor(&host, "ovs datapath").contains("only in userspace"), "{}", doctor(&host, "ovs datapath"));
    host.node.ovs_vsctl(&["--no-wait", "add-br", "br-k"]).expect("the database takes it");
    let found = doctor(&host, "ovs datapath");
    assert!(found.contains("problem") && found.contains("br-k"), "{found}");

    // Nor can NetworkManager take over what others made: it would try without an end.
    let theirs = ["--no-wait", "add-br", "br-f", "--", "set", "bridge", "br-f", "datapath_type=netdev"];
    host.node.ovs_vsctl(&theirs).expect("the database takes it");
    let bridge = "interfaces:
- {name: br-f, type: ovs-bridge, state: up, bridge: {options: {datapath: netdev}, port: [{name: eth1}]}}
";
    rejected(&host, bridge, &["LM1029", "ovs-vsctl del-br br-f"]);
    host.node.ovs_vsctl(&["--no-wait", "del-br", "br-f"]).expect("the database takes it");
    host.apply(bridge);
    assert_eq!(host.try_apply(bridge, &[]).code(), Some(0), "what NetworkManager made is no others'");
}

fn autoconf(on: bool, address: &str) -> String {
    format!(
        "interfaces:\n- {{name: eth2, type: ethernet, state: up, ipv4: {{enabled: false}}, \
         ipv6: {{enabled: true, dhcp: {on}, autoconf: {on}{address}}}}}\n"
    )
}

#[test]
fn an_advertised_address_goes_with_autoconf() {
    let host = Host::new("up-autoconf");
    let globals = || -> Vec<String> {
        let all = observe::addresses(&host.node, "eth2");
        all.into_iter().filter(|address| address.starts_with("fd")).collect()
    };
    host.apply(&autoconf(true, ""));
    host.eventually("a router's advertisement", || !globals().is_empty());
    let fixed = autoconf(false, ", address: [{ip: 'fd09:0:0:2::77', prefix-length: 64}]");
    host.apply(&fixed);
    assert_eq!(globals(), ["fd09:0:0:2::77/64"], "what the router gave is gone");
    assert!(host.linesman(&["plan", &host.document(&fixed)]).success());
    // The kernel's own autoconfiguration, or whoever else sets one with an end.
    let learnt = [
        "ip",
        "address",
        "add",
        "fd09:0:0:2::abc/64",
        "dev",
        "eth2",
        "valid_lft",
        "900",
        "preferred_lft",
        "900",
    ];
    host.node.run(learnt).expect("an address with an end");
    let plan = host.linesman(&["plan", &host.document(&fixed)]);
    assert_eq!(plan.code(), Some(2), "{}", plan.stdout);
    assert!(plan.stdout.contains("- ipv6.address: fd09:0:0:2::abc/64"), "{}", plan.stdout);
    host.apply(&fixed);
    assert_eq!(globals(), ["fd09:0:0:2::77/64"]);
    host.assert_settled();
}
