//! How many nodes may be changed at a time.

use linesman_api::policy::IntOrPercent;

const DEFAULT_PERCENT: u64 = 50;

/// As kubernetes-nmstate computes it: percentages round up, at least one, and what cannot be read is 50%.
pub fn limit(max_unavailable: Option<&IntOrPercent>, nodes: usize) -> usize {
    let nodes = nodes as u64;
    let computed = match max_unavailable {
        Some(IntOrPercent::Int(number)) => u64::try_from(*number).unwrap_or_default(),
        Some(IntOrPercent::Text(text)) => {
            percent(text).unwrap_or(DEFAULT_PERCENT).saturating_mul(nodes).div_ceil(100)
        }
        None => (DEFAULT_PERCENT * nodes).div_ceil(100),
    };
    usize::try_from(computed.max(1)).unwrap_or(usize::MAX)
}

fn percent(text: &str) -> Option<u64> {
    text.strip_suffix('%')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_as_kubernetes_nmstate_does() {
        let text = |text: &str| Some(IntOrPercent::Text(text.into()));
        let cases = [
            (None, 0, 1),
            (None, 1, 1),
            (None, 2, 1),
            (None, 3, 2),
            (None, 10, 5),
            (text("30%"), 10, 3),
            (text("30%"), 11, 4),
            (text("1%"), 10, 1),
            (text("0%"), 10, 1),
            (text("100%"), 7, 7),
            (text("200%"), 7, 14),
            (text("three"), 4, 2),
            (text("3"), 4, 2),
            (Some(IntOrPercent::Int(3)), 10, 3),
            (Some(IntOrPercent::Int(0)), 10, 1),
            (Some(IntOrPercent::Int(-4)), 10, 1),
            (Some(IntOrPercent::Int(30)), 10, 30),
        ];
        for (written, nodes, computed) in cases {
            assert_eq!(limit(written.as_ref(), nodes), computed, "{written:?} of {nodes}");
        }
    }
}
