//! Whether a change may stay, by what the probes said before and after it. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use linesman_core::probe::{ProbeResult, ProbeSpec, ProbeStatus};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeAssessment {
    pub comparisons: Vec<ProbeComparison>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeComparison {
    pub probe: ProbeSpec,
    #[serde(flatten)]
    pub change: ProbeChange,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum ProbeChange {
    Holds,
    /// It did not pass before; now it does.
    Gained,
    /// It passed before, or was not tried: the change fails.
    Broke {
        why: String,
    },
    /// It passed in full before, and only in part now: the change fails.
    Weakened {
        why: String,
    },
    /// It passed before, its family has no default route any more, and another family that passed still does: reported,
    /// but the change does not fail.
    Lost {
        why: String,
    },
    /// It failed before too: reported, but the change does not fail.
    StillFails {
        why: String,
    },
    /// There was nothing to probe before; now there is, and it fails: reported, but the change does not fail.
    FailsAnew {
        why: String,
    },
    NotApplicable {
        why: String,
    },
}

impl ProbeAssessment {
    /// The change may stay.
    pub fn holds(&self) -> bool {
        self.broken().next().is_none()
    }

    /// Why the change may not stay.
    pub fn reason(&self) -> Option<String> {
        let broken: Vec<String> = self.broken().map(ProbeComparison::to_string).collect();
        (!broken.is_empty()).then(|| broken.join("; "))
    }

    /// Families that passed before and do not pass now, though the change may stay; each with the reason.
    pub fn lost(&self) -> Vec<String> {
        let lost = |comparison: &ProbeComparison| match &comparison.change {
            ProbeChange::Lost { why } => Some(format!("{} ({why})", comparison.probe)),
            _ => None,
        };
        self.comparisons.iter().filter_map(lost).collect()
    }

    /// What speaks against the change.
    pub fn broken(&self) -> impl Iterator<Item = &ProbeComparison> {
        let against =
            |change: &ProbeChange| matches!(change, ProbeChange::Broke { .. } | ProbeChange::Weakened { .. });
        self.comparisons.iter().filter(move |comparison| against(&comparison.change))
    }
}

/// Probes are matched by what they probe; their timeouts may differ.
pub fn assess(before: &[ProbeResult], after: &[ProbeResult]) -> ProbeAssessment {
    let find = |results: &[ProbeResult], spec: &ProbeSpec| {
        results.iter().find(|result| result.probe.spec == *spec).map(|result| result.status.clone())
    };
    let tried = after.iter().map(|result| &result.probe.spec);
    let untried = before.iter().map(|result| &result.probe.spec).filter(|spec| find(after, spec).is_none());
    let comparison = |spec: &ProbeSpec| {
        let change = weigh(find(before, spec).as_ref(), find(after, spec).as_ref());
        ProbeComparison { probe: spec.clone(), change }
    };
    let mut comparisons: Vec<ProbeComparison> = tried.chain(untried).map(comparison).collect();
    let is_gateway = |spec: &ProbeSpec| matches!(spec, ProbeSpec::Gateway { .. });
    if comparisons.iter().any(|one| is_gateway(&one.probe) && one.change == ProbeChange::Holds) {
        // A family may be withdrawn. One that still has a default route has to get somewhere by it: whoever prefers that
        // family would be cut off.
        let is_withdrawn = |spec: &ProbeSpec| {
            let now = after.iter().find(|result| result.probe.spec == *spec);
            now.is_some_and(|now| {
                now.probe.alternative && matches!(now.status, ProbeStatus::NotApplicable { .. })
            })
        };
        comparisons.iter_mut().filter(|one| is_withdrawn(&one.probe)).for_each(ProbeComparison::excuse);
    }
    ProbeAssessment { comparisons }
}

impl ProbeComparison {
    /// Another family still passes.
    fn excuse(&mut self) {
        if let ProbeChange::Broke { why } = &self.change {
            self.change = ProbeChange::Lost { why: why.clone() };
        }
    }
}

fn weigh(before: Option<&ProbeStatus>, after: Option<&ProbeStatus>) -> ProbeChange {
    use ProbeStatus::{Failed, NotApplicable, Passed};
    match (before, after) {
        // It may take a wrong address to be heard at layer 2 only.
        (Some(Passed { note: None, .. }), Some(Passed { note: Some(note), .. })) => {
            ProbeChange::Weakened { why: note.clone() }
        }
        (None | Some(Passed { .. }), Some(Passed { .. })) => ProbeChange::Holds,
        (_, Some(Passed { .. })) => ProbeChange::Gained,
        (None | Some(Passed { .. }), Some(Failed { why })) => ProbeChange::Broke { why: why.clone() },
        // A default route that is gone leaves nothing to probe: the worst case, not an excuse.
        (Some(Passed { .. }), Some(NotApplicable { why })) => ProbeChange::Broke { why: why.clone() },
        (Some(Passed { .. }), None) => ProbeChange::Broke { why: "it was not tried again".to_owned() },
        (Some(Failed { .. }), Some(Failed { why } | NotApplicable { why }))
        | (Some(Failed { why }), None) => ProbeChange::StillFails { why: why.clone() },
        (Some(NotApplicable { .. }), Some(Failed { why })) => ProbeChange::FailsAnew { why: why.clone() },
        (_, Some(NotApplicable { why })) | (Some(NotApplicable { why }), None) => {
            ProbeChange::NotApplicable { why: why.clone() }
        }
        (None, None) => ProbeChange::NotApplicable { why: "it was never tried".to_owned() },
    }
}

impl fmt::Display for ProbeComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let probe = &self.probe;
        match &self.change {
            ProbeChange::Holds => write!(f, "{probe} passes"),
            ProbeChange::Gained => write!(f, "{probe} passes; it did not pass before the change"),
            ProbeChange::Broke { why } => write!(f, "{probe} failed: {why}"),
            ProbeChange::Weakened { why } => {
                write!(f, "{probe} passed in full before the change, only in part after it: {why}")
            }
            ProbeChange::Lost { why } => {
                write!(f, "{probe} passed before the change and does not pass after it: {why}")
            }
            ProbeChange::StillFails { why } => {
                write!(f, "{probe} failed before the change and fails after it: {why}")
            }
            ProbeChange::FailsAnew { why } => {
                write!(f, "{probe} could not be tried before the change and fails after it: {why}")
            }
            ProbeChange::NotApplicable { why } => write!(f, "{probe} not applicable: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn status(word: &str) -> Option<ProbeStatus> {
        let why = |why: &str| why.to_owned();
        match word {
            "passed" => Some(ProbeStatus::Passed { took: Duration::ZERO, note: None }),
            "partly" => Some(ProbeStatus::Passed { took: Duration::ZERO, note: Some(why("layer 2 only")) }),
            "failed" => Some(ProbeStatus::Failed { why: why("silent") }),
            "n/a" => Some(ProbeStatus::NotApplicable { why: why("no route") }),
            _ => None,
        }
    }

    fn results(spec: &ProbeSpec, word: &str) -> Vec<ProbeResult> {
        let probe = spec.clone().into();
        status(word).map(|status| ProbeResult { probe, status, after: Duration::ZERO }).into_iter().collect()
    }

    const CASES: &str = "
        before | after  | may stay | in words
        passed | passed | yes      | gateway:v4 passes
        passed | partly | no       | gateway:v4 passed in full before the change, only in part after it: layer 2 only
        passed | failed | no       | gateway:v4 failed: silent
        passed | n/a    | no       | gateway:v4 failed: no route
        passed | -      | no       | gateway:v4 failed: it was not tried again
        partly | passed | yes      | gateway:v4 passes
        partly | partly | yes      | gateway:v4 passes
        partly | failed | no       | gateway:v4 failed: silent
        partly | n/a    | no       | gateway:v4 failed: no route
        failed | partly | yes      | gateway:v4 passes; it did not pass before the change
        failed | passed | yes      | gateway:v4 passes; it did not pass before the change
        failed | failed | yes      | gateway:v4 failed before the change and fails after it: silent
        failed | n/a    | yes      | gateway:v4 failed before the change and fails after it: no route
        failed | -      | yes      | gateway:v4 failed before the change and fails after it: silent
        n/a    | passed | yes      | gateway:v4 passes; it did not pass before the change
        n/a    | failed | yes      | gateway:v4 could not be tried before the change and fails after it: silent
        n/a    | n/a    | yes      | gateway:v4 not applicable: no route
        n/a    | -      | yes      | gateway:v4 not applicable: no route
        n/a    | partly | yes      | gateway:v4 passes; it did not pass before the change
        -      | passed | yes      | gateway:v4 passes
        -      | partly | yes      | gateway:v4 passes
        -      | failed | no       | gateway:v4 failed: silent
        -      | n/a    | yes      | gateway:v4 not applicable: no route
    ";

    #[test]
    fn every_combination_is_assessed() {
        let spec: ProbeSpec = "gateway:v4".parse().unwrap();
        let mut cases = 0;
        for line in CASES.lines().filter(|line| line.contains('|')).skip(1) {
            let [before, after, may_stay, words] = line.split('|').map(str::trim).collect::<Vec<_>>()[..]
            else {
                panic!("{line}");
            };
            let assessment = assess(&results(&spec, before), &results(&spec, after));
            assert_eq!(assessment.holds(), may_stay == "yes", "{line}");
            assert_eq!(assessment.comparisons[0].to_string(), words, "{line}");
            cases += 1;
        }
        assert_eq!(cases, 23);
    }

    /// The list of probes and the reason of a rollback stand side by side.
    #[test]
    fn what_passes_in_part_is_called_so_in_the_list_too() {
        let spec: ProbeSpec = "gateway:v4".parse().unwrap();
        let after = results(&spec, "partly");
        assert_eq!(after[0].to_string(), "gateway:v4 passed in part: layer 2 only");
        let reason = assess(&results(&spec, "passed"), &after).reason().unwrap();
        assert!(reason.ends_with("only in part after it: layer 2 only"), "{reason}");
    }

    #[test]
    fn one_that_broke_outweighs_many_that_hold() {
        let (gateway, dns): (ProbeSpec, ProbeSpec) = ("gateway:v4".parse().unwrap(), "dns".parse().unwrap());
        let before = [results(&gateway, "passed"), results(&dns, "passed")].concat();
        let after = [results(&dns, "failed"), results(&gateway, "passed")].concat();
        let assessment = assess(&before, &after);
        assert!(!assessment.holds());
        assert_eq!(assessment.reason().as_deref(), Some("dns failed: silent"));
        assert_eq!(assessment.comparisons.len(), 2);
    }

    /// Both families: what was heard before and after, and whether the change may stay.
    #[test]
    fn a_family_may_be_withdrawn_if_another_still_passes_and_nobody_names_it() {
        let cases = [
            (["passed", "passed"], ["passed", "n/a"], true),
            (["passed", "passed"], ["n/a", "passed"], true),
            // It has a default route that leads nowhere.
            (["passed", "passed"], ["failed", "passed"], false),
            (["passed", "passed"], ["passed", "partly"], false),
            (["passed", "passed"], ["failed", "n/a"], false),
            // What did not pass before cannot make up for what did.
            (["passed", "failed"], ["failed", "passed"], false),
            (["passed", "n/a"], ["n/a", "passed"], false),
            (["n/a", "passed"], ["passed", "passed"], true),
            (["passed", "passed"], ["partly", "partly"], false),
        ];
        for (before, after, may_stay) in cases {
            let run = |words: [&str; 2], strict: bool| -> Vec<ProbeResult> {
                let gateway: crate::probe::Probe = "gateway".parse().unwrap();
                let probes = gateway.expand().into_iter().map(|p| if strict { p.strict() } else { p });
                let result = |(probe, word)| {
                    let status = status(word).unwrap();
                    ProbeResult { probe, status, after: Duration::ZERO }
                };
                probes.zip(words).map(result).collect()
            };
            let assessment = assess(&run(before, false), &run(after, false));
            assert_eq!(assessment.holds(), may_stay, "{before:?} {after:?}");
            let strict = assess(&run(before, true), &run(after, true));
            let lost = !strict.holds();
            assert_eq!(
                !assessment.lost().is_empty(),
                lost && may_stay,
                "{before:?} {after:?}: {assessment:?}"
            );
        }
    }

    #[test]
    fn a_longer_timeout_does_not_make_another_probe() {
        let patient: crate::probe::Probe = "dns,timeout=9s".parse().unwrap();
        let before = results(&patient.spec, "failed");
        let after = vec![ProbeResult { probe: patient, ..before[0].clone() }];
        assert!(assess(&before, &after).holds());
    }

    #[test]
    fn an_assessment_survives_the_journal() {
        let spec: ProbeSpec = "tcp:10.0.0.1:22".parse().unwrap();
        let assessment = assess(&results(&spec, "passed"), &results(&spec, "failed"));
        let text = serde_json::to_string(&assessment).unwrap();
        assert_eq!(serde_json::from_str::<ProbeAssessment>(&text).unwrap(), assessment);
    }
}
