//! The life of an agent: its socket, health, signals, a second agent, no agent.

use linesman_tests::agent_host::{AgentHost, policy};

#[test]
fn the_agent_starts_reloads_and_stops_cleanly() {
    let agent_host = AgentHost::new("manners");
    let node = &agent_host.host.node;
    assert!(agent_host.get("/healthz").ends_with("\r\n\r\nok\n"));
    assert!(agent_host.get("/readyz").contains("in sync"));
    assert!(agent_host.get("/secrets").starts_with("HTTP/1.1 404"));
    let socket = node.run(["stat", "-c", "%a", "/run/linesman/agent.sock"]).unwrap();
    assert_eq!(socket.trim(), "600");
    let second = agent_host.host.linesman(&["agent", "--standalone", "--listen", "none"]);
    assert_eq!(second.code(), Some(7), "{}", second.stderr);
    assert!(second.stderr.contains("another linesman agent is running"), "{}", second.stderr);

    // A file that came while nobody looked: SIGHUP reads everything again.
    agent_host.write("bridge", &policy("bridge", "priority: 0", "br1", 1400, "eth1"));
    agent_host.signal(linesman_lab::Signal::SIGHUP);
    agent_host.wait_phase("bridge", "in-sync");

    let watched = node.spawn(["timeout", "20", "linesman", "status", "--watch", "-o", "json"]).unwrap();
    agent_host.host.eventually("it watches", || !watched.stdout().is_empty());
    let said = agent_host.stop();
    assert!(said.contains("committed after") && said.contains("policy=\"bridge\""), "{said}");
    assert!(said.ends_with("stopping; the network stays as it is\n"), "{said}");
    let watched = watched.wait().unwrap();
    assert!(watched.stderr.contains("the agent has stopped"), "{}", watched.stderr);
    let status = agent_host.host.linesman(&["status"]);
    assert_eq!(status.code(), Some(4), "{}", status.stdout);
    assert!(status.stdout.starts_with("NO AGENT"), "{}", status.stdout);
    assert!(agent_host.host.interface("br1").is_some());
    assert!(!node.exists("/run/linesman/agent.sock").unwrap());

    let nowhere = agent_host.host.linesman(&["agent", "--standalone", "--policy-dir", "/nowhere"]);
    assert_eq!(nowhere.code(), Some(4), "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("--policy-dir"), "{}", nowhere.stderr);
}
