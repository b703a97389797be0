//! `linesman status --watch`, on a terminal and through a pipe.

use linesman_lab::{Running, Signal};
use linesman_tests::agent_host::{AgentHost, policy};

const COLUMNS: usize = 60;

fn watch(agent_host: &AgentHost, command: &str) -> Running {
    let running = agent_host.host.node.spawn(["sh", "-c", command]).expect("a shell can be run");
    agent_host.host.eventually("the first status", || running.stdout().contains("0 policies in sync"));
    running
}

#[test]
fn a_watched_status_is_redrawn_on_a_terminal_and_appended_in_a_pipe() {
    let agent_host = AgentHost::new("watch");
    let terminal = format!("stty cols {COLUMNS} rows 20; exec linesman status --watch --diff");
    // `script` gives the command a terminal of its own.
    let on_terminal = watch(&agent_host, &format!("exec script -qec '{terminal}' /dev/null"));
    let piped = watch(&agent_host, "exec linesman status --watch");
    agent_host.write("office", &policy("office", "drift: Report", "br1", 1400, "eth1"));
    agent_host.wait_phase("office", "in-sync");
    agent_host.host.node.run(["ip", "link", "set", "br1", "mtu", "1300"]).expect("an MTU can be set");
    agent_host.wait_phase("office", "drifted");
    for running in [&on_terminal, &piped] {
        agent_host.host.eventually("it is shown", || running.stdout().contains("DRIFTED"));
    }
    piped.signal(Signal::SIGTERM).expect("it can be ended");
    on_terminal.signal(Signal::SIGTERM).expect("it can be ended");
    let (on_terminal, piped) = (on_terminal.wait().expect("it ends"), piped.wait().expect("it ends"));

    assert!(!piped.stdout.contains('\x1b'), "{}", piped.stdout);
    assert!(piped.stdout.matches("agent 0.1.0 (pid ").count() >= 2, "one after the other: {}", piped.stdout);
    let drawn = on_terminal.stdout.replace("\r\n", "\n");
    let frames: Vec<&str> = drawn.split("\x1b[J").skip(1).collect();
    assert!(frames.len() >= 2, "{drawn:?}");
    for (frame, next) in frames.iter().zip(frames.iter().skip(1)) {
        let (text, back) = frame.rsplit_once("\x1b[").unwrap_or((frame, ""));
        assert_eq!(back, format!("{}F", text.lines().count()), "back to where it began: {drawn:?}");
        assert!(!next.is_empty());
    }
    for line in frames.iter().flat_map(|frame| frame.lines()) {
        assert!(plain(line).chars().count() <= COLUMNS, "wider than the terminal: {line:?}");
    }
    let last = frames.last().map(|frame| plain(frame)).unwrap_or_default();
    assert!(last.contains("~ interfaces[br1].mtu: 1300 -> 1400") && last.contains("~ to change"), "{last}");
    assert!(last.contains(" ago") || last.contains("just now"), "{last}");
}

/// Without colours and movements.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        all + &part[end..]
    })
}
