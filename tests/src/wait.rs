//! The one way to wait in a story: asked again and again, with a limit that is generous to a busy machine.

use std::time::{Duration, Instant};

/// Many stories run at a time on few cores.
const LIMIT: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(50);

/// Until `holds`; otherwise a panic with `what` was waited for and what helps to understand why it did not come.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool, diagnostics: impl FnOnce() -> String) {
    let deadline = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {} s\n{}", LIMIT.as_secs(), diagnostics());
        std::thread::sleep(PAUSE);
    }
}
