//! Versions of NetworkManager, and what they can do.

/// Older ones answer some of nmstate's calls with errors in the middle of a change.
pub const OLDEST: (u32, u32) = (1, 40);
/// From here on a checkpoint also covers the global DNS configuration.
pub const DNS_IN_CHECKPOINT: (u32, u32) = (1, 47);

/// Whether a version such as `1.42.4` is at least `(major, minor)`. Unreadable versions are.
pub fn at_least(version: &str, (major, minor): (u32, u32)) -> bool {
    let mut numbers = version.split(['.', '-']).map(|n| n.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(a), Some(b)) => (a, b) >= (major, minor),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(at_least("1.42.4", (1, 40)));
        assert!(!at_least("1.9.0", (1, 40)));
        assert!(at_least("2.0", (1, 40)));
        assert!(!at_least("1.46.0", DNS_IN_CHECKPOINT));
        assert!(at_least("1.58.1-rc1", DNS_IN_CHECKPOINT));
    }
}
