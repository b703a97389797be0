//! What protects a host from a change: probes of all policies together, a rollback that ends when the host is as before,
//! and NetworkManager's own timer when this program cannot end its worker.

use std::time::Duration;

use linesman_lab::{Running, Service, Signal, gateway_v4};
use linesman_tests::Host;
use linesman_tests::agent_host::{AgentHost, policy};

/// Takes the node's own address away.
const CUT_OFF: &str = "interfaces:
- name: eth0
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.77.0.2, prefix-length: 24}]}
";

fn cut_off_policy(options: &str) -> String {
    let state: String = CUT_OFF.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {{name: cut-off}}\nspec:\n  {options}\n  \
         desiredState:\n{state}"
    )
}

#[test]
fn a_policy_without_probes_does_not_speak_for_another() {
    let agent_host = AgentHost::new("union");
    agent_host.stop();
    agent_host.write("cut-off", &cut_off_policy("patience: 2"));
    let quiet = policy("quiet", "probes: []\n  patience: 2", "br1", 1400, "eth1");
    agent_host.write("quiet", &quiet);
    agent_host.start();
    agent_host.wait_phase("cut-off", "rolled-back");
    agent_host.wait_phase("quiet", "in-sync");
    let changes = agent_host.changes();
    assert!(changes[0].contains("cut-off") && changes[0].contains("quiet"), "one change first: {changes:?}");
    agent_host.host.assert_settled();
    let last = agent_host
        .host
        .linesman(&["history", agent_host.host.history().last().unwrap()["id"].as_str().unwrap()]);
    assert!(last.stdout.contains("verified; nothing was probed"), "{}", last.stdout);
    agent_host.host.eventually("what passes is remembered", || {
        let file =
            agent_host.host.node.read_file("/var/lib/linesman/settled-probes.json").unwrap_or_default();
        String::from_utf8_lossy(&file).contains("\"gateway:v4\"")
    });
}

/// The lease and the default route by it, as the node has them now.
fn lease(host: &Host) -> (bool, bool) {
    let addresses = host.node.ip_json(&["-4", "address", "show", "eth0"]).unwrap();
    let routes = host.node.ip_json(&["-4", "route", "show", "default"]).unwrap();
    let leased =
        addresses[0]["addr_info"].as_array().is_some_and(|all| all.iter().any(|a| a["dynamic"] == true));
    (leased, routes.as_array().is_some_and(|routes| !routes.is_empty()))
}

fn roll_back_while_dhcp_is_late(host: &Host, apply: Running) {
    host.wait_failpoint("rolling-back");
    assert_eq!(lease(host), (false, false), "nobody is cut off, so this proves nothing");
    host.lab.hub().silence(Service::Dhcp).unwrap();
    host.pass_failpoint("rolling-back");
    host.eventually("NetworkManager asks for a lease", || {
        let state = host.node.nmcli(&["-g", "GENERAL.STATE", "device", "show", "eth0"]).unwrap();
        state.starts_with("70") || apply.status().is_some()
    });
    host.lab.hub().restore(Service::Dhcp).unwrap();
    let output = apply.wait().unwrap();
    assert_eq!(lease(host), (true, true), "{}", output.stdout);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
}

#[test]
fn a_rollback_ends_when_the_lease_is_back() {
    let host = Host::new("lease");
    let auto =
        ["connection", "modify", "eth0", "ipv4.method", "auto", "ipv4.addresses", "", "ipv4.gateway", ""];
    host.node.nmcli(&[&auto[..], &["ipv4.dns", "", "ipv4.may-fail", "no"]].concat()).unwrap();
    host.node.nmcli(&["--wait", "60", "connection", "up", "eth0"]).unwrap();
    assert_eq!(lease(&host), (true, true));

    let apply = host.start_apply(CUT_OFF, &["--patience", "1s"], "rolling-back");
    roll_back_while_dhcp_is_late(&host, apply);

    // Whoever probes nothing waits for it, too.
    let apply = host.start_apply(CUT_OFF, &["--no-probes"], "applied,rolling-back");
    host.wait_failpoint("applied");
    apply.signal(Signal::SIGINT).unwrap();
    host.pass_failpoint("applied");
    roll_back_while_dhcp_is_late(&host, apply);

    // One that does not come back is not called complete.
    let apply = host.start_apply(CUT_OFF, &["--patience", "1s"], "rolling-back");
    host.wait_failpoint("rolling-back");
    host.lab.hub().silence(Service::Gateway).unwrap();
    host.pass_failpoint("rolling-back");
    let output = apply.wait().unwrap();
    assert_eq!(output.code(), Some(6), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("  ! gateway:v4"), "{}", output.stdout);
    let record = host.history().pop().unwrap();
    assert_eq!(record["outcome"]["category"], "incomplete", "{record:#}");
    assert_eq!(lease(&host), (true, true));
}

/// The kernel may send probes from a virtual IP, which stays when the host's own address goes.
#[test]
fn what_answers_a_virtual_ip_does_not_answer_the_host() {
    let host = Host::new("virtual");
    host.node.sh("ip address add 10.9.0.250/32 dev eth0").unwrap();
    let flags = ["--probe", "gateway:v4", "--patience", "2s"];
    let output = host.try_apply(CUT_OFF, &flags);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("gateway:v4"), "{}", output.stdout);
    host.assert_settled();

    // The own address is another one, and good.
    let moved = CUT_OFF.replace("10.77.0.2", "10.9.0.222");
    let output = host.try_apply(&moved, &flags);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);

    // Nor does what answers an address that the change took away, and that is there all the same.
    let apply = host.start_apply(CUT_OFF, &flags, "applied");
    host.wait_failpoint("applied");
    host.node.sh("ip address add 10.9.0.222/24 dev eth0").unwrap();
    host.pass_failpoint("applied");
    let output = apply.wait().unwrap();
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("ipv4.address[10.9.0.222]: "), "{}", output.stdout);
}

/// What was probed before the change is on disk: whoever finishes it knows what must pass.
#[test]
fn a_recovered_host_is_called_as_before_only_if_it_is_connected() {
    let host = Host::new("recovered");
    let kill_at = |failpoint: &str, flags: &[&str]| {
        let apply = host.start_apply(CUT_OFF, flags, failpoint);
        host.wait_failpoint(failpoint);
        apply.kill().unwrap();
        apply.wait().unwrap();
        host.pass_failpoint(failpoint);
    };
    kill_at("applied", &[]);
    let recovered = host.linesman(&["recover"]);
    assert_eq!(recovered.code(), Some(0), "{}{}", recovered.stdout, recovered.stderr);
    let record = host.history().pop().unwrap();
    assert_eq!(record["outcome"]["probes"]["after_rollback"][0]["status"]["result"], "passed", "{record:#}");

    kill_at("applied", &[]);
    host.lab.hub().silence(Service::Gateway).unwrap();
    let recovered = host.linesman(&["recover"]);
    assert_eq!(recovered.code(), Some(6), "{}{}", recovered.stdout, recovered.stderr);
    assert!(recovered.stdout.contains("  ! gateway:v4"), "{}", recovered.stdout);
    assert!(recovered.stdout.contains("LM2007"), "{}", recovered.stdout);
    host.lab.hub().restore(Service::Gateway).unwrap();

    // Whoever holds a change that nobody confirmed has died: it was not confirmed, whoever rolls it back.
    let apply = host.start_apply(&bridge("br7"), &["--try", "60s"], "");
    host.eventually("it waits", || {
        host.history().last().is_some_and(|record| record["phase"].to_string().contains("pending"))
    });
    apply.kill().unwrap();
    apply.wait().unwrap();
    let rolled_back = host.linesman(&["rollback"]);
    assert!(!rolled_back.stdout.contains("interrupted;"), "{}{}", rolled_back.stdout, rolled_back.stderr);
    assert_eq!(host.history().pop().unwrap()["outcome"]["step"], "confirm");
    host.assert_settled();
}

/// A process that is traced is not gone for its parent before its tracer has let it go: the same as one in
/// uninterruptible sleep, which nobody can make at will.
#[test]
fn a_worker_that_cannot_be_ended_does_not_hold_a_host_cut_off() {
    let host = Host::new("stuck");
    let apply = host.start_apply(CUT_OFF, &["--timeout", "10s"], "worker-done");
    host.wait_failpoint("worker-done");
    let found = host.node.sh("grep -l '[a]pply-worker' /proc/[0-9]*/cmdline").unwrap();
    let worker = found.trim().split('/').nth(2).unwrap().to_owned();
    let ptrace = if cfg!(target_arch = "x86_64") { 101 } else { 117 };
    let seize =
        format!("syscall({ptrace}, 0x4206, $ARGV[0]+0, 0, 0) == 0 or die; print 'traced'; $| = 1; sleep 300");
    let tracer = host.node.spawn(["perl", "-e", &seize, &worker]).unwrap();
    host.eventually("the worker is traced", || {
        let status = host.node.run(["cat", &format!("/proc/{worker}/status")]).unwrap();
        status.lines().any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0"))
    });
    let output = apply.wait_at_most(Duration::from_secs(120)).unwrap();
    assert_eq!(output.code(), Some(6), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains(&format!("process {worker}")), "{}", output.stdout);
    assert!(output.stdout.contains("still runs"), "{}", output.stdout);
    host.assert_settled();
    tracer.kill().unwrap();
}

fn bridge(name: &str) -> String {
    format!("interfaces:\n- {{name: {name}, type: linux-bridge, state: up, ipv4: {{enabled: false}}}}\n")
}

#[test]
fn what_passed_when_settled_is_waited_for_before_a_change() {
    let host = Host::new("settled");
    let first = host.apply(&bridge("br1"));
    assert!(
        first.stdout.contains("committed: verified and probed (gateway:v4, gateway:v6, dns)"),
        "{}",
        first.stdout
    );
    assert!(!first.stdout.contains("not protected"), "{}", first.stdout);

    // As right after a rollback: nothing answers yet, and a moment later everything does.
    host.lab.hub().block(&host.node).unwrap();
    let apply = host.start_apply(CUT_OFF, &["--patience", "1s"], "settling");
    host.wait_failpoint("settling");
    host.lab.hub().unblock(&host.node).unwrap();
    host.pass_failpoint("settling");
    let output = apply.wait().unwrap();
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    host.assert_settled();

    // What stays silent is named, and not waited for again.
    host.lab.hub().block(&host.node).unwrap();
    let silent = host.apply(&bridge("br2"));
    let known = "not protected: gateway:v4 (passed when the host was settled, failed before the change: ";
    assert!(silent.stdout.contains(known), "{}", silent.stdout);
    assert!(silent.stdout.contains("committed: verified; no probe passes"), "{}", silent.stdout);
    let plan = host.linesman(&["plan", &host.document(&bridge("br3"))]);
    assert!(plan.stdout.contains("not protected: gateway:v4 (failed before the change: "), "{}", plan.stdout);
}

/// As in upstream's example of a default bridge: it moves IPv4 only.
fn default_bridge(host: &Host, stp: &str) -> String {
    format!(
        "interfaces:
- name: br1
  type: linux-bridge
  state: up
  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {ip}, prefix-length: 24}}]}}
  ipv6: {{enabled: false}}
  bridge:
    options: {{stp: {stp}}}
    port: [{{name: eth0}}]
- name: eth0
  type: ethernet
  state: up
  ipv4: {{enabled: false}}
  ipv6: {{enabled: false}}
routes:
  config: [{{destination: 0.0.0.0/0, next-hop-address: {gateway}, next-hop-interface: br1}}]
dns-resolver:
  config: {{server: [{gateway}]}}
",
        ip = host.node.mgmt_ipv4(),
        gateway = gateway_v4(0),
    )
}

#[test]
fn one_family_of_a_dual_stack_host_may_go_and_is_reported() {
    let host = Host::new("one-family");
    // A default route that is preferred and leads nowhere: what uses IPv4 first would be cut off.
    let dead = "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.9.0.77, next-hop-interface: eth0, metric: 1}]}\n";
    let output = host.try_apply(dead, &["--patience", "3s"]);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("gateway:v6 passed"), "{}", output.stdout);
    host.assert_settled();

    let bridge = default_bridge(&host, "{enabled: false}");
    // Whoever needs the other family says so.
    let strict = host.try_apply(&bridge, &["--probe", "gateway:v6", "--patience", "5s"]);
    assert_eq!(strict.code(), Some(5), "{}{}", strict.stdout, strict.stderr);
    assert!(strict.stdout.contains("gateway:v6 failed"), "{}", strict.stdout);
    host.assert_settled();

    let output = host.apply(&bridge);
    assert_eq!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("lost: gateway:v6 ("), "{}", output.stdout);
    assert!(host.lab.hub().ping(host.node.mgmt_ipv4()));

    // Neither may go alone when it is the last one.
    let cut_off = CUT_OFF.replace("eth0", "br1").replace("ethernet", "linux-bridge");
    let output = host.try_apply(&cut_off, &["--patience", "3s"]);
    assert_eq!(output.code(), Some(5), "{}{}", output.stdout, output.stderr);
    host.assert_settled();
}

#[test]
fn patience_grows_with_what_the_change_makes_slow() {
    let host = Host::new("slow-bridge");
    let bridge = default_bridge(&host, "{enabled: true, forward-delay: 12}");
    let plan = host.linesman(&["plan", &host.document(&bridge)]);
    let shown = "patience: 44 s unless set: br1 forwards after 24 s (spanning tree)";
    assert!(plan.stdout.contains(shown), "{}", plan.stdout);
    let short = host.try_apply(&bridge, &["--patience", "3s"]);
    assert_eq!(short.code(), Some(5), "{}{}", short.stdout, short.stderr);
    assert!(short.stdout.contains("(patience 3 s)"), "{}", short.stdout);
    host.assert_settled();
    let output = host.apply(&bridge);
    assert_eq!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
    assert!(host.lab.hub().ping(host.node.mgmt_ipv4()));
}

#[test]
fn what_somebody_else_has_not_committed_does_not_count() {
    let host = Host::new("uncommitted");
    let checkpoint = host.foreign_checkpoint();
    let eth0 = ["802-3-ethernet.mtu", "1400"];
    host.node.nmcli(&[&["connection", "modify", "eth0"], &eth0[..]].concat()).unwrap();
    host.node.nmcli(&["device", "reapply", "eth0"]).unwrap();

    let mtu = "interfaces: [{name: eth0, type: ethernet, state: up, mtu: 1400}]\n";
    let output = host.try_apply(mtu, &[]);
    assert_ne!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains(&checkpoint), "{}{}", output.stdout, output.stderr);

    host.call_networkmanager("CheckpointDestroy", &["o", &checkpoint]);
    let output = host.apply(mtu);
    assert_eq!(output.code(), Some(0), "{}{}", output.stdout, output.stderr);
}
