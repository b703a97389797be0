//! A rollback ends when the host is as before: with the ports, routes and keys of others, and without the files that
//! the change had made.

use linesman_lab::{Daemon, Running, Service, Signal};
use linesman_tests::{Host, br_ex, observe};

/// Others on br-ex: tunnel, tap and internal port, a routing daemon, a collector of flows.
const OTHERS: &str = "
ip tuntap add tap9 mode tap
ip link set tap9 up
ovs-vsctl add-port br-ex tap9 tag=5 -- set port tap9 external_ids:owner=vm -- set interface tap9 external_ids:iface-id=vm9
ovs-vsctl add-port br-ex vxlan9 trunks=7,8 -- set interface vxlan9 type=vxlan options:remote_ip=10.9.0.77 options:key=9 \\
  ofport_request=77 external_ids:owner=cni other_config:hint=x mac='\"02:00:00:00:00:99\"' bfd:enable=false
ovs-vsctl add-port br-ex vport9 -- set interface vport9 type=internal external_ids:iface-id=pod9 mtu_request=1300
ovs-vsctl set bridge br-ex external_ids:owner=ovn -- set bridge br-ex netflow=@collector -- \\
  --id=@collector create netflow targets='\"10.9.0.1:5566\"'
ovs-vsctl set bridge br-ex mcast_snooping_enable=true
ovs-vsctl set Open_vSwitch . external_ids:ovn-bridge-mappings=theirs:br-ex external_ids:theirs=before
for i in 1 2 3 4 5 6 7 8 9 10; do ip link show vport9 >/dev/null 2>&1 && break; sleep 0.3; done
ip link set vport9 address 02:00:00:00:00:42 up
ip address add 10.88.0.1/24 dev vport9
ip route add 10.89.0.0/16 via 10.88.0.2 dev vport9 proto bird
ip route add 203.0.113.0/24 via 10.9.0.1 dev br-ex proto bird metric 32
ip -6 route add 2001:db8:77::/48 via fd09::1 dev br-ex proto bird metric 32
ip route add 198.51.100.0/24 dev br-ex proto 186 table 77
ip route add 192.0.2.0/25 via 10.9.0.1 dev br-ex proto static metric 33
";

/// All of it, as other tools show it.
fn belongings(host: &Host) -> Vec<String> {
    let node = &host.node;
    let ovs = |table: &str, row: &str, columns: &[&str]| {
        let values =
            columns.iter().map(|column| format!("{column}={}", observe::ovs(node, table, row, column)));
        format!("{row}: {}", values.collect::<Vec<_>>().join(" "))
    };
    let route = |table: &str, to: &str| {
        let route = observe::route(node, table, to).unwrap_or_default();
        format!("{to} {} {} {} {}", route["gateway"], route["dev"], route["protocol"], route["metric"])
    };
    let ports = node.ovs_vsctl(&["list-ports", "br-ex"]).unwrap_or_default();
    let mut ports: Vec<&str> = ports.lines().collect();
    ports.sort_unstable();
    let vport = observe::link(node, "vport9").unwrap_or_default();
    vec![
        format!("ports {}", ports.join(" ")),
        ovs("Port", "tap9", &["tag", "external_ids"]),
        ovs("Interface", "tap9", &["type", "external_ids"]),
        ovs("Port", "vxlan9", &["trunks"]),
        ovs(
            "Interface",
            "vxlan9",
            &["type", "options", "ofport_request", "external_ids", "other_config", "mac", "bfd"],
        ),
        ovs("Interface", "vport9", &["type", "external_ids:iface-id", "mtu_request"]),
        format!(
            "vport9 {} {} {}",
            vport["address"],
            vport["mtu"],
            vport["flags"].to_string().contains("\"UP\"")
        ),
        // A router of the lab gives it others, some time.
        format!("vport9 {}", observe::addresses(node, "vport9").contains(&"10.88.0.1/24".to_string())),
        ovs("Bridge", "br-ex", &["external_ids:owner", "mcast_snooping_enable"]),
        format!("collector {}", observe::ovs(node, "Bridge", "br-ex", "netflow") != "[]"),
        ovs("Open_vSwitch", ".", &["external_ids:ovn-bridge-mappings", "external_ids:theirs"]),
        route("main", "10.89.0.0/16"),
        route("main", "203.0.113.0/24"),
        route("main", "2001:db8:77::/48"),
        route("77", "198.51.100.0/24"),
        route("main", "192.0.2.0/25"),
    ]
}

const GONE: &str = "interfaces:\n- {name: br-ex, state: absent}\n";

fn larger(host: &Host) -> String {
    br_ex(&host.node).replace("copy-mac-from: eth0", "copy-mac-from: eth0\n  mtu: 1400")
}

#[track_caller]
fn assert_rolled_back(running: Running) {
    let output = running.wait().expect("linesman ends");
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
}

#[test]
fn ports_routes_and_keys_of_others_are_as_before_after_a_rollback() {
    let host = Host::new("rollback-others");
    host.apply(&br_ex(&host.node));
    host.node.sh(OTHERS).expect("others set up their things");
    let before = belongings(&host);

    // A change that stays takes nothing of theirs along either.
    host.apply("interfaces: [{name: br-ex, type: ovs-interface, state: up, mtu: 1450}]\n");
    assert_eq!(belongings(&host), before, "after a change was committed");

    // The bridge goes, is missed, and is made anew.
    let running = host.start_apply(GONE, &["--patience", "2s"], "");
    assert_rolled_back(running);
    assert_eq!(belongings(&host), before, "after br-ex was gone and came back");
    host.assert_settled();

    // NetworkManager dies after the change: its checkpoint is gone, the snapshot is not. Then the switch.
    for daemon in [Daemon::NetworkManager, Daemon::OvsVswitchd] {
        let running = host.start_apply(GONE, &["--patience", "2s"], "applied");
        host.wait_failpoint("applied");
        host.node.kill_daemon(daemon).unwrap();
        host.pass_failpoint("applied");
        assert_rolled_back(running);
        assert_eq!(belongings(&host), before, "after {daemon:?} died");
        host.assert_settled();
    }

    // Killed: NetworkManager has made the bridge anew, without their ports, before anybody looks.
    let running = host.start_apply(GONE, &[], "applied");
    host.wait_failpoint("applied");
    running.signal(Signal::SIGKILL).expect("linesman can be killed");
    host.pass_failpoint("applied");
    host.eventually("NetworkManager has rolled back", || host.open_checkpoints() == 0);
    let recovered = host.linesman(&["recover"]);
    assert!(recovered.success(), "{}{}", recovered.stdout, recovered.stderr);
    assert_eq!(belongings(&host), before, "after the change was killed");
    host.assert_settled();

    // Others are not idle while a change is on.
    let document = format!(
        "{}ovs-db: {{external_ids: {{ours: 'yes'}}}}\novn: {{bridge-mappings: [{{localnet: ours, bridge: br-ex}}]}}\n",
        larger(&host)
    );
    let running = host.start_apply(&document, &["--try", "1s"], "applied");
    host.wait_failpoint("applied");
    let since = "ovs-vsctl set Open_vSwitch . external_ids:theirs=since external_ids:new=theirs \
          -- set Bridge br-ex external_ids:new=theirs \
          -- add-port br-ex vxlan10 -- set interface vxlan10 type=vxlan options:remote_ip=10.9.0.78
        mappings=$(ovs-vsctl get Open_vSwitch . external_ids:ovn-bridge-mappings | tr -d '\"')
        ovs-vsctl set Open_vSwitch . external_ids:ovn-bridge-mappings=\"$mappings,since:br-ex\"";
    host.node.sh(since).expect("others write meanwhile");
    host.pass_failpoint("applied");
    assert_rolled_back(running);
    let key = |table: &str, row: &str, column: &str| observe::ovs(&host.node, table, row, column);
    assert_eq!(key("Open_vSwitch", ".", "external_ids:ours"), "");
    assert_eq!(key("Open_vSwitch", ".", "external_ids:theirs"), "since");
    assert_eq!(key("Open_vSwitch", ".", "external_ids:new"), "theirs");
    assert_eq!(key("Open_vSwitch", ".", "external_ids:ovn-bridge-mappings"), "since:br-ex,theirs:br-ex");
    assert_eq!(key("Bridge", "br-ex", "external_ids:new"), "theirs");
    assert!(key("Interface", "vxlan10", "options").contains("10.9.0.78"));
    host.assert_settled();

    // Nor in the kernel: a routing daemon adds and withdraws, a virtual IP comes and goes.
    host.node.sh("ip address add 10.9.0.98/32 dev br-ex").expect("a virtual IP is here");
    let moves = "ip route add 198.18.0.0/24 via 10.9.0.1 dev br-ex proto bird
        ip route del 203.0.113.0/24 dev br-ex
        ip address add 10.9.0.99/32 dev br-ex
        ip address del 10.9.0.98/32 dev br-ex";
    let there = || {
        let route = |to: &str| observe::route(&host.node, "main", to).is_some();
        let held = observe::addresses(&host.node, "br-ex");
        let address = |ip: &str| held.iter().any(|address| address == ip);
        [route("198.18.0.0/24"), address("10.9.0.99/32"), route("203.0.113.0/24"), address("10.9.0.98/32")]
    };
    let running = host.start_apply(&larger(&host), &["--try", "1s"], "verified");
    host.wait_failpoint("verified");
    host.node.sh(moves).expect("others act meanwhile");
    host.pass_failpoint("verified");
    assert_rolled_back(running);
    assert_eq!(there(), [true, true, false, false], "what came stays, what was withdrawn stays away");
    // The same with a change that stays.
    let restore = "ip route del 198.18.0.0/24 dev br-ex; ip address del 10.9.0.99/32 dev br-ex
        ip route add 203.0.113.0/24 via 10.9.0.1 dev br-ex proto bird metric 32; ip address add 10.9.0.98/32 dev br-ex";
    host.node.sh(restore).expect("others act again");
    assert_eq!(there(), [false, false, true, true]);
    let running = host.start_apply(
        "interfaces: [{name: br-ex, type: ovs-interface, state: up, mtu: 1350}]\n",
        &[],
        "verified",
    );
    host.wait_failpoint("verified");
    host.node.sh(moves).expect("others act meanwhile");
    host.pass_failpoint("verified");
    let output = running.wait().expect("linesman ends");
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    assert_eq!(there(), [true, true, false, false], "after a commit, too");
    host.assert_settled();

    // A mirror refers to ports that are no more: it is named, and the rollback is not called complete.
    let mirror = "ovs-vsctl -- --id=@p get port tap9 -- --id=@m create mirror name=m9 select-all=true output-port=@p \
        -- set bridge br-ex mirrors=@m";
    host.node.sh(mirror).expect("somebody mirrors traffic");
    let output = host.try_apply(GONE, &["--patience", "2s"]);
    assert_eq!(output.code(), Some(6), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("mirrors of br-ex"), "{}{}", output.stdout, output.stderr);
    host.assert_settled();
}

/// Files that no checkpoint of NetworkManager covers, and a name in the kernel.
const FILES: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
  alt-names: [{name: storage1}]
  dispatch: {post-activation: 'date >>/run/dispatched'}
";

const LINK_FILE: &str = "/etc/systemd/network/98-nmstate-eth1.link";
const SCRIPT: &str = "/etc/NetworkManager/dispatcher.d/nmstate-eth1-up.sh";

fn alternative_names(host: &Host) -> String {
    observe::link(&host.node, "eth1").unwrap_or_default()["altnames"].to_string()
}

#[test]
fn files_that_nmstate_writes_are_as_before_after_a_rollback() {
    let host = Host::new("rollback-files");
    let exists = |path: &str| host.node.exists(path).unwrap();
    let names = alternative_names(&host);
    let output = host.try_apply(FILES, &["--try", "1s"]);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert!(!exists(LINK_FILE) && !exists(SCRIPT), "files of the change stayed");
    assert_eq!(alternative_names(&host), names);

    // What was there before returns, whether changed or removed.
    host.apply(FILES);
    assert!(exists(LINK_FILE) && exists(SCRIPT) && alternative_names(&host).contains("storage1"));
    let script = host.node.read_file(SCRIPT).unwrap();
    let changed = FILES
        .replace("{name: storage1}", "{name: storage1, state: absent}")
        .replace("date >>/run/dispatched", "true");
    let output = host.try_apply(&changed, &["--try", "1s"]);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert!(exists(LINK_FILE) && alternative_names(&host).contains("storage1"));
    assert_eq!(host.node.read_file(SCRIPT).unwrap(), script);

    // Linesman is killed: at boot, before NetworkManager starts, the former files are in place.
    let running = host.start_apply(&changed, &[], "applied");
    host.wait_failpoint("applied");
    assert!(!exists(LINK_FILE), "the change removes it");
    running.kill().unwrap();
    running.wait().unwrap();
    host.pass_failpoint("applied");
    let output = host.linesman(&["recover", "--boot"]);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    assert!(exists(LINK_FILE));
    assert_eq!(host.node.read_file(SCRIPT).unwrap(), script);
    host.linesman(&["recover"]);
    assert_eq!(host.last_verdict(), "rolled-back");
    assert!(alternative_names(&host).contains("storage1"));
    host.assert_settled();
}

/// NetworkManager's checkpoint is of the whole host, and its rollback deletes whatever came since.
#[test]
fn others_may_use_networkmanager_during_a_change_that_is_rolled_back() {
    let host = Host::new("rollback-nm");
    let add = "nmcli connection add type ethernet ifname eth2";
    let before = format!(
        "{add} con-name theirs ipv4.method manual ipv4.addresses 10.9.2.77/24 ipv6.method disabled
        nmcli --wait 60 connection up theirs
        {add} con-name old autoconnect no"
    );
    host.node.sh(&before).expect("others have profiles");
    let running = host.start_apply(linesman_tests::BRIDGE, &[], "verified");
    host.wait_failpoint("verified");
    let during = format!(
        "nmcli connection modify theirs ipv4.addresses 10.9.2.78/24
        nmcli --wait 60 connection up theirs
        nmcli connection delete old
        {add} con-name new autoconnect no
        nmcli general hostname other"
    );
    host.node.sh(&during).expect("others go on");
    running.signal(Signal::SIGINT).unwrap();
    host.pass_failpoint("verified");
    let output = running.wait().expect("linesman ends");
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert!(host.interface("br1").is_none(), "the change is rolled back");
    host.eventually("their address is as they set it", || {
        observe::addresses(&host.node, "eth2").iter().any(|address| address == "10.9.2.78/24")
    });
    let profiles = host.node.nmcli(&["-g", "NAME", "connection", "show"]).unwrap();
    let has = |name: &str| profiles.lines().any(|line| line == name);
    assert!(has("theirs") && has("new") && !has("old"), "{profiles}");
    assert_eq!(observe::fixed_hostname(&host.node), "other");
    host.assert_settled();
}

/// NetworkManager queues an interface that it activates again behind the others: the other uplink would be preferred.
#[test]
fn the_preferred_uplink_is_preferred_again_after_a_rollback() {
    let host = Host::new("rollback-metric");
    let auto =
        ["connection", "modify", "eth0", "ipv4.method", "auto", "ipv4.addresses", "", "ipv4.gateway", ""];
    host.node.nmcli(&[&auto[..], &["ipv4.dns", "", "ipv4.may-fail", "no"]].concat()).unwrap();
    host.node.nmcli(&["--wait", "60", "connection", "up", "eth0"]).unwrap();
    let second =
        "nmcli connection add type ethernet ifname eth1 con-name second ipv4.method auto ipv4.may-fail no \
        ipv6.method disabled
        nmcli --wait 60 connection up second";
    host.node.sh(second).expect("a second uplink");
    let defaults = || host.node.sh("ip -4 route show default | awk '{print $5, $NF}' | sort").unwrap();
    let before = defaults();
    assert_eq!(before.lines().count(), 2, "{before}");
    let change = "interfaces: [{name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: \
         [{ip: 10.66.0.1, prefix-length: 24}]}}]\n";
    let output = host.try_apply(change, &["--no-probes", "--try", "1s"]);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert_eq!(defaults(), before, "{}", output.stdout);

    // The IPv6 route is there long before the lease is, and until then NetworkManager sets no metric.
    let apply = host.start_apply(change, &["--no-probes", "--try", "1s"], "rolling-back");
    host.wait_failpoint("rolling-back");
    host.lab.hub().silence(Service::Dhcp).unwrap();
    host.pass_failpoint("rolling-back");
    host.eventually("NetworkManager asks for a lease, and the IPv6 route is there", || {
        let state = host.node.nmcli(&["-g", "GENERAL.STATE", "device", "show", "eth0"]).unwrap();
        let route = host.node.sh("ip -6 route show default dev eth0").unwrap();
        state.starts_with("70") && route.contains("via") || apply.status().is_some()
    });
    host.lab.hub().restore(Service::Dhcp).unwrap();
    let output = apply.wait().unwrap();
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert_eq!(defaults(), before, "{}", output.stdout);
    assert_eq!(host.open_checkpoints(), 0);
}
