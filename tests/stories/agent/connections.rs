//! Somebody holds more connections to the agent than it has file descriptors, while a change cuts the host off.

use linesman_tests::agent_host::{AgentHost, policy};

/// So many connections to the agent's HTTP port and to its socket, held until it is killed.
const HOLD: &str = r#"
use Socket;
my @held;
for my $n (1..1100) {
    my ($web, $own);
    socket($web, PF_INET, SOCK_STREAM, 0) or die;
    connect($web, sockaddr_in(9473, inet_aton("127.0.0.1"))) and push @held, $web;
    socket($own, PF_UNIX, SOCK_STREAM, 0) or die;
    connect($own, sockaddr_un("/run/linesman/agent.sock")) and push @held, $own;
}
$| = 1;
print scalar(@held), "\n";
sleep 600;
"#;

#[test]
fn held_connections_do_not_prevent_a_rollback() {
    let agent_host = AgentHost::new("connections");
    agent_host.stop();
    // What systemd gives a service.
    agent_host.start_as(&[
        "bash",
        "-c",
        "ulimit -n 1024 && exec linesman agent --standalone --listen 127.0.0.1:9473",
    ]);
    let node = &agent_host.host.node;
    node.write_file("/root/hold.pl", HOLD, 0o600).unwrap();
    let holder = node.spawn(["perl", "/root/hold.pl"]).unwrap();
    agent_host.host.eventually("somebody holds connections", || {
        holder.stdout().trim().parse::<usize>().is_ok_and(|held| held > 1100)
    });
    assert!(agent_host.get("/healthz").ends_with("ok\n"), "a new connection is served");
    agent_host.write("cuts", &policy("cuts", "patience: 4", "br0", 1400, "eth0"));
    agent_host.wait_phase("cuts", "rolled-back");
    assert_eq!(agent_host.host.last_verdict(), "rolled-back");
    holder.kill().unwrap();
    holder.wait().ok();
    agent_host.host.assert_settled();
}
