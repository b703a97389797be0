//! nmstate's own verification, asked about a host that was altered behind its back.
//!
//! It verifies only inside `apply`, between its last change and its commit. What it does is seen in its
//! log: a checkpoint is created, profiles are activated over D-Bus, and the first netlink request after
//! that is verification looking at the host. There this stops, at the same kind of failpoint as linesman,
//! until the test has altered something. What verification then says is the verdict: nmstate would look
//! again a few times before it gives up, but nothing mends what the test altered.
//!
//! Whatever the verdict, the checkpoint is rolled back. Exit status: 0 it holds, 5 it does not (the reason
//! on standard output), 1 the apply failed before.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nmstate::NetworkState;

const MARKER: &str = "/run/linesman/failpoint/applied";

#[derive(Debug, Default)]
struct Listener {
    checkpoint: OnceLock<String>,
    verifying: AtomicBool,
}

impl log::Log for Listener {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let asks_kernel = || record.target().starts_with("netlink_proto");
        if self.checkpoint.get().is_some() && !self.verifying.load(Ordering::Relaxed) && asks_kernel() {
            if record.args().to_string().starts_with(">>>") {
                self.verifying.store(true, Ordering::Relaxed);
                stand_still();
            }
        } else if record.target().starts_with("nmstate") {
            self.hear(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

impl Listener {
    fn hear(&self, text: &str) {
        if let Some(path) = text.strip_prefix("Created checkpoint ") {
            self.checkpoint.get_or_init(|| path.to_owned());
        }
        if self.verifying.load(Ordering::Relaxed)
            && let Some(why) = text.strip_prefix("Retrying on: VerificationError: ")
        {
            println!("{why}");
            self.roll_back();
            std::process::exit(5);
        }
    }

    /// On a thread of its own: nmstate's blocking calls start a runtime, and this may be inside one.
    fn roll_back(&self) {
        if let Some(path) = self.checkpoint.get().cloned() {
            let rolled_back = std::thread::spawn(move || NetworkState::checkpoint_rollback(&path)).join();
            if !matches!(rolled_back, Ok(Ok(()))) {
                eprintln!("the checkpoint could not be rolled back");
            }
        }
    }
}

fn stand_still() {
    let marker = Path::new(MARKER);
    let put = || std::fs::create_dir_all(marker.parent()?).and_then(|()| std::fs::write(marker, b"")).ok();
    if put().is_none() {
        return;
    }
    while marker.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn main() -> ExitCode {
    static LISTENER: OnceLock<Listener> = OnceLock::new();
    let listener = LISTENER.get_or_init(Listener::default);
    if log::set_logger(listener).is_err() {
        return ExitCode::FAILURE;
    }
    log::set_max_level(log::LevelFilter::Trace);
    let applied = document().and_then(|mut state| {
        state.set_commit(false).set_timeout(60);
        state.apply().map_err(|e| e.to_string())
    });
    let verified = listener.verifying.load(Ordering::Relaxed);
    match applied {
        Ok(()) if verified => {
            listener.roll_back();
            ExitCode::SUCCESS
        }
        Ok(()) => failed("nmstate did not verify"),
        Err(why) => failed(&why),
    }
}

fn document() -> Result<NetworkState, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| e.to_string())?;
    NetworkState::new_from_yaml(&text).map_err(|e| e.to_string())
}

fn failed(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::FAILURE
}
