//! Which probes cannot say whether a change does harm, because they did not pass before it.

use super::{ProbeResult, ProbeSpec, ProbeStatus};

/// Each with the reason. One that passes after the change is well whatever it said before. `settled`: those that passed
/// when the host was last known to be settled.
pub fn not_protected(before: &[ProbeResult], after: &[ProbeResult], settled: &[ProbeSpec]) -> Vec<String> {
    let is_well =
        |spec: &ProbeSpec| after.iter().any(|after| after.probe.spec == *spec && after.status.passed());
    let in_doubt = before.iter().filter(|result| !is_well(&result.probe.spec));
    in_doubt.filter_map(|result| reason(result, before, settled)).collect()
}

fn reason(result: &ProbeResult, before: &[ProbeResult], settled: &[ProbeSpec]) -> Option<String> {
    let spec = &result.probe.spec;
    let known = settled.contains(spec);
    let found = match &result.status {
        ProbeStatus::Passed { .. } => return None,
        ProbeStatus::Failed { why } => format!("failed before the change: {why}"),
        ProbeStatus::NotApplicable { .. } if !known && is_spare_family(spec, before) => return None,
        ProbeStatus::NotApplicable { why } => format!("not applicable before the change: {why}"),
    };
    let once = if known { "passed when the host was settled, " } else { "" };
    Some(format!("{spec} ({once}{found})"))
}

/// `gateway` stands for the gateways that a host has: one without IPv6 misses nothing.
fn is_spare_family(spec: &ProbeSpec, before: &[ProbeResult]) -> bool {
    let is_gateway = |spec: &ProbeSpec| matches!(spec, ProbeSpec::Gateway { .. });
    let applies = |result: &ProbeResult| !matches!(result.status, ProbeStatus::NotApplicable { .. });
    let other = |result: &ProbeResult| {
        result.probe.spec != *spec && is_gateway(&result.probe.spec) && applies(result)
    };
    is_gateway(spec) && before.iter().any(other)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn result(text: &str, status: ProbeStatus) -> ProbeResult {
        ProbeResult { probe: text.parse().unwrap(), status, after: Duration::ZERO }
    }

    fn passed() -> ProbeStatus {
        ProbeStatus::Passed { took: Duration::ZERO, note: None }
    }

    fn missing() -> ProbeStatus {
        ProbeStatus::NotApplicable { why: "no route".into() }
    }

    #[test]
    fn what_did_not_pass_protects_nothing() {
        let dns: ProbeSpec = "dns".parse().unwrap();
        let before = [result("gateway:v4", passed()), result("dns", ProbeStatus::failed("silent"))];
        assert_eq!(not_protected(&before, &[], &[]), ["dns (failed before the change: silent)"]);
        assert_eq!(
            not_protected(&before, &[], &[dns]),
            ["dns (passed when the host was settled, failed before the change: silent)"]
        );
        assert!(not_protected(&before, &[result("dns", passed())], &[]).is_empty(), "it passes now");
    }

    #[test]
    fn a_family_that_the_host_does_not_have_is_not_missed() {
        let v6: ProbeSpec = "gateway:v6".parse().unwrap();
        let only_v4 = [result("gateway:v4", passed()), result("gateway:v6", missing())];
        assert!(not_protected(&only_v4, &[], &[]).is_empty());
        assert_eq!(
            not_protected(&only_v4, &[], &[v6]),
            ["gateway:v6 (passed when the host was settled, not applicable before the change: no route)"]
        );
        let neither = [result("gateway:v4", missing()), result("gateway:v6", missing())];
        assert_eq!(not_protected(&neither, &[], &[]).len(), 2);
        let named = [result("gateway:v6", missing())];
        assert_eq!(
            not_protected(&named, &[], &[]),
            ["gateway:v6 (not applicable before the change: no route)"]
        );
    }
}
