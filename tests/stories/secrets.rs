//! Secrets of documents and policies are in no output of any verb, and in no log.

use linesman_tests::agent_host::AgentHost;

/// What every secret contains.
const MARK: &str = "hunter2";

const DOT1X: &str = "interfaces:
- name: eth1
  type: ethernet
  state: up
  802.1x: {eap-methods: [peap], identity: n1, phase2-auth: mschapv2, password: /hunter2password, private-key-password: hunter2key}
";
const MACSEC: &str = "interfaces:
- {name: ms0, type: macsec, state: up, macsec: {encrypt: true, base-iface: eth1, mka-cak: hunter2-0123456789abcdef01234567, mka-ckn: '0011', port: 0, validation: strict, send-sci: true}}
";
const IPSEC: &str = "interfaces:
- {name: ipsec0, type: ipsec, state: up, libreswan: {left: 10.9.0.11, right: 10.9.0.1, psk: hunter2psk, authby: secret}}
";

/// Brings nothing up: nobody answers for 802.1X here.
const PROFILE: &str = "nmcli connection add type ethernet ifname eth2 con-name eth2 802-1x.eap peap 802-1x.identity n1 \
                       802-1x.phase2-auth mschapv2 802-1x.password hunter2shown ipv4.method disabled ipv6.method disabled; \
                       nmcli --wait 0 connection up eth2 || true";

/// A shared key among Open vSwitch's settings: it is committed without anybody to answer for it.
fn tunnel(psk: &str) -> String {
    format!(
        "kind: NodeNetworkConfigurationPolicy\nmetadata: {{name: tunnel}}\nspec:\n  desiredState:\n    \
         ovs-db: {{external_ids: {{tunnel-psk: {psk}, tunnel-name: blue}}}}\n"
    )
}

#[test]
fn secrets_are_in_no_output() {
    let agent = AgentHost::new("masked");
    let host = &agent.host;
    let mut outputs: Vec<(String, String)> = Vec::new();
    let run = |words: &[&str], outputs: &mut Vec<(String, String)>| {
        let output = host.linesman(words);
        outputs.push((words.join(" "), format!("{}{}", output.stdout, output.stderr)));
    };

    agent.write("tunnel", &tunnel("hunter2first"));
    agent.wait_phase("tunnel", "in-sync");
    // Somebody else sets it: the host differs from the policy, in what is a secret and in what is none. The database
    // announces nothing; what the kernel announces makes the agent look.
    let drift =
        "ovs-vsctl set Open_vSwitch . external_ids:tunnel-psk=hunter2other external_ids:tunnel-name=red
        ip link set eth2 mtu 1400";
    host.node.sh(drift).expect("Open vSwitch runs");
    agent.wait_phase("tunnel", "drifted");

    for document in [DOT1X, MACSEC, IPSEC, &tunnel("hunter2second")] {
        let file = host.document(document);
        for format in ["text", "json", "yaml"] {
            run(&["plan", &file, "-o", format], &mut outputs);
            run(&["check", &file, "-o", format], &mut outputs);
        }
    }
    let shown = outputs.iter().filter(|(_, said)| said.contains("tunnel-psk")).count();
    assert!(shown >= 3, "the plans name what they mask: {outputs:#?}");
    // Nobody answers for 802.1X here: applied, and rolled back.
    let file = host.document(DOT1X);
    run(&["apply", &file, "--settle", "2s", "-o", "json"], &mut outputs);
    run(&["apply", &file, "--settle", "2s"], &mut outputs);
    for verb in [&["status"][..], &["diff"], &["history"], &["why", "eth1"], &["doctor"]] {
        for format in ["text", "json", "yaml"] {
            run(&[verb, &["-o", format]].concat(), &mut outputs);
        }
    }
    // What is shown may be applied again, so nmstate's own placeholder stays, and its flag shows what it hides.
    host.node.sh(PROFILE).expect("a profile can be added");
    let shown = |flags: &[&str]| host.linesman(&[&["show", "eth2"], flags].concat()).stdout;
    assert!(
        shown(&[]).contains("<_password_hid_by_nmstate>") && !shown(&[]).contains(MARK),
        "{}",
        shown(&[])
    );
    assert!(shown(&["-s"]).contains("hunter2shown"), "{}", shown(&["-s"]));
    let differs = outputs.iter().find(|(words, _)| words == "diff -o json").expect("it was asked");
    assert!(differs.1.contains("tunnel-name"), "something differs: {}", differs.1);
    outputs.push(("GET /metrics".into(), agent.get("/metrics")));
    outputs.push(("the agent's log".into(), agent.stop()));
    let readable = "find /var/lib/linesman -type f -perm /077 -exec grep -ls hunter2 {} + || true";
    let readable = host.node.sh(readable).expect("the node has a shell");
    assert_eq!(readable, "", "what the agent remembers of a policy is for root only");

    let leaks: Vec<_> = outputs.iter().filter(|(_, said)| said.contains(MARK)).collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
}
