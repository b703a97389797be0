//! `linesman doctor` on a real node: a clean one is ready, and each fault is found with its remedy.

use linesman_lab::{Daemon, Output};
use linesman_tests::{BRIDGE, Host, br_ex};

fn doctor(host: &Host) -> Output {
    host.linesman(&["doctor"])
}

/// The line of a finding and its remedy, as one text.
fn finding(output: &Output, level: &str, words: &str) -> String {
    let lines: Vec<&str> = output.stdout.lines().collect();
    let at = lines.iter().position(|line| line.trim_start().starts_with(level) && line.contains(words));
    assert!(at.is_some(), "no {level} says '{words}':\n{}\n{}", output.stdout, output.stderr);
    let at = at.unwrap_or(0);
    lines[at..lines.len().min(at + 2)].join("\n")
}

#[test]
fn a_clean_node_is_ready() {
    let host = Host::new("doctor-clean");
    let output = doctor(&host);
    assert_eq!(output.code(), Some(0), "{}", output.stdout);
    assert_eq!(output.stdout.lines().next(), Some("this host is ready"), "{}", output.stdout);
    host.apply(BRIDGE);
    assert!(doctor(&host).stdout.starts_with("this host is ready\n"), "{}", doctor(&host).stdout);
    let json = host.linesman(&["doctor", "-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json.stdout).expect("doctor prints JSON");
    assert_eq!(report["verdict"], "ok");
    assert!(report["findings"].as_array().is_some_and(|all| all.len() >= 10), "{report}");
}

#[test]
fn warnings_name_competing_tools_and_profiles() {
    let host = Host::new("doctor-warnings");
    let node = &host.node;
    node.sh("mkdir -p /etc/netplan /etc/network && echo 'network: {version: 2, ethernets: {eth1: {dhcp4: true}}}' > /etc/netplan/a.yaml && \
             echo 'iface eth1 inet dhcp' >> /etc/network/interfaces").expect("files can be written");
    node.nmcli(&[
        "connection",
        "add",
        "save",
        "no",
        "type",
        "bridge",
        "ifname",
        "br7",
        "con-name",
        "fleeting",
        "ipv4.method",
        "disabled",
        "ipv6.method",
        "disabled",
    ])
    .expect("a profile in memory");
    node.nmcli(&["connection", "up", "fleeting"]).expect("the bridge comes up");
    for name in ["one", "two"] {
        node.nmcli(&["connection", "add", "type", "ethernet", "ifname", "eth2", "con-name", name])
            .expect("a profile");
    }
    node.nmcli(&["device", "set", "eth2", "managed", "no"]).expect("a device can be left alone");
    let output = doctor(&host);
    assert_eq!(output.code(), Some(0), "{}", output.stdout);
    assert!(output.stdout.starts_with("this host is ready, with "), "{}", output.stdout);
    assert!(finding(&output, "warning", "netplan configures").contains("/etc/netplan/a.yaml"));
    assert!(finding(&output, "warning", "ifupdown configures").contains("eth1"));
    assert!(
        finding(&output, "warning", "'fleeting' of br7 is only in memory")
            .contains("remedy: nmcli connection modify")
    );
    assert!(finding(&output, "warning", "activated automatically on eth2").contains("'one' and 'two'"));
    assert!(finding(&output, "warning", "eth2 is not managed").contains("nmcli device set eth2 managed yes"));
    assert!(finding(&output, "warning", "eth2 is not managed").contains("because of `nmcli device set`"));
    node.sh("nmcli connection modify fleeting connection.autoconnect yes && \
             nmcli device set eth2 managed yes && rm /etc/netplan/a.yaml")
        .expect("the remedies work");
    let cured = doctor(&host).stdout;
    for word in ["fleeting", "eth2 is not managed", "netplan configures"] {
        assert!(!cured.contains(word), "{word} was not cured:\n{cured}");
    }
}

#[test]
fn an_interrupted_change_is_a_problem_until_it_is_recovered() {
    let host = Host::new("doctor-interrupted");
    let apply = host.start_apply(BRIDGE, &[], "applied");
    host.wait_failpoint("applied");
    assert!(finding(&doctor(&host), "ok", "checkpoints").contains("a change is in progress"));
    apply.kill().expect("it can be killed");
    // Until it is reaped, it is still listed.
    apply.wait().ok();
    let output = doctor(&host);
    assert_eq!(output.code(), Some(1), "{}", output.stdout);
    assert!(finding(&output, "problem", "was interrupted").contains("linesman recover"));
    host.linesman(&["recover"]);
    host.eventually("ready again", || doctor(&host).success());
    host.assert_settled();
}

#[test]
fn dead_daemons_are_problems() {
    let host = Host::new("doctor-daemons");
    host.node.pause_restarts(true).expect("restarts can be paused");
    host.node.kill_daemon(Daemon::OvsVswitchd).expect("vswitchd can be killed");
    assert!(
        finding(&doctor(&host), "problem", "ovs-vswitchd is not running").contains("systemctl enable --now")
    );
    host.node.kill_daemon(Daemon::NetworkManager).expect("NetworkManager can be killed");
    let output = doctor(&host);
    assert_eq!(output.code(), Some(1), "{}", output.stdout);
    assert!(output.stdout.starts_with("this host is not ready"), "{}", output.stdout);
    assert!(finding(&output, "problem", "NetworkManager does not answer").contains("NetworkManager.service"));
}

#[test]
fn an_old_networkmanager_is_supported_with_a_warning() {
    let host = Host::bookworm("doctor-bookworm");
    let output = doctor(&host);
    assert_eq!(output.code(), Some(0), "{}", output.stdout);
    finding(&output, "warning", "its checkpoints do not cover DNS");
}

#[test]
fn a_broken_br_ex_is_found_with_its_remedy() {
    let host = Host::new("doctor-br-ex");
    let node = &host.node;
    assert!(!doctor(&host).stdout.contains("br-ex"), "a host without br-ex is not told about it");
    host.apply(&br_ex(node));
    let good = doctor(&host);
    assert!(good.stdout.starts_with("this host is ready\n"), "{}", good.stdout);
    assert!(finding(&good, "ok", "br-ex uplink").contains("eth0"));
    finding(&good, "ok", "br-ex mac address");
    finding(&good, "ok", "br-ex addresses");

    let mac = node.sh("cat /sys/class/net/eth0/address").expect("eth0 has an address");
    // The switch takes back what anybody else sets on its own interface.
    let hwaddr = |mac: &str| format!("ovs-vsctl set bridge br-ex 'other-config:hwaddr=\"{mac}\"'");
    // What breaks it, level and words of the finding, words of the remedy, what makes it whole again.
    let broken = [
        (
            "ovs-vsctl add-port br-ex eth1".to_owned(),
            ("problem", "br-ex has 2 uplinks: eth0, eth1"),
            "ovs-vsctl del-port br-ex eth1",
            "ovs-vsctl del-port br-ex eth1".to_owned(),
        ),
        (
            "ip address add 10.77.0.1/24 dev eth0".to_owned(),
            ("problem", "the uplink eth0 has addresses of its own: 10.77.0.1/24"),
            "ip address del 10.77.0.1/24 dev eth0",
            "ip address del 10.77.0.1/24 dev eth0".to_owned(),
        ),
        (
            hwaddr("02:00:00:00:77:01"),
            ("warning", "br-ex has 02:00:00:00:77:01, but its uplink eth0 has"),
            "copy-mac-from: eth0",
            hwaddr(mac.trim()),
        ),
    ];
    for (fault, (level, words), remedy, cure) in broken {
        node.sh(&fault).expect("br-ex can be broken");
        let output = doctor(&host);
        assert!(finding(&output, level, words).contains(remedy), "{}", output.stdout);
        node.sh(&cure).expect("br-ex can be cured");
        let cured = doctor(&host);
        assert!(cured.stdout.starts_with("this host is ready\n"), "{fault}:\n{}", cured.stdout);
    }
}
