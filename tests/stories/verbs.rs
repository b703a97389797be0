//! The verbs, their exit codes, and the flags that scripts written for nmstatectl rely on.

use linesman_lab::Output;
use linesman_tests::{BRIDGE, Host, observe};
use nix::sys::signal::Signal;
use serde_json::Value;

fn code(output: &Output, expected: i32) {
    assert_eq!(output.code(), Some(expected), "{}{}", output.stdout, output.stderr);
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}\n{}{}", output.stdout, output.stderr))
}

fn yaml(output: &Output) -> Value {
    let read = linesman_core::document::tree(&output.stdout);
    read.unwrap_or_else(|e| panic!("{e:?}\n{}{}", output.stdout, output.stderr)).to_value()
}

#[test]
fn reading_and_writing() {
    let host = Host::new("verbs");
    usage(&host);
    plan(&host);
    apply(&host);
    show(&host);
    history(&host);
    nothing_to_end(&host);
    host.assert_settled();
}

fn usage(host: &Host) {
    for words in [&["--help"][..], &["--version"], &["apply", "--help"]] {
        code(&host.linesman(words), 0);
    }
    let wrong: [&[&str]; 6] = [
        &[],
        &["frobnicate"],
        &["apply", "--try", "soon", "-"],
        &["apply", "--try", "3s", "--no-commit", "-"],
        &["apply", "--probe", "telepathy", "-"],
        &["plan", "--protect", "10.9.0", "-"],
    ];
    for words in wrong {
        let output = host.linesman(words);
        code(&output, 64);
        assert!(output.stderr.contains("Usage") || output.stderr.contains("--help"), "{}", output.stderr);
    }
}

fn plan(host: &Host) {
    let file = host.document(BRIDGE);
    let text = host.linesman(&["plan", &file]);
    code(&text, 2);
    assert!(
        text.stdout.contains("+ linux-bridge br1") && text.stdout.contains("additive"),
        "{}",
        text.stdout
    );
    let output = host.linesman(&["plan", &file, "-o", "json"]);
    code(&output, 2);
    assert_eq!(json(&output)["impact"], "additive", "{}", output.stdout);
    let output = host.linesman(&["plan", &file, "-o", "yaml"]);
    code(&output, 2);
    assert_eq!(yaml(&output)["created"][0], "br1", "{}", output.stdout);
    let away = "interfaces:\n- {name: eth0, type: ethernet, state: up, ipv4: {enabled: false}}\n";
    let output = host.linesman(&["plan", &host.document(away)]);
    code(&output, 2);
    assert!(output.stdout.contains("own-path"), "{}", output.stdout);
    assert!(host.history().is_empty(), "a plan leaves no trace");
}

fn apply(host: &Host) {
    let words = ["linesman", "apply", "-"];
    let output = host.node.command(words).unwrap().input(BRIDGE).output().unwrap();
    code(&output, 0);
    assert!(output.stdout.contains("committed"), "{}", output.stdout);
    code(&host.linesman(&["plan", &host.document(BRIDGE)]), 0);
    let gone = "interfaces:\n- {name: br1, state: absent}\n";
    let output = host.try_apply(gone, &["-o", "json"]);
    code(&output, 0);
    assert_eq!(json(&output)["verdict"], "committed");
    let output = host.try_apply(gone, &["-o", "yaml"]);
    assert_eq!(yaml(&output)["verdict"], "unchanged");
    let output = host.try_apply(BRIDGE, &["--quiet"]);
    code(&output, 0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
}

fn show(host: &Host) {
    let address = host.node.mgmt_ipv4().to_string();
    let output = host.linesman(&["show", "eth0"]);
    code(&output, 0);
    let shown = yaml(&output);
    assert_eq!(observe::list(&shown["interfaces"]).len(), 1);
    assert_eq!(shown["interfaces"][0]["ipv4"]["address"][0]["ip"], address.as_str());
    assert!(output.stdout.contains("0.0.0.0/0"), "its routes belong to it: {}", output.stdout);
    for words in [&["show", "-o", "json"][..], &["show", "--json"], &["show", "--json", "eth0"]] {
        let output = host.linesman(words);
        code(&output, 0);
        let shown = json(&output);
        assert!(observe::list(&shown["interfaces"]).iter().any(|i| i["name"] == "eth0"), "{shown}");
    }
    for words in [&["show", "--kernel"][..], &["show", "--running-config"], &["show", "-s", "eth0"]] {
        let output = host.linesman(words);
        code(&output, 0);
        assert!(output.stdout.contains(&address), "{words:?}: {}", output.stdout);
    }
    let output = host.linesman(&["show", "eth77"]);
    code(&output, 1);
    assert!(output.stderr.contains("eth77"), "{}", output.stderr);
}

fn history(host: &Host) {
    let records = json(&host.linesman(&["history", "-o", "json"]));
    let records = observe::list(&records);
    assert_eq!(records.len(), 3, "{records:?}");
    assert_eq!(yaml(&host.linesman(&["history", "-o", "yaml"])).as_array().map(Vec::len), Some(3));
    let text = host.linesman(&["history"]).stdout;
    assert_eq!(text.matches("committed").count(), 3, "{text}");
    let id = records[0]["id"].as_str().expect("a change has an id");
    assert!(text.contains(id), "{text}");
    let one = host.linesman(&["history", id]);
    code(&one, 0);
    assert!(one.stdout.contains("linux-bridge br1"), "{}", one.stdout);
    let output = host.linesman(&["history", "never"]);
    code(&output, 1);
    assert!(output.stderr.contains("never"), "{}", output.stderr);
}

fn nothing_to_end(host: &Host) {
    for (verb, words) in [("commit", "commit"), ("rollback", "roll back")] {
        let output = host.linesman(&[verb]);
        code(&output, 1);
        assert!(output.stderr.contains(&format!("nothing to {words}")), "{}", output.stderr);
    }
    let output = host.linesman(&["recover"]);
    code(&output, 0);
    assert!(output.stdout.contains("nothing to recover"), "{}", output.stdout);
}

/// A bridge, a key in OVSDB and a name: NetworkManager's checkpoint covers only the first.
const WIDE: &str = "interfaces:
- name: br1
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.1.1, prefix-length: 24}]}
  bridge: {port: [{name: eth1}]}
hostname: {running: tried, config: tried}
dns-resolver: {config: {server: [10.9.0.1], search: [tried.test]}}
ovs-db: {external_ids: {tried: 'yes', kept: theirs-not}}
";

fn wide_is(host: &Host, there: bool) {
    let node = &host.node;
    let name = if there { "tried" } else { "n1" };
    assert_eq!(observe::link_exists(node, "br1"), there, "br1");
    assert_eq!((observe::hostname(node), observe::fixed_hostname(node)), (name.to_owned(), name.to_owned()));
    let key = |key: &str| observe::ovs(node, "Open_vSwitch", ".", &format!("external_ids:{key}"));
    assert_eq!(key("tried"), if there { "yes" } else { "" });
    assert_eq!(key("kept"), if there { "theirs-not" } else { "theirs" });
    assert_eq!(observe::resolv_conf(node).contains("tried.test"), there, "{}", observe::resolv_conf(node));
}

fn take_wide_away(host: &Host) {
    host.apply(
        "interfaces:
- {name: br1, state: absent}
hostname: {running: n1, config: n1}
dns-resolver: {config: {server: [10.9.0.1], search: []}}
ovs-db: {external_ids: {tried: null, kept: theirs}}
",
    );
    wide_is(host, false);
}

#[test]
fn pending_changes() {
    let host = Host::new("verbs-wait");
    host.node.ovs_vsctl(&["set", "Open_vSwitch", ".", "external_ids:kept=theirs"]).unwrap();
    tried_and_left(&host);
    tried_and_kept(&host);
    unconfirmed_and_kept(&host);
    unconfirmed_and_rolled_back(&host);
    unconfirmed_and_forgotten(&host);
    committed_while_the_journal_is_read_only(&host);
    host.assert_settled();
}

fn tried_and_left(host: &Host) {
    let output = host.try_apply(WIDE, &["--try", "3s"]);
    code(&output, 5);
    assert!(output.stdout.contains("not confirmed within 3 s"), "{}", output.stdout);
    wide_is(host, false);
    assert_eq!(host.last_verdict(), "rolled-back");
}

fn tried_and_kept(host: &Host) {
    let running = host.start_apply(WIDE, &["--try", "120s"], "");
    host.eventually("the trial", || running.stdout().contains("rolling back in"));
    wide_is(host, true);
    code(&host.linesman(&["commit"]), 0);
    let output = running.wait().unwrap();
    code(&output, 0);
    wide_is(host, true);
    assert_eq!(host.last_verdict(), "committed");
    take_wide_away(host);
}

/// As a daemon written for nmstatectl would do it.
fn unconfirmed_and_kept(host: &Host) {
    let file = host.document(WIDE);
    let output = host.linesman(&["set", &file, "--no-commit", "--timeout", "60"]);
    code(&output, 0);
    let checkpoint = checkpoint_in(&output.stdout);
    wide_is(host, true);
    assert_eq!(host.open_checkpoints(), 1);
    let told = |text: &str| {
        ["`linesman commit`", "`linesman rollback`", " s"].iter().all(|word| text.contains(word))
    };
    let history = host.linesman(&["history"]).stdout;
    assert!(history.contains("pending") && told(&history), "{history}");
    assert!(output.stdout.contains("rolling back in 60 s"), "{}", output.stdout);
    assert!(output.stdout.contains("linesman commit ") && output.stdout.contains("linesman rollback "));
    let records = host.history();
    assert_eq!(records.last().unwrap()["source"], file.as_str(), "by its file, not <stdin>");
    for flags in [&[][..], &["--wait=1s"]] {
        let second = host.try_apply(BRIDGE, flags);
        code(&second, 7);
        assert!(second.stderr.contains("pending confirmation for another"), "{}", second.stderr);
        assert!(told(&second.stderr), "{}", second.stderr);
    }
    code(&host.linesman(&["commit", &checkpoint]), 0);
    wide_is(host, true);
    assert_eq!((host.open_checkpoints(), host.last_verdict().as_str()), (0, "committed"));
    take_wide_away(host);
}

fn unconfirmed_and_rolled_back(host: &Host) {
    let words = ["linesman", "apply", "--no-commit", "--timeout", "60", "-o", "json"];
    let output = host.node.command(words).unwrap().input(WIDE).output().unwrap();
    code(&output, 0);
    let told = json(&output);
    assert_eq!((&told["verdict"], &told["seconds_left"]), (&"pending".into(), &60.into()));
    assert_eq!(
        (&told["commit"], &told["rollback"]),
        (&"linesman commit".into(), &"linesman rollback".into())
    );
    wide_is(host, true);
    let checkpoint = told["checkpoint"].as_str().expect("the checkpoint is told");
    code(&host.linesman(&["rollback", checkpoint]), 0);
    wide_is(host, false);
    assert_eq!((host.open_checkpoints(), host.last_verdict().as_str()), (0, "rolled-back"));
}

/// Whoever waits gets the host when its time is over.
fn unconfirmed_and_forgotten(host: &Host) {
    code(&host.try_apply(WIDE, &["--no-commit", "--timeout", "3"]), 0);
    wide_is(host, true);
    let second = host.try_apply("interfaces:\n- {name: br1, state: absent}\n", &["--wait"]);
    code(&second, 0);
    assert!(second.stderr.starts_with("waiting: an earlier change"), "{}", second.stderr);
    assert_eq!(host.last_verdict(), "rolled-back");
    wide_is(host, false);
}

/// The change is rolled back, and that is what is said.
fn committed_while_the_journal_is_read_only(host: &Host) {
    code(&host.try_apply(WIDE, &["--no-commit", "--timeout", "60"]), 0);
    let journal = "/var/lib/linesman/journal";
    let close = format!("mount --bind {journal} {journal} && mount -o remount,ro,bind {journal}");
    host.node.sh(&close).unwrap();
    let output = host.linesman(&["commit"]);
    host.node.run(["umount", journal]).unwrap();
    code(&output, 5);
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("rolled back: this host is in its previous state"), "{said}");
    assert!(said.contains("cannot write the journal") && !said.contains("no changes were made"), "{said}");
    wide_is(host, false);
    code(&host.linesman(&["recover"]), 0);
}

fn checkpoint_in(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("Checkpoint: "));
    line.unwrap_or_else(|| panic!("no checkpoint in:\n{text}")).to_owned()
}

#[test]
fn signals() {
    let host = Host::new("verbs-signals");
    for (signal, flags) in [
        (Signal::SIGINT, &[][..]),
        (Signal::SIGTERM, &[]),
        (Signal::SIGINT, &["--try", "60s"]),
        (Signal::SIGINT, &["--no-commit"]),
    ] {
        let running = host.start_apply(BRIDGE, flags, "verified");
        host.wait_failpoint("verified");
        running.signal(signal).unwrap();
        let output = running.wait().unwrap();
        host.pass_failpoint("verified");
        code(&output, 5);
        let said = &output.stdout;
        assert!(said.contains("interrupted; rolled back: this host"), "{signal} {flags:?}: {said}");
        assert!(!observe::link_exists(&host.node, "br1"), "{signal} {flags:?}");
        host.assert_settled();
    }
    before_anything(&host);
    let running = host.start_apply(BRIDGE, &[], "verified");
    host.wait_failpoint("verified");
    running.signal(Signal::SIGHUP).unwrap();
    host.pass_failpoint("verified");
    code(&running.wait().unwrap(), 0);
    assert!(observe::link_exists(&host.node, "br1"), "a terminal that hangs up ends nothing");
    host.assert_settled();
    on_the_terminal(&host);
}

/// The kernel sends them to all processes of the foreground; the worker is at work.
fn on_the_terminal(host: &Host) {
    let removed = "interfaces: [{name: br1, type: linux-bridge, state: absent}]\n";
    for (signal, expected, there) in [(Signal::SIGHUP, 0, false), (Signal::SIGINT, 5, false)] {
        let file = host.document(if signal == Signal::SIGHUP { removed } else { BRIDGE });
        let command = host.node.command(["setsid", "linesman", "apply", &file]).unwrap();
        let running = command.env("LINESMAN_FAILPOINT", "worker-started").spawn().unwrap();
        host.wait_failpoint("worker-started");
        let foreground = nix::unistd::Pid::from_raw(running.pid().unwrap().cast_signed());
        nix::sys::signal::killpg(foreground, signal).unwrap();
        if signal == Signal::SIGHUP {
            host.pass_failpoint("worker-started");
        }
        let output = running.wait().unwrap();
        host.pass_failpoint("worker-started");
        code(&output, expected);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(!said.contains("without a reply"), "{signal}: {said}");
        assert_eq!(observe::link_exists(&host.node, "br1"), there, "{signal}: {said}");
        host.assert_settled();
    }
}

/// Nothing was changed, so nothing is said to be rolled back.
fn before_anything(host: &Host) {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let running = host.start_apply(BRIDGE, &[], "snapshot-taken");
        host.wait_failpoint("snapshot-taken");
        running.signal(signal).unwrap();
        host.eventually("the signal arrives", || running.stderr().contains("interrupted"));
        host.pass_failpoint("snapshot-taken");
        let output = running.wait().unwrap();
        code(&output, 1);
        let said = &output.stdout;
        assert!(said.contains("interrupted; nothing was changed") && !said.contains("rolled back"), "{said}");
    }
    code(&host.try_apply(BRIDGE, &["--no-commit"]), 0);
    let waiting = host.start_apply("interfaces:\n- {name: br9, type: dummy}\n", &["--wait"], "");
    host.eventually("it waits", || waiting.stderr().contains("waiting:"));
    waiting.signal(Signal::SIGINT).unwrap();
    let output = waiting.wait().unwrap();
    code(&output, 1);
    assert!(output.stderr.contains("interrupted; nothing was changed"), "{}", output.stderr);
    code(&host.linesman(&["rollback"]), 0);
    host.assert_settled();
}

const ROUTE: &str = "routes:
  config:
  - {destination: 10.88.0.0/24, next-hop-interface: br1, next-hop-address: 10.20.1.2}
";

/// As the agent composes the policies of a directory.
#[test]
fn several_documents_are_one_change() {
    let host = Host::new("verbs-several");
    let (bridge, route) = (host.document(BRIDGE), host.document(ROUTE));
    let plan = host.linesman(&["plan", &route, &bridge]);
    code(&plan, 2);
    assert!(
        plan.stdout.contains("+ linux-bridge br1") && plan.stdout.contains("+ route 10.88.0.0/24"),
        "{}",
        plan.stdout
    );
    code(&host.linesman(&["apply", &route, &bridge, "-o", "json"]), 0);
    let routes = host.node.run(["ip", "route", "show", "10.88.0.0/24"]).unwrap();
    assert!(routes.contains("dev br1"), "{routes}");
    let records = host.history();
    assert_eq!((records.len(), &records[0]["source"]), (1, &format!("{route}, {bridge}").into()));
    contradiction(&host, &bridge);
    directory(&host);
    host.assert_settled();
}

fn contradiction(host: &Host, bridge: &str) {
    let other = host.document("interfaces:\n- name: br1\n  type: linux-bridge\n  state: up\n  mtu: 1400\n");
    let third = host.document("interfaces:\n- {name: br1, type: linux-bridge, mtu: 1300}\n");
    for verb in ["plan", "apply"] {
        let output = host.linesman(&[verb, bridge, &other, &third]);
        code(&output, 3);
        let said = &output.stderr;
        assert!(said.contains("error[LM0019]") && said.contains(&other) && said.contains(&third), "{said}");
        assert!(said.contains("1400") && said.contains("1300"), "{said}");
    }
    let output = host.linesman(&["plan", &other, &third, "-o", "json"]);
    assert_eq!(json(&output)["error"]["problems"][0]["code"], "LM0019", "{}", output.stdout);
}

fn directory(host: &Host) {
    host.node.run(["mkdir", "/root/policies"]).unwrap();
    for (name, text) in [("a.yaml", BRIDGE), ("b.yml", ROUTE), ("notes.txt", "not a document: [")] {
        host.node.write_file(format!("/root/policies/{name}"), text, 0o600).unwrap();
    }
    code(&host.linesman(&["plan", "/root/policies"]), 0);
    let held = host.linesman(&["apply", "/root/policies", "--no-commit"]);
    code(&held, 0);
    assert!(held.stdout.contains("already in the desired state"), "{}", held.stdout);
}
