//! A point where tests let the operator die, as if somebody had killed it; not in releases.

#[cfg(debug_assertions)]
pub fn after_write() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let written = WRITES.fetch_add(1, Ordering::Relaxed) + 1;
    let last = std::env::var("LINESMAN_DIE_AFTER_WRITES").ok().and_then(|text| text.parse().ok());
    if last == Some(written) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub fn after_write() {}
