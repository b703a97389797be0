//! A policy that refers to "the NIC with the default route", and moves that route itself.

use linesman_tests::agent_host::AgentHost;
use linesman_tests::observe;

/// NMState's own example: a bridge over the NIC with the default route, which takes over its addresses and routes.
fn bridge_over_default_route(mtu: u32, more: &str) -> String {
    format!(
        "apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {{name: uplink}}
spec:
  drift: Correct
  onDelete: Revert
  capture:
    default-gw: routes.running.destination==\"0.0.0.0/0\"
    base-iface: interfaces.name==capture.default-gw.routes.running.0.next-hop-interface
    base-iface-routes: routes.running.next-hop-interface==capture.default-gw.routes.running.0.next-hop-interface
    bridge-routes: capture.base-iface-routes | routes.running.next-hop-interface:=\"br1\"
    {more}
  desiredState:
    interfaces:
    - name: br1
      type: linux-bridge
      state: up
      mtu: {mtu}
      ipv4: \"{{{{ capture.base-iface.interfaces.0.ipv4 }}}}\"
      ipv6: \"{{{{ capture.base-iface.interfaces.0.ipv6 }}}}\"
      bridge:
        options: {{stp: {{enabled: false}}}}
        port:
        - name: \"{{{{ capture.base-iface.interfaces.0.name }}}}\"
    routes:
      config: \"{{{{ capture.bridge-routes.routes.running }}}}\"
"
    )
}

#[test]
fn captures_find_the_same_when_the_policy_is_edited_corrected_and_restarted() {
    let agent_host = AgentHost::new("captures");
    let node = &agent_host.host.node;
    let mtu = || observe::link(node, "br1").map_or(0, |link| link["mtu"].as_u64().unwrap_or_default());
    let holds = |wanted: u64, changes: usize| {
        agent_host.host.eventually(&format!("br1 has an MTU of {wanted}"), || {
            mtu() == wanted
                && agent_host.phase("uplink") == "in-sync"
                && agent_host.changes().len() == changes
        });
        let bridge = agent_host.host.interface("br1").unwrap();
        assert_eq!(bridge["bridge"]["port"][0]["name"], "eth0", "{bridge:#}");
        assert!(agent_host.host.reachable());
    };
    agent_host.write("uplink", &bridge_over_default_route(1500, ""));
    holds(1500, 1);
    // By hand the same policy means the same NIC, alone and beside another document.
    let same = agent_host.host.document(&bridge_over_default_route(1500, ""));
    let more = agent_host.host.document("interfaces: [{name: lo, type: loopback, state: up}]\n");
    for files in [vec![same.as_str()], vec![same.as_str(), more.as_str()]] {
        for verb in ["plan", "apply"] {
            let output = agent_host.host.linesman(&[&[verb], &files[..]].concat());
            assert!(output.success(), "{verb} {files:?}: {}{}", output.stdout, output.stderr);
        }
    }
    let capture = bridge_over_default_route(1500, "second: interfaces.name==\"eth1\"");
    let recaptured = agent_host.host.linesman(&["plan", &agent_host.host.document(&capture)]);
    assert!(recaptured.success(), "{}{}", recaptured.stdout, recaptured.stderr);
    let edited = agent_host.host.document(&bridge_over_default_route(1400, ""));
    let plan = agent_host.host.linesman(&["plan", &edited]);
    assert!(
        plan.stdout.contains("mtu: 1500 -> 1400") && !plan.stdout.contains("port"),
        "{}{}",
        plan.stdout,
        plan.stderr
    );
    agent_host.write("uplink", &bridge_over_default_route(1400, ""));
    holds(1400, 2);

    node.run(["ip", "link", "set", "br1", "mtu", "1300"]).unwrap();
    holds(1400, 3);
    agent_host.stop();
    agent_host.start();
    holds(1400, 3);

    agent_host.write("uplink", &bridge_over_default_route(1500, ""));
    holds(1500, 4);
    // Another capture: all of them are resolved again, as if the policy had never moved the route.
    agent_host.write("uplink", &bridge_over_default_route(1450, "second: interfaces.name==\"eth1\""));
    holds(1450, 5);

    // The NIC was only named as a port: it has its address and its routes again.
    agent_host.remove("uplink");
    agent_host.host.eventually("the policy is reverted", || {
        agent_host.status()["policies"].as_array().unwrap().is_empty()
    });
    assert!(agent_host.host.interface("br1").is_none(), "what it made is gone");
    assert!(!observe::addresses(node, "eth0").is_empty());
    assert!(agent_host.host.reachable());
    agent_host.host.assert_settled();
}
