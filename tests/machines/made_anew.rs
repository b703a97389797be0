//! For `make soak`: a MAC-VLAN in another mode is taken away first. Whoever dies in between, it comes back as it was.

use linesman_tests::{Host, observe};
use serde_json::Value;

use crate::full_kernel::PATIENT;

const PRIVATE: &str = "interfaces:
- name: mac1
  type: mac-vlan
  state: up
  mac-vlan: {base-iface: eth1, mode: private, promiscuous: true}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.100.0.2, prefix-length: 24}]}
";

fn shown(host: &Host) -> (Value, Vec<String>) {
    let link = observe::link(&host.node, "mac1").unwrap_or_default();
    (link["linkinfo"]["info_data"]["mode"].clone(), observe::addresses(&host.node, "mac1"))
}

#[test]
#[ignore = "minutes: make soak"]
fn what_was_taken_away_to_be_made_anew_comes_back() {
    let host = Host::built("made-anew", |node| node.vm(true));
    let output = host.try_apply(PRIVATE, PATIENT);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    let before = shown(&host);
    assert_eq!(before.0, "private");

    // The program dies; nmstate, its child, with it.
    let bridge = PRIVATE.replace("private", "bridge");
    let apply = host.start_apply(&bridge, PATIENT, "taken-away,worker-done");
    host.wait_failpoint("taken-away");
    apply.kill().unwrap();
    apply.wait().unwrap();
    host.pass_failpoint("taken-away");
    let recovered = host.linesman(&["recover"]);
    assert_eq!(recovered.code(), Some(0), "{}{}", recovered.stdout, recovered.stderr);
    assert_eq!((host.last_verdict(), shown(&host)), ("rolled-back".to_owned(), before.clone()));

    // NetworkManager dies, and its checkpoint with it.
    let apply = host.start_apply(&bridge, PATIENT, "taken-away");
    host.wait_failpoint("taken-away");
    host.node.run(["systemctl", "kill", "--signal=KILL", "NetworkManager"]).unwrap();
    host.pass_failpoint("taken-away");
    let output = apply.wait().unwrap();
    assert_eq!(host.last_verdict(), "rolled-back", "{}{}", output.stdout, output.stderr);
    assert_eq!(shown(&host), before, "{}{}", output.stdout, output.stderr);

    // Nobody dies.
    let output = host.try_apply(&bridge, PATIENT);
    assert!(output.success(), "{}{}", output.stdout, output.stderr);
    assert_eq!(shown(&host), ("bridge".into(), before.1));
    host.assert_settled();
}
