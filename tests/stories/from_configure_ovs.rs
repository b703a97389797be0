//! A host that configure-ovs or nmstate-configuration set up is taken over, and given back.

use linesman_lab::documents::eth0;
use linesman_tests::agent_host::install_units;
use linesman_tests::{Host, br_ex, observe};

const ETC: &str = "/etc/NetworkManager/system-connections";

/// The five profiles of configure-ovs, made and activated in its order. SAVE, ADDRESSES: where they are stored, and the
/// addresses of br-ex.
const PROFILES: &str = "
set -e
mac=$(cat /sys/class/net/eth0/address)
profile() { nmcli connection add save SAVE connection.autoconnect no \"$@\"; }
uuid_of() { nmcli -g connection.uuid connection show \"$1\"; }
profile type ovs-bridge con-name br-ex ifname br-ex connection.autoconnect-slaves 1 ovs-bridge.datapath-type netdev
profile type ovs-port con-name ovs-port-phys0 ifname eth0 master br-ex connection.autoconnect-slaves 1
profile type ovs-port con-name ovs-port-br-ex ifname br-ex master br-ex
profile type ethernet con-name ovs-if-phys0 ifname eth0 master $(uuid_of ovs-port-phys0) slave-type ovs-port \\
  connection.autoconnect-priority 100 connection.autoconnect-slaves 1 ethernet.mtu 1500 ethernet.cloned-mac-address $mac
profile type ovs-interface con-name ovs-if-br-ex ifname br-ex master $(uuid_of ovs-port-br-ex) slave-type ovs-port \\
  ovs-interface.type internal ethernet.mtu 1500 ethernet.cloned-mac-address $mac ADDRESSES
for name in br-ex ovs-if-phys0 ovs-if-br-ex; do nmcli --wait 60 connection up $name; done
for name in br-ex ovs-port-phys0 ovs-port-br-ex ovs-if-phys0 ovs-if-br-ex; do
  nmcli connection modify TEMPORARY $name connection.autoconnect yes
done
";

/// What OVN has on the bridge then.
const OVN: &str = "
ovs-vsctl add-br br-int -- set bridge br-int datapath_type=netdev
ovs-vsctl add-port br-ex to-int -- set interface to-int type=patch options:peer=to-ex
ovs-vsctl add-port br-int to-ex -- set interface to-ex type=patch options:peer=to-int
";

fn configure_ovs(host: &Host, saved: bool) {
    let addresses = format!(
        "ipv4.method manual ipv4.addresses {}/24 ipv4.gateway 10.9.0.1 ipv4.dns 10.9.0.1 ipv4.route-metric 48 \
         ipv6.method manual ipv6.addresses {}/64 ipv6.gateway fd09::1 ipv6.route-metric 48",
        host.node.mgmt_ipv4(),
        host.node.mgmt_ipv6(),
    );
    configure_ovs_with(host, saved, &addresses);
    assert!(host.reachable());
}

fn configure_ovs_with(host: &Host, saved: bool, addresses: &str) {
    let (save, temporary) = if saved { ("yes", "") } else { ("no", "--temporary") };
    let script =
        PROFILES.replace("SAVE", save).replace("TEMPORARY", temporary).replace("ADDRESSES", addresses);
    host.node.run(["bash", "-c", &script]).expect("br-ex comes up");
    host.node.sh(OVN).expect("OVN comes");
}

/// Profiles that outlive a boot, by name.
fn stored(host: &Host) -> Vec<String> {
    let files = host.node.run(["ls", ETC]).expect("there are profiles");
    let mut names: Vec<String> =
        files.split_whitespace().map(|file| file.trim_end_matches(".nmconnection").to_owned()).collect();
    names.sort();
    names
}

const OWN: [&str; 5] = ["br-ex-br", "br-ex-if", "br-ex-port", "eth0", "eth0-port"];

fn active(host: &Host) -> Vec<String> {
    let all = host.node.nmcli(&["-t", "-f", "NAME,TYPE", "connection", "show", "--active"]);
    let all = all.expect("nmcli lists profiles");
    let mut names: Vec<String> = all
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(_, kind)| !matches!(*kind, "tun" | "loopback"))
        .map(|(name, _)| name.to_owned())
        .collect();
    names.sort();
    names
}

/// The rows of one table, by name.
fn rows(host: &Host, table: &str) -> Vec<String> {
    let all =
        host.node.ovs_vsctl(&["--bare", "--columns=name", "list", table]).expect("Open vSwitch answers");
    let mut names: Vec<String> = all.split_whitespace().map(str::to_owned).collect();
    names.sort();
    names
}

fn reboot(host: &Host) {
    host.node.power_cut().expect("the power can be cut");
    host.node.boot().expect("the node boots");
    host.assert_settled();
}

fn taken_over_and_given_back(host: &Host) {
    let number = observe::ovs(&host.node, "Interface", "eth0", "ofport");
    let addresses = observe::addresses(&host.node, "br-ex");
    let document = br_ex(&host.node);
    host.apply(&document);
    assert_eq!(observe::addresses(&host.node, "br-ex"), addresses, "its addresses stay");
    assert_eq!(stored(host), OWN, "nothing of configure-ovs is left");
    assert_eq!(rows(host, "Port"), ["br-ex", "br-int", "eth0", "to-ex", "to-int"]);
    reboot(host);
    host.eventually("the same profiles are active", || active(host) == OWN);
    assert_eq!(observe::addresses(&host.node, "br-ex"), addresses, "after the boot");
    assert_eq!(observe::ovs(&host.node, "Interface", "eth0", "ofport"), number, "after the boot");
    // NetworkManager makes its bridge anew at boot; OVN adds its port again.
    assert_eq!(rows(host, "Port"), ["br-ex", "br-int", "eth0", "to-ex"]);
    let again = host.apply(&document);
    assert!(again.stdout.contains("no changes made"), "{}", again.stdout);

    host.node
        .sh("ovs-vsctl add-port br-ex to-int -- set interface to-int type=patch options:peer=to-ex")
        .expect("OVN comes again");
    host.apply(&eth0(&host.node));
    assert_eq!(stored(host), ["eth0"], "as configure-ovs finds a host");
    assert_eq!(rows(host, "Bridge"), ["br-int"]);
    assert_eq!(rows(host, "Interface"), ["br-int", "to-ex"]);
    reboot(host);
    assert_eq!(observe::addresses(&host.node, "eth0"), addresses);
    configure_ovs_again(host);
}

/// The names are free, and what it makes works.
fn configure_ovs_again(host: &Host) {
    host.node.sh("ovs-vsctl --if-exists del-br br-int").expect("OVN goes");
    configure_ovs(host, false);
    assert!(host.reachable());
}

#[test]
fn profiles_of_configure_ovs_in_memory() {
    let host = Host::built("from-configure-ovs", |node| node.systemd(true));
    configure_ovs(&host, false);
    taken_over_and_given_back(&host);
}

#[test]
fn profiles_of_configure_ovs_on_disk() {
    let host = Host::new("from-saved-ovs");
    configure_ovs(&host, true);
    // Nothing differs but a domain.
    taken_over_and_given_back(&host);
}

const LEASED: &str = "ipv4.method auto ipv4.may-fail no ipv4.route-metric 48 \
                      ipv6.method auto ipv6.may-fail no ipv6.route-metric 48 ipv6.addr-gen-mode eui64";

/// One of each family, by DHCP and from the router.
fn leased(host: &Host, interface: &str) -> Vec<String> {
    let mut all = observe::addresses(&host.node, interface);
    all.retain(|address| address.starts_with("10.9.0.") || address.starts_with("fd09:"));
    all
}

/// As `docs/howto/move-from-configure-ovs.md` says.
#[test]
fn profiles_of_configure_ovs_with_a_lease() {
    let host = Host::built("from-leased-ovs", |node| node.systemd(true));
    let (node, hub) = (&host.node, host.lab.hub());
    node.sh("nmcli connection modify eth0 ipv4.method auto ipv4.addresses '' ipv4.gateway '' ipv4.dns '' \
         ipv6.method auto ipv6.addresses '' ipv6.gateway '' ipv6.addr-gen-mode eui64")
        .expect("eth0 is set to DHCP");
    node.nmcli(&["--wait", "60", "connection", "up", "eth0"]).expect("eth0 comes up");
    host.eventually("both addresses", || leased(&host, "eth0").len() == 2);
    let addresses = leased(&host, "eth0");
    let ipv4: std::net::Ipv4Addr =
        addresses.iter().find_map(|address| address.trim_end_matches("/24").parse().ok()).expect("a lease");
    configure_ovs_with(&host, false, LEASED);
    let is_there = || leased(&host, "br-ex") == addresses && hub.ping(ipv4);
    host.eventually("the same addresses on br-ex", is_there);
    let number = observe::ovs(node, "Interface", "eth0", "ofport");

    let already = host.linesman(&["brex", "--apply"]);
    assert_eq!(already.stdout, "br-ex is already on eth0; no changes made\n", "{}", already.stderr);
    let imported = host.linesman(&["import"]);
    assert!(imported.success(), "{}", imported.stderr);
    let without_name = |line: &&str| !line.starts_with("hostname:") && !line.starts_with("  config: n1");
    let document: String =
        imported.stdout.lines().filter(without_name).map(|line| format!("{line}\n")).collect();
    assert!(document.contains("dhcp: true") && !document.contains("10.9.0.1"), "{document}");
    let plan = host.linesman(&["plan", &host.document(&document)]);
    let values = plan.stdout.lines().filter(|line| line.trim_start().starts_with(['~', '+', '-']));
    for line in values {
        assert!(line.contains("profile["), "nothing else differs:\n{}\n{document}", plan.stdout);
    }
    node.write_file("/etc/nmstate/openshift/n1.yml", &document, 0o600).expect("a document can be written");
    let applied = host.linesman(&["firstboot"]);
    assert!(applied.success(), "{}{}", applied.stdout, applied.stderr);
    assert!(node.exists("/etc/nmstate/openshift/applied").expect("it can be looked for"));
    host.eventually("the same lease", is_there);
    assert_eq!(leased(&host, "eth0"), Vec::<String>::new(), "{}", applied.stdout);
    assert_eq!(stored(&host), OWN, "nothing of configure-ovs is left");
    let route = observe::route(node, "main", "default").expect("a default route");
    assert_eq!((route["dev"].as_str(), route["metric"].as_u64()), (Some("br-ex"), Some(48)));
    assert_eq!(host.open_checkpoints(), 0);

    node.power_cut().expect("the power can be cut");
    node.boot().expect("the node boots");
    host.eventually("the same lease after the boot", is_there);
    assert_eq!(observe::ovs(node, "Interface", "eth0", "ofport"), number, "after the boot");
    let again = host.apply(&document);
    assert!(again.stdout.contains("no changes made"), "{}", again.stdout);
}

/// What configure-ovs had in memory is gone with the power; the host's own document is not.
#[test]
fn a_power_cut_in_the_middle_of_it() {
    let host = Host::built("from-ovs-cut", |node| node.systemd(true));
    let node = &host.node;
    install_units(node);
    let units = ["linesman-recover-boot", "linesman-recover", "linesman-firstboot"];
    node.run([&["systemctl", "enable"], &units[..]].concat()).expect("units can be enabled");
    configure_ovs(&host, false);
    node.write_file("/etc/nmstate/openshift/n1.yml", br_ex(node), 0o600).expect("a document can be written");
    let command = node.command(["linesman", "firstboot"]).expect("linesman can be run");
    let running = command.env("LINESMAN_FAILPOINT", "applied").spawn().expect("linesman starts");
    host.wait_failpoint("applied");
    node.power_cut().expect("the power can be cut");
    drop(running);
    node.boot().expect("the node boots");
    host.eventually("br-ex is there", || active(&host) == OWN);
    let address = format!("{}/24", node.mgmt_ipv4());
    host.eventually("with the address", || observe::addresses(node, "br-ex").contains(&address));
    assert_eq!(stored(&host), OWN, "nothing of configure-ovs is left");
    host.assert_settled();

    // Back: without a document, configure-ovs may come again.
    node.run(["rm", "/etc/nmstate/openshift/n1.yml"]).expect("a document can be removed");
    let withdrawn = host.linesman(&["firstboot"]);
    assert!(withdrawn.stdout.contains("withdrawn"), "{}{}", withdrawn.stdout, withdrawn.stderr);
    assert!(!node.exists("/etc/nmstate/openshift/applied").expect("it can be looked for"));
    host.apply(&eth0(node));
    reboot(&host);
    assert_eq!(stored(&host), ["eth0"], "as configure-ovs finds a host");
}

#[test]
fn files_of_nmstate_configuration() {
    let host = Host::new("from-nmstate-files");
    let document = br_ex(&host.node);
    host.apply(&document);
    // As nmstate.service leaves it: the same profiles, and its files.
    for file in ["n1.yml", "n1.applied", "openshift/n1.yml", "openshift/applied"] {
        host.node.run(["mkdir", "-p", "/etc/nmstate/openshift"]).expect("a directory can be made");
        host.node
            .write_file(format!("/etc/nmstate/{file}"), &document, 0o600)
            .expect("a file can be written");
    }
    let rows_before = observe::ovs(&host.node, "Interface", "eth0", "_uuid");
    let again = host.apply(&document);
    assert!(again.stdout.contains("no changes made"), "{}", again.stdout);
    assert_eq!(observe::ovs(&host.node, "Interface", "eth0", "_uuid"), rows_before, "nothing was touched");
    assert_eq!(stored(&host), OWN);
    host.apply(&eth0(&host.node));
    assert_eq!(stored(&host), ["eth0"]);
    assert_eq!(rows(&host, "Bridge"), Vec::<String>::new());
    host.assert_settled();
}
