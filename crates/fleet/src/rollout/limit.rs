//! How many nodes may be changed at a time.

use linesman_api::policy::IntOrPercent;

const DEFAULT_PERCENT: u64 = 50;

/// As kubernetes-nmstate computes it: percentages round up, at least one, and what cannot be read is 50%. Never more than
/// there are nodes.
pub fn limit(max_unavailable: Option<&IntOrPercent>, nodes: usize) -> usize {
    written(max_unavailable, nodes).min(nodes).max(1)
}

/// `maxUnavailable` as it is written, if it asks for more nodes than there are.
pub fn beyond_all(max_unavailable: Option<&IntOrPercent>, nodes: usize) -> Option<String> {
    let asked = max_unavailable.filter(|_| written(max_unavailable, nodes) > nodes.max(1))?;
    Some(match asked {
        IntOrPercent::Int(number) => number.to_string(),
        IntOrPercent::Text(text) => text.clone(),
    })
}

fn written(max_unavailable: Option<&IntOrPercent>, nodes: usize) -> usize {
    let share = |percent: u64| percent.saturating_mul(nodes as u64).div_ceil(100);
    let computed = match max_unavailable {
        Some(IntOrPercent::Int(number)) => u64::try_from(*number).unwrap_or_default(),
        Some(IntOrPercent::Text(text)) => match text.strip_suffix('%') {
            Some(percent) => share(number(percent).unwrap_or(DEFAULT_PERCENT)),
            None => number(text).unwrap_or_else(|| share(DEFAULT_PERCENT)),
        },
        None => share(DEFAULT_PERCENT),
    };
    usize::try_from(computed).unwrap_or(usize::MAX)
}

/// What has too many digits is a large number all the same.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
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
            (text("200%"), 7, 7),
            (text("99999999999999999999%"), 7, 7),
            (text("three"), 4, 2),
            (text("%"), 4, 2),
            (text("3"), 4, 3),
            (text("30"), 4, 4),
            (Some(IntOrPercent::Int(3)), 10, 3),
            (Some(IntOrPercent::Int(0)), 10, 1),
            (Some(IntOrPercent::Int(-4)), 10, 1),
            (Some(IntOrPercent::Int(30)), 10, 10),
            (Some(IntOrPercent::Int(i64::MAX)), 0, 1),
        ];
        for (written, nodes, computed) in cases {
            assert_eq!(limit(written.as_ref(), nodes), computed, "{written:?} of {nodes}");
        }
    }

    #[test]
    fn what_asks_for_more_than_all_nodes_is_known() {
        let text = |text: &str| Some(IntOrPercent::Text(text.into()));
        let cases = [
            (None, 3, None),
            (text("100%"), 3, None),
            (text("101%"), 3, Some("101%")),
            (text("4"), 3, Some("4")),
            (Some(IntOrPercent::Int(3)), 3, None),
            (Some(IntOrPercent::Int(1)), 0, None),
            (Some(IntOrPercent::Int(4_000_000_000)), 3, Some("4000000000")),
        ];
        for (written, nodes, asked) in cases {
            assert_eq!(beyond_all(written.as_ref(), nodes).as_deref(), asked, "{written:?} of {nodes}");
        }
    }
}
