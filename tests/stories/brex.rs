//! `linesman brex`: br-ex takes over the uplink of a host with everything that the host had on it.

use std::path::Path;

use linesman_lab::transcript::{self, CommandResult};
use linesman_lab::{gateway_v4, gateway_v6};
use linesman_tests::{Host, observe};
use serde_json::{Value, json};

const CHOICE: &str = "/var/lib/linesman/brex.json";

/// What a user sees of the takeover, without what differs from change to change.
fn picture(host: &Host) -> Value {
    let node = &host.node;
    let routes = |family: &str| node.ip_json(&[family, "route", "show", "table", "all"]).unwrap();
    let kept = |routes: Value| -> Vec<Value> {
        let of_hosts = ["destination", "dst", "gateway", "dev", "metric", "table"];
        let mut routes: Vec<Value> = observe::list(&routes)
            .iter()
            .filter(|route| route["type"].is_null() || route["type"] == "unicast")
            .map(|route| of_hosts.iter().map(|key| ((*key).to_owned(), route[*key].clone())).collect())
            .collect();
        routes.sort_by_key(ToString::to_string);
        routes
    };
    json!({
        "br-ex": observe::addresses(node, "br-ex"),
        "eth0": observe::addresses(node, "eth0"),
        "mac": observe::link(node, "br-ex").map(|link| link["address"].clone()),
        "mtu": observe::link(node, "br-ex").map(|link| link["mtu"].clone()),
        "routes": [kept(routes("-4")), kept(routes("-6"))],
        "rule": observe::rule(node, "-4", 1000),
        "dns": observe::resolv_conf(node),
        "ports": node.ovs_vsctl(&["list-ports", "br-ex"]).unwrap(),
    })
}

fn default_route(host: &Host, family: &str) -> (Value, Value) {
    let routes = host.node.ip_json(&[family, "route", "show", "default"]).unwrap();
    (routes[0]["dev"].clone(), routes[0]["metric"].clone())
}

/// The document that is printed, which then holds.
fn printed(host: &Host, arguments: &[&str]) -> String {
    let printed = host.linesman(&[&["brex"], arguments].concat());
    assert!(printed.success(), "{}{}", printed.stdout, printed.stderr);
    printed.stdout
}

fn applied(host: &Host, arguments: &[&str]) -> String {
    let applied = host.linesman(&[&["brex", "--apply"], arguments].concat());
    assert!(applied.success(), "{}{}", applied.stdout, applied.stderr);
    applied.stdout
}

#[track_caller]
fn holds(host: &Host, document: &str) {
    let plan = host.linesman(&["plan", &host.document(document)]);
    assert!(plan.success(), "{}{}\n{document}", plan.stdout, plan.stderr);
}

#[test]
fn br_ex_takes_over_a_static_host() {
    let host = Host::new("brex-static");
    host.apply(ROUTE_AND_RULE);
    host.node
        .run(["ip", "rule", "add", "from", "203.0.113.0/24", "lookup", "200", "priority", "777"])
        .unwrap();
    let document = printed(&host, &[]);
    assert!(!document.contains("priority: 777"), "{document}");
    assert!(document.contains("# note: route-rules: priority 777: not in a profile"), "{document}");
    assert!(document.contains("# note: the default route is that of eth0 (IPv4, metric 100)"), "{document}");
    assert!(!host.node.exists(CHOICE).unwrap(), "printing changes nothing");

    let pending = host.try_apply(&document, &["--no-commit", "--timeout", "300"]);
    assert!(pending.success(), "{}{}", pending.stdout, pending.stderr);
    let by_document = picture(&host);
    let back = host.linesman(&["rollback"]);
    assert!(back.success(), "{}{}", back.stdout, back.stderr);

    let output = applied(&host, &[]);
    assert!(output.contains("committed: verified and probed"), "{output}");
    let now = picture(&host);
    assert_eq!(now, by_document, "the document and --apply do the same");
    let (v4, v6) = (host.node.mgmt_ipv4(), host.node.mgmt_ipv6());
    let addresses = observe::list(&now["br-ex"]);
    for address in [format!("{v4}/24"), format!("{v6}/64")] {
        assert!(addresses.contains(&json!(address)), "{now:#}");
    }
    assert_eq!((&now["mac"], &now["ports"]), (&json!(host.node.mac(0)), &json!("eth0\n")), "{now:#}");
    for family in ["-4", "-6"] {
        assert_eq!(default_route(&host, family), (json!("br-ex"), json!(48)), "{now:#}");
    }
    let route = observe::route(&host.node, "200", "198.51.100.0/24").unwrap_or_default();
    assert_eq!(route["dev"], "br-ex", "{now:#}");
    assert!(now["rule"].is_object(), "{now:#}");
    let rules = host.node.run(["ip", "rule", "show", "priority", "777"]).unwrap();
    assert_eq!(rules.lines().count(), 1, "the rule of others is there once: {rules}");
    assert!(observe::resolv_conf(&host.node).contains("search example.com"), "{now:#}");
    assert!(host.lab.hub().ping(v6), "IPv6 as well");
    holds(&host, &document);
    host.assert_settled();

    assert_eq!(applied(&host, &[]), "br-ex is already on eth0; no changes made\n");
    let again = printed(&host, &["--interface", "eth0"]);
    assert!(again.starts_with("# br-ex is already on eth0; nothing to do."), "{again}");
    let nothing = host.try_apply(&again, &[]);
    assert!(nothing.success() && nothing.stdout.contains("no changes made"), "{}", nothing.stderr);
    let elsewhere = host.linesman(&["brex", "--apply", "--interface", "eth1", "-o", "json"]);
    assert!(elsewhere.code() == Some(1) && elsewhere.stdout.contains("LM0925"), "{}", elsewhere.stdout);

    // Another default route, and a better one: the choice of before stands.
    let on_eth0 = linesman_lab::documents::eth0(&host.node);
    host.apply(&on_eth0.replace("next-hop-interface: eth0}", "next-hop-interface: eth0, metric: 100}"));
    host.apply(&second_default_route(&host));
    assert_eq!(default_route(&host, "-4"), (json!("eth1"), json!(10)));
    let document = printed(&host, &[]);
    assert!(document.starts_with("# br-ex on eth0") && document.contains("chosen before"), "{document}");
    host.node.run(["rm", CHOICE]).unwrap();
    let document = printed(&host, &[]);
    assert!(document.starts_with("# br-ex on eth1"), "{document}");
}

const ROUTE_AND_RULE: &str = "routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 10.9.0.7, next-hop-interface: eth0, table-id: 200}
route-rules:
  config:
  - {family: ipv4, ip-from: 198.51.100.0/24, priority: 1000, route-table: 200}
dns-resolver:
  config: {server: [10.9.0.1], search: [example.com]}
";

fn second_default_route(host: &Host) -> String {
    let (address, gateway) = (host.node.ipv4_on(1), gateway_v4(1));
    format!(
        "interfaces:
- name: eth1
  type: ethernet
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {address}, prefix-length: 24}}]}}
  ipv6: {{enabled: false}}
routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: {gateway}, next-hop-interface: eth1, metric: 10}}
"
    )
}

#[test]
fn br_ex_keeps_the_lease() {
    let host = Host::new("brex-dhcp");
    let profile =
        ["connection", "modify", "eth0", "ipv4.method", "auto", "ipv4.addresses", "", "ipv4.gateway", ""];
    let rest = [
        "ipv4.dns",
        "",
        "ipv6.method",
        "auto",
        "ipv6.addresses",
        "",
        "ipv6.gateway",
        "",
        "ipv6.addr-gen-mode",
        "eui64",
        "ipv4.dhcp-hostname",
        "foo",
    ];
    host.node.nmcli(&[&profile[..], &rest].concat()).unwrap();
    host.node.nmcli(&["--wait", "60", "connection", "up", "eth0"]).unwrap();
    let leased = |interface: &str| {
        let mut all = observe::addresses(&host.node, interface);
        all.retain(|address| address.starts_with("10.9.0.1") || address.starts_with("fd09:"));
        all
    };
    host.eventually("both addresses", || leased("eth0").len() == 2);
    let before = leased("eth0");

    let document = printed(&host, &[]);
    assert!(document.contains("auto-route-metric: 48") && !document.contains("routes:"), "{document}");
    assert!(document.contains("dhcp-custom-hostname: foo"), "{document}");
    applied(&host, &["--patience", "60s"]);
    // The same MAC address gets the same lease, and the same address from the router advertisement.
    host.eventually("both addresses on br-ex", || leased("br-ex") == before);
    assert_eq!(leased("eth0"), Vec::<String>::new());
    assert_eq!(default_route(&host, "-4"), (json!("br-ex"), json!(48)));
    host.eventually("the route from the router advertisement", || {
        default_route(&host, "-6") == (json!("br-ex"), json!(48))
    });
    assert!(observe::resolv_conf(&host.node).contains(&gateway_v4(0).to_string()));
    assert!(host.node.exec(["ping", "-c1", "-W5", &gateway_v6(0).to_string()]).unwrap().success());
    assert_eq!(applied(&host, &["--quiet"]), "");
    assert_eq!(host.open_checkpoints(), 0);
}

#[test]
fn br_ex_beside_the_node_ip() {
    let host = Host::new("brex-beside");
    transcripts(&host);
    let before = observe::addresses(&host.node, "eth0");
    let watch = host.lab.hub().watch(host.node.mgmt_ipv4()).unwrap();
    let document = printed(&host, &["--interface", "eth1"]);
    applied(&host, &["--interface", "eth1"]);
    let record = watch.stop();
    assert_eq!(record.lost(), 0, "eth0 was not touched");
    assert_eq!(observe::addresses(&host.node, "eth0"), before);
    assert_eq!(host.node.ovs_vsctl(&["list-ports", "br-ex"]).unwrap(), "eth1\n");
    let link = observe::link(&host.node, "br-ex").expect("it is there");
    assert_eq!(link["address"], host.node.mac(1), "{link:#}");
    assert_eq!(default_route(&host, "-4").0, "eth0");
    holds(&host, &document);
    // The default route is elsewhere, and br-ex is there all the same.
    assert_eq!(applied(&host, &[]), "br-ex is already on eth1; no changes made\n");
    host.assert_settled();

    // A second bridge, on what is left.
    let document = printed(&host, &["--bridge", "br-ex1"]);
    assert!(document.starts_with("# br-ex1 on eth0") && document.contains("metric: 49"), "{document}");
    applied(&host, &["--bridge", "br-ex1"]);
    assert_eq!(default_route(&host, "-4"), (json!("br-ex1"), json!(49)));
    let choice: Value = serde_json::from_slice(&host.node.read_file(CHOICE).unwrap()).unwrap();
    assert_eq!(choice, json!({ "br-ex": "eth1", "br-ex1": "eth0" }));
    host.assert_settled();
}

fn profile_value(host: &Host, profile: &str, key: &str) -> String {
    let shown = host.node.nmcli(&["--get-values", key, "connection", "show", profile]).unwrap();
    shown.trim().to_owned()
}

/// The profile that runs on an interface which is no bridge.
fn running_profile(host: &Host, interface: &str) -> String {
    let all =
        host.node.nmcli(&["--get-values", "NAME,TYPE,DEVICE", "connection", "show", "--active"]).unwrap();
    let is_its = |line: &&str| {
        line.ends_with(&format!(":{interface}")) && !line.contains(":ovs-bridge:") && !line.contains(":tun:")
    };
    let line = all.lines().find(is_its).unwrap_or_else(|| panic!("{interface}: {all}"));
    line.split(':').next().expect("it has a name").to_owned()
}

fn static_second_nic(host: &Host, dns: &str) {
    let address = format!("{}/24", host.node.ipv4_on(1));
    let add = ["connection", "add", "type", "ethernet", "con-name", "second", "ifname", "eth1"];
    let ip =
        ["ipv4.method", "manual", "ipv4.addresses", &address, "ipv4.dns", dns, "ipv6.method", "disabled"];
    host.node.nmcli(&[&add[..], &ip].concat()).unwrap();
    host.node.nmcli(&["--wait", "30", "connection", "up", "second"]).unwrap();
}

#[test]
fn br_ex_leaves_the_dns_of_a_nic_that_is_not_named() {
    let host = Host::new("brex-dns");
    let server = gateway_v4(0).to_string();
    host.node.nmcli(&["connection", "modify", "eth0", "ipv4.dns", &server]).unwrap();
    host.node.nmcli(&["--wait", "30", "connection", "up", "eth0"]).unwrap();
    static_second_nic(&host, "");
    let document = printed(&host, &["--interface", "eth1"]);
    assert!(!document.contains("dns-resolver") && document.contains("stays there"), "{document}");
    applied(&host, &["--interface", "eth1"]);
    assert_eq!(profile_value(&host, "eth0", "ipv4.dns"), server);
    assert_eq!(profile_value(&host, &running_profile(&host, "br-ex"), "ipv4.dns"), "");
    assert!(observe::resolv_conf(&host.node).contains(&server));
    host.assert_settled();

    host.apply(
        "interfaces:
- {name: br-ex, type: ovs-interface, state: absent}
- {name: br-ex, type: ovs-bridge, state: absent}
- {name: eth1, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}
",
    );
    assert!(!observe::link_exists(&host.node, "br-ex"));
    assert_eq!(profile_value(&host, "eth0", "ipv4.dns"), server);
    host.assert_settled();
}

#[test]
fn br_ex1_with_dhcp_beside_the_dns_of_another_nic() {
    let host = Host::new("brex-dhcp-dns");
    let server = gateway_v4(0).to_string();
    static_second_nic(&host, &server);
    let profile =
        ["connection", "modify", "eth0", "ipv4.method", "auto", "ipv4.addresses", "", "ipv4.gateway", ""];
    host.node.nmcli(&[&profile[..], &["ipv4.dns", "", "ipv6.dns", ""]].concat()).unwrap();
    host.node.nmcli(&["--wait", "60", "connection", "up", "eth0"]).unwrap();
    applied(&host, &["--bridge", "br-ex1", "--patience", "60s"]);
    assert_eq!(profile_value(&host, "second", "ipv4.dns"), server);
    assert_eq!(profile_value(&host, &running_profile(&host, "br-ex1"), "ipv4.dns"), "");
    assert_eq!(default_route(&host, "-4"), (json!("br-ex1"), json!(49)));

    // The same on br-ex, with servers of its own on both.
    let back = format!(
        "interfaces:\n{}- {{name: eth0, type: ethernet, state: up, ipv4: {{enabled: true, dhcp: true}}, ipv6: {{enabled: false}}}}\n",
        ["ovs-interface", "ovs-bridge"]
            .map(|kind| format!("- {{name: br-ex1, type: {kind}, state: absent}}\n"))
            .concat()
    );
    host.apply(&back);
    let own = ["connection", "modify", &running_profile(&host, "eth0"), "ipv4.dns", "10.9.1.1"];
    host.node.nmcli(&own).unwrap();
    host.node.nmcli(&["--wait", "60", "connection", "up", own[2]]).unwrap();
    applied(&host, &["--patience", "60s"]);
    assert!(profile_value(&host, &running_profile(&host, "br-ex"), "ipv4.dns").contains("10.9.1.1"));
    assert_eq!(host.open_checkpoints(), 0);
}

#[test]
fn br_ex1_with_dhcp_beside_br_ex_with_dns() {
    let host = Host::new("brex-two");
    let server = gateway_v4(0).to_string();
    let default = format!("0.0.0.0/0 {server} 0");
    let profile = ["connection", "modify", "eth0", "ipv4.dns", &server, "ipv4.gateway", ""];
    host.node.nmcli(&[&profile[..], &["ipv4.routes", &default]].concat()).unwrap();
    let onlink = ["connection", "modify", "eth0", "+ipv4.routes", "198.51.100.0/24 192.0.2.77 onlink=true"];
    host.node.nmcli(&onlink).unwrap();
    host.node.nmcli(&["--wait", "30", "connection", "up", "eth0"]).unwrap();
    let address = format!("{}/24", host.node.mgmt_ipv4());
    host.eventually("the IPv4 address", || observe::addresses(&host.node, "eth0").contains(&address));
    let output = applied(&host, &[]);
    assert!(output.contains("note: the default route keeps its metric 0"), "{output}");
    assert!(output.contains("note: eth0: 198.51.100.0/24: NMState has no 'onlink'"), "{output}");
    assert_eq!(default_route(&host, "-4"), (json!("br-ex"), Value::Null));
    assert!(observe::route(&host.node, "main", "198.51.100.0/24").is_some());
    let dns = || profile_value(&host, &running_profile(&host, "br-ex"), "ipv4.dns");
    assert_eq!(dns(), server);

    let add = ["connection", "add", "type", "ethernet", "con-name", "second", "ifname", "eth1"];
    host.node.nmcli(&[&add[..], &["ipv4.method", "auto", "ipv6.method", "disabled"]].concat()).unwrap();
    host.node.nmcli(&["--wait", "60", "connection", "up", "second"]).unwrap();
    applied(&host, &["--bridge", "br-ex1", "--interface", "eth1", "--patience", "60s"]);
    assert_eq!(dns(), server);
    host.assert_settled();
}

/// In a shell on the node.
fn transcripts(host: &Host) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/brex");
    transcript::assert_true(&folder, |command| {
        let both = format!("{{ {command}; }} 2>&1");
        let output = host.node.exec(["sh", "-c", &both]).expect("a shell can be run");
        CommandResult { code: output.code().unwrap_or(-1), output: output.stdout }
    });
}

#[test]
fn br_ex_that_cuts_the_host_off_is_rolled_back() {
    let host = Host::new("brex-cut-off");
    let addresses = observe::addresses(&host.node, "eth0");
    let words = ["linesman", "brex", "--apply", "--patience", "2s"];
    let command = host.node.command(words).unwrap().env("LINESMAN_FAILPOINT", "applied,rolling-back");
    let apply = command.spawn().unwrap();
    host.wait_failpoint("applied");
    host.lab.hub().block(&host.node).unwrap();
    host.pass_failpoint("applied");
    host.wait_failpoint("rolling-back");
    host.lab.hub().unblock(&host.node).unwrap();
    host.pass_failpoint("rolling-back");
    let output = apply.wait().unwrap();
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert_eq!(observe::addresses(&host.node, "eth0"), addresses);
    assert!(!observe::link_exists(&host.node, "br-ex"));
    assert!(!host.node.exists(CHOICE).unwrap(), "nothing was chosen");
    assert_eq!(default_route(&host, "-4").0, "eth0");
    host.assert_settled();
}
