//! Places where a test can stop the transaction and break something.
//!
//! `LINESMAN_FAILPOINT=name[,name…]`: on reaching one, a marker file appears under
//! `/run/linesman/failpoint`, and the transaction waits until the test removes it (at most a
//! minute). Only debug builds have them.

use std::path::Path;
use std::time::Duration;

const DIR: &str = "/run/linesman/failpoint";

pub async fn reach(name: &str) {
    if !armed(name) {
        return;
    }
    let marker = Path::new(DIR).join(name);
    if std::fs::create_dir_all(DIR).and_then(|()| std::fs::write(&marker, b"")).is_err() {
        return;
    }
    for _ in 0..3000 {
        if !marker.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn armed(name: &str) -> bool {
    cfg!(debug_assertions)
        && std::env::var("LINESMAN_FAILPOINT").is_ok_and(|names| names.split(',').any(|n| n == name))
}
