//! The one way to wait in a story: asked again and again, with a limit that is generous to a busy machine.

use std::time::{Duration, Instant};

use linesman_lab::Node;

/// Many stories run at a time on few cores.
const LIMIT: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(50);

/// Software emulation is that much slower.
const EMULATED: u32 = 5;

/// Until `holds`; otherwise a panic with `what` was waited for and what helps to understand why it did not come.
#[track_caller]
pub fn eventually(what: &str, holds: impl FnMut() -> bool, diagnostics: impl FnOnce() -> String) {
    within(LIMIT, what, holds, diagnostics);
}

/// The same on a node, which may be a virtual machine.
#[track_caller]
pub fn eventually_on(
    node: &Node,
    what: &str,
    holds: impl FnMut() -> bool,
    diagnostics: impl FnOnce() -> String,
) {
    let limit = if node.is_vm() { LIMIT * EMULATED } else { LIMIT };
    within(limit, what, holds, diagnostics);
}

#[track_caller]
fn within(
    limit: Duration,
    what: &str,
    mut holds: impl FnMut() -> bool,
    diagnostics: impl FnOnce() -> String,
) {
    let deadline = Instant::now() + limit;
    loop {
        let asked = Instant::now();
        if holds() {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: not within {} s\n{}", limit.as_secs(), diagnostics());
        // What takes long to ask also keeps the node from what is waited for.
        std::thread::sleep(asked.elapsed().max(PAUSE));
    }
}
