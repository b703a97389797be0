//! What people read while something takes long: a line per step, with the time since the program began.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// `[ 1:05] building kube-apiserver`
pub fn step(text: &str) {
    println!("[{:>5}] {text}", minutes(BEGIN.elapsed()));
}

/// `1:05`
pub fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(minutes(Duration::from_secs(9)), "0:09");
        assert_eq!(minutes(Duration::from_millis(754_900)), "12:34");
    }
}
