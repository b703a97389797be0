//! Places where a test can stop the transaction and break something.
//!
//! `LINESMAN_FAILPOINT=name[,name…]`: on reaching one, a marker file appears under
//! `/run/linesman/failpoint`, and the transaction waits until the test removes it (at most a
//! minute). With `name!`, its thread stands still meanwhile, as if it waited for a slow disk. Only debug builds have them.

use std::path::Path;
use std::time::Duration;

const DIR: &str = "/run/linesman/failpoint";

pub async fn reach(name: &str) {
    let Some(wait) = armed(name) else { return };
    let marker = Path::new(DIR).join(name);
    if std::fs::create_dir_all(DIR).and_then(|()| std::fs::write(&marker, b"")).is_err() {
        return;
    }
    for _ in 0..3000 {
        if !marker.exists() {
            return;
        }
        match wait {
            Wait::Task => tokio::time::sleep(TICK).await,
            Wait::Thread => std::thread::sleep(TICK),
        }
    }
}

const TICK: Duration = Duration::from_millis(20);

/// Who waits.
#[derive(Clone, Copy)]
enum Wait {
    Task,
    Thread,
}

fn armed(name: &str) -> Option<Wait> {
    if !cfg!(debug_assertions) {
        return None;
    }
    std::env::var("LINESMAN_FAILPOINT").ok()?.split(',').find_map(|armed| match armed.strip_prefix(name)? {
        "" => Some(Wait::Task),
        "!" => Some(Wait::Thread),
        _ => None,
    })
}
