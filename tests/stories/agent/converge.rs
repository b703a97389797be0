//! Many policies are one change; one that is bad is found out, and the others stand.

use linesman_tests::keeper::{Keeper, policy};

#[test]
fn twenty_policies_converge_in_one_transaction() {
    let keeper = Keeper::new("twenty");
    keeper.stop();
    for n in 0..20 {
        keeper.write(
            &format!("p{n:02}"),
            &policy(&format!("p{n:02}"), "priority: 0", &format!("br{n}"), 1400, ""),
        );
    }
    keeper.start();
    for n in 0..20 {
        keeper.wait_phase(&format!("p{n:02}"), "in-step");
    }
    assert_eq!(keeper.changes(), ["policies p00, p01 and 18 more"]);
    assert_eq!(keeper.metric("linesman_apply_total{outcome=\"committed\"}"), Some(1.0));
    assert_eq!(keeper.metric("linesman_policies{phase=\"in step\"}"), Some(20.0));
    assert_eq!(keeper.host.linesman(&["status"]).code(), Some(0));
    keeper.host.assert_settled();
}

#[test]
fn the_culprit_is_named_and_the_others_stand() {
    let keeper = Keeper::new("culprit");
    keeper.stop();
    keeper.write("good", &policy("good", "patience: 4", "br1", 1400, "eth1"));
    keeper.write("also-good", &policy("also-good", "patience: 4", "br2", 1400, "eth2"));
    keeper.write("cuts", &policy("cuts", "patience: 4", "br0", 1400, "eth0"));
    let watch = keeper.host.lab.hub().watch(keeper.host.node.mgmt_ipv4()).unwrap();
    keeper.start();
    keeper.wait_phase("cuts", "rolled-back");
    keeper.wait_phase("good", "in-step");
    keeper.wait_phase("also-good", "in-step");
    assert!(watch.stop().reachable_at_end());
    let status = keeper.host.linesman(&["status"]);
    assert_eq!(status.code(), Some(1), "{}", status.stdout);
    assert!(
        status.stdout.starts_with("TROUBLE: cuts rolled back, 2 policies in step\n"),
        "{}",
        status.stdout
    );
    assert!(keeper.host.interface("br0").is_none(), "what was rolled back is gone");
    let before = keeper.changes().len();
    keeper.signal(linesman_lab::Signal::SIGHUP);
    keeper.wait_phase("cuts", "rolled-back");
    assert_eq!(keeper.changes().len(), before, "a rollback is terminal for this version");
    let retried = keeper.host.linesman(&["retry", "cuts"]);
    assert!(retried.success(), "{}{}", retried.stdout, retried.stderr);
    keeper.host.eventually("it is tried again", || keeper.changes().len() > before);
    keeper.wait_phase("cuts", "rolled-back");
    keeper.write("cuts", &policy("cuts", "patience: 4", "br0", 1400, ""));
    keeper.wait_phase("cuts", "in-step");
    keeper.host.assert_settled();
}

/// The upper one alone cannot be made; with the lower one both go in together.
#[test]
fn what_builds_on_what_may_come_in_any_order() {
    let keeper = Keeper::new("order");
    let upper =
        "interfaces:\n- {name: mv0, type: mac-vlan, state: up, mac-vlan: {base-iface: br5, mode: bridge}}\n";
    keeper.write("a-upper", upper);
    keeper.wait_phase("a-upper", "waiting");
    let reason = keeper.policy("a-upper").unwrap()["reason"].to_string();
    assert!(reason.contains("br5"), "{reason}");
    keeper.write("z-lower", &policy("z-lower", "priority: 0", "br5", 1400, "eth1"));
    keeper.wait_phase("z-lower", "in-step");
    keeper.wait_phase("a-upper", "in-step");
    assert_eq!(keeper.changes(), ["policies z-lower, a-upper"]);
}
