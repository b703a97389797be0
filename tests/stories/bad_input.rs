//! Invalid input is rejected with a clear message and the right exit code, and no changes are made.

use linesman_lab::{Daemon, Output};
use linesman_tests::{BRIDGE, Host, br_ex};

/// Everything a change could leave: state, profiles, checkpoints, keys, names, journal.
const FOOTPRINT: &str = "
ip -details address show | grep -v valid_lft
ip -4 route show table all; ip -6 route show table all | sed 's/ expires [0-9]*sec//'
ip -4 rule; ip -6 rule
for file in /etc/NetworkManager/system-connections/* /run/NetworkManager/system-connections/* /etc/resolv.conf /etc/hostname; do
  if [ -f \"$file\" ]; then echo \"$file\"; grep -v ^timestamp= \"$file\"; fi
done
hostname
ls /var/lib/linesman/journal 2>/dev/null || :
if [ -e /run/lab/NM.ready ]; then
  busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager Checkpoints
fi
if [ -e /run/lab/ovsdb.ready ]; then ovs-vsctl --timeout=10 show; ovs-vsctl --timeout=10 get Open_vSwitch . external_ids; fi
";

fn footprint(host: &Host) -> String {
    host.node.sh(FOOTPRINT).expect("a node can be looked at")
}

struct Bad {
    name: &'static str,
    document: Vec<u8>,
    /// What the message must contain.
    words: &'static [&'static str],
}

fn bad(name: &'static str, document: impl Into<Vec<u8>>, words: &'static [&'static str]) -> Bad {
    Bad { name, document: document.into(), words }
}

fn documents() -> Vec<Bad> {
    let nic = |name: &str, rest: &str| {
        format!("interfaces:\n- name: {name}\n  type: ethernet\n  state: up\n{rest}")
    };
    let padding = "# nothing but padding, a line of some length, again and again and again\n";
    vec![
        bad("nothing", "", &["empty"]),
        bad("not text", [0xff, 0xfe, 0x00, 0x01], &["UTF-16 text"]),
        bad("not YAML", "interfaces: [{name: eth1\n", &["1:", "error["]),
        bad("tab", "interfaces:\n\t- name: eth1\n", &["tab"]),
        bad("a list", "- name: eth1\n", &["list"]),
        bad("wrong type of a list", "interfaces: 5\n", &["interfaces", "list"]),
        bad("wrong type of a number", nic("eth1", "  mtu: large\n"), &["mtu", "large"]),
        bad("wrong type of a switch", nic("eth1", "  ipv4: {enabled: perhaps}\n"), &["enabled", "perhaps"]),
        bad("unknown type", "interfaces:\n- {name: eth1, type: ethernot, state: up}\n", &["ethernot"]),
        bad("unknown field", nic("eth1", "  mtuu: 1400\n"), &["mtuu", "mtu"]),
        bad("name of 16 characters", nic("storage-network1", ""), &["storage-network1", "15"]),
        bad(
            "interface twice",
            nic("eth1", "- {name: eth1, type: ethernet, state: up}\n"),
            &["eth1", "already"],
        ),
        bad(
            "port that does not exist",
            "interfaces:\n- name: br1\n  type: linux-bridge\n  state: up\n  bridge: {port: [{name: eth77}]}\n",
            &["eth77"],
        ),
        bad("NIC that does not exist", nic("eth77", ""), &["eth77"]),
        bad(
            "address without prefix",
            nic("eth1", "  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.5}]}\n"),
            &["prefix-length"],
        ),
        bad(
            "address that is none",
            nic(
                "eth1",
                "  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.9.1.555, prefix-length: 24}]}\n",
            ),
            &["10.9.1.555"],
        ),
        bad(
            "overlapping routes",
            "routes:\n  config:\n  - {destination: 192.0.2.0/24, next-hop-address: 10.9.0.1, next-hop-interface: eth0}\n  - {destination: 192.0.2.0/24, next-hop-address: 10.9.0.2, next-hop-interface: eth0}\n",
            &["192.0.2.0/24", "overlap"],
        ),
        bad(
            "route through nothing",
            "routes:\n  config:\n  - {destination: 192.0.2.0/24, next-hop-address: 10.9.0.1, next-hop-interface: eth77}\n",
            &["eth77"],
        ),
        bad(
            "reserved name",
            "interfaces:\n- {name: ovs-system, state: absent}\n",
            &["ovs-system", "reserved"],
        ),
        bad(
            "five megabytes",
            format!("interfaces: []\n{}", padding.repeat(5 * 1024 * 1024 / padding.len())),
            &["bytes", "4 MiB"],
        ),
        bad(
            "policy without a state",
            "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: p}\nspec: {}\n",
            &["desiredState"],
        ),
        bad(
            "capture of nothing",
            "capture: {gw: 'routes.running.destination=='}\ndesiredState:\n  interfaces: []\n",
            &["capture"],
        ),
    ]
}

#[test]
fn invalid_documents() {
    let host = Host::new("bad-input");
    let before = footprint(&host);
    let mut wrong = Vec::new();
    for Bad { name, document, words } in documents() {
        for verb in ["plan", "apply"] {
            let command = host.node.command(["linesman", verb, "-"]).unwrap();
            let output = command.input(document.clone()).output().unwrap();
            wrong.extend(complaint(&output, 3, words).map(|why| format!("{verb}, {name}: {why}")));
        }
    }
    let missing = host.linesman(&["apply", "/root/nowhere.yaml"]);
    wrong.extend(complaint(&missing, 3, &["/root/nowhere.yaml", "No such file"]));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(footprint(&host), before, "something was touched");
    host.assert_settled();
}

/// None: the exit code is right and the message contains every text.
fn complaint(output: &Output, code: i32, words: &[&str]) -> Option<String> {
    let said = |word: &&&str| !output.stderr.to_lowercase().contains(&word.to_lowercase());
    let missing: Vec<_> = words.iter().filter(said).collect();
    let right = output.code() == Some(code) && missing.is_empty();
    (!right).then(|| {
        format!("exit code {:?}, not said: {missing:?}\n{}{}", output.code(), output.stdout, output.stderr)
    })
}

#[test]
fn missing_prerequisites() {
    let host = Host::built("bad-host", |node| node.binary(env!("CARGO_BIN_EXE_old-networkmanager")));
    let mut wrong = Vec::new();
    wrong.extend(not_root(&host));
    wrong.extend(no_journal(&host));
    wrong.extend(no_driver(&host));
    wrong.extend(no_cluster(&host));
    host.node.pause_restarts(true).unwrap();
    wrong.extend(no_open_vswitch(&host));
    wrong.extend(no_networkmanager(&host));
    wrong.extend(old_networkmanager(&host));
    wrong.extend(no_dbus(&host));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    host.node.start_daemon(Daemon::Dbus).unwrap();
    host.node.start_daemon(Daemon::NetworkManager).unwrap();
    host.apply(BRIDGE);
    host.assert_settled();
}

fn untouched(host: &Host, name: &str, words: &[&str], try_it: impl Fn() -> Output) -> Option<String> {
    let before = footprint(host);
    let output = try_it();
    let after = footprint(host);
    let wrong = complaint(&output, 4, words);
    let touched = (before != after).then(|| format!("touched\nbefore: {before}\nafter: {after}"));
    wrong.or(touched).map(|why| format!("{name}: {why}"))
}

fn not_root(host: &Host) -> Option<String> {
    let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "linesman"];
    let run = |verb: &str| {
        let words = words.into_iter().chain([verb, "-"]);
        host.node.command(words).unwrap().input(BRIDGE).output().unwrap()
    };
    untouched(host, "apply, not root", &["root"], || run("apply"))
        .or_else(|| untouched(host, "plan, not root", &["root"], || run("plan")))
}

/// What only a cluster can answer is refused by a host that belongs to none.
fn no_cluster(host: &Host) -> Option<String> {
    let policy = format!(
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {{name: a}}\nspec:\n  probes: [gateway, nodeReady]\n  \
         desiredState:\n    {}\n",
        BRIDGE.trim_end().replace('\n', "\n    ")
    );
    let before = footprint(host);
    let by_policy = host.try_apply(&policy, &[]);
    let by_hand = host.try_apply(BRIDGE, &["--probe", "apiServer"]);
    let touched = (before != footprint(host)).then(|| "no cluster: something was touched".to_owned());
    complaint(&by_policy, 3, &["LM0020", "5:21", "nodeReady", "tcp:HOST:PORT"])
        .or_else(|| complaint(&by_hand, 3, &["LM0020", "apiServer", "tcp:HOST:PORT"]))
        .or(touched)
}

fn no_journal(host: &Host) -> Option<String> {
    untouched(host, "no journal", &["/proc/none", "no changes were made"], || {
        let command = host.node.command(["linesman", "apply", "-"]).unwrap();
        command.env("LINESMAN_STATE_DIR", "/proc/none").input(BRIDGE).output().unwrap()
    })
}

/// A type of interface that the node's kernel does not know, asked for on a bridge that it does. A kernel that knows
/// them all has nothing to refuse.
fn no_driver(host: &Host) -> Option<String> {
    let document = |kind: &str, rest: &str| {
        format!(
            "interfaces:\n- {{name: br1, type: linux-bridge, state: up}}\n- name: new1\n  type: {kind}\n  state: up\n  {rest}\n"
        )
    };
    let kinds = [
        ("bond", "bond", "link-aggregation: {mode: active-backup, port: [eth1]}"),
        ("vrf", "vrf table 77", "vrf: {route-table-id: 77, port: [eth1]}"),
        ("vlan", "vlan id 7", "vlan: {base-iface: eth1, id: 7}"),
        ("mac-vlan", "macvlan", "mac-vlan: {base-iface: eth1, mode: bridge, promiscuous: true}"),
    ];
    kinds.into_iter().find_map(|(kind, words, rest)| {
        let made = host.node.exec(
            ["ip", "link", "add", "link", "eth1", "name", "try1", "type"].into_iter().chain(words.split(' ')),
        );
        let lacking = made.unwrap().stderr.contains("Unknown device type");
        host.node.sh("ip link delete try1 2>/dev/null || :").unwrap();
        let (file, said) = (
            host.document(&document(kind, rest)),
            ["LM1020", "4:9", kind, "interfaces[new1].type", "modules"],
        );
        let verbs = ["plan", "apply"].into_iter().filter(|_| lacking);
        verbs.into_iter().find_map(|verb| {
            untouched(host, &format!("{verb} of a {kind}"), &said, || host.linesman(&[verb, &file]))
        })
    })
}

/// Dead, and known to be: the footprint asks those who are said to be ready.
fn kill(host: &Host, daemon: Daemon, short: &str) {
    host.node.kill_daemon(daemon).unwrap();
    let ready = format!("/run/lab/{short}.ready");
    host.eventually("its death is noticed", || !host.node.exists(&ready).unwrap());
}

fn no_open_vswitch(host: &Host) -> Option<String> {
    host.node.kill_daemon(Daemon::OvsVswitchd).unwrap();
    kill(host, Daemon::OvsdbServer, "ovsdb");
    let words = ["Open vSwitch", "openvswitch-switch"];
    let keys = "ovs-db: {external_ids: {site: lab}}\n";
    let wrong =
        untouched(host, "br-ex without Open vSwitch", &words, || host.try_apply(&br_ex(&host.node), &[]))
            .or_else(|| untouched(host, "keys without Open vSwitch", &words, || host.try_apply(keys, &[])));
    // What needs no Open vSwitch works without.
    host.apply(BRIDGE);
    host.apply("interfaces: [{name: br1, state: absent}]\n");
    host.node.start_daemon(Daemon::OvsdbServer).unwrap();
    host.node.start_daemon(Daemon::OvsVswitchd).unwrap();
    wrong
}

fn no_networkmanager(host: &Host) -> Option<String> {
    kill(host, Daemon::NetworkManager, "NM");
    let words = ["NetworkManager", "start NetworkManager.service"];
    untouched(host, "apply, no NetworkManager", &words, || host.try_apply(BRIDGE, &[])).or_else(|| {
        let file = host.document(BRIDGE);
        untouched(host, "plan, no NetworkManager", &words, || host.linesman(&["plan", &file]))
    })
}

fn old_networkmanager(host: &Host) -> Option<String> {
    let old = host.node.spawn(["old-networkmanager"]).unwrap();
    host.eventually("the old NetworkManager", || old.stdout().contains("ready"));
    untouched(host, "old NetworkManager", &["1.30.6", "too old"], || host.try_apply(BRIDGE, &[]))
}

fn no_dbus(host: &Host) -> Option<String> {
    host.node.kill_daemon(Daemon::Dbus).unwrap();
    untouched(host, "no D-Bus", &["D-Bus", "start dbus"], || host.try_apply(BRIDGE, &[]))
}

/// Wherever they run out: all of the change or nothing of it, and the reason.
#[test]
fn a_process_with_few_descriptors_leaves_nothing_half_done() {
    let host = Host::new("descriptors");
    let document = host.document(BRIDGE);
    let mut refused = 0;
    for limit in [8, 12, 16, 20, 26, 34, 46, 64] {
        let run = format!("ulimit -n {limit}; exec linesman apply {document}");
        let output = host.node.command(["sh", "-c", &run]).unwrap().output().unwrap();
        let text = format!("with {limit}: {}{}", output.stdout, output.stderr);
        assert_eq!(host.interface("br1").is_some(), output.success(), "{text}");
        host.assert_settled();
        if output.success() {
            host.apply("interfaces: [{name: br1, type: linux-bridge, state: absent}]\n");
        } else {
            assert!(text.contains("open files") || text.contains("descriptors"), "{text}");
            refused += 1;
        }
    }
    assert!(refused > 0, "none ran out of them, so this proves nothing");
}
