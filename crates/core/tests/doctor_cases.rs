//! The golden cases of `cases/doctor`; `cases/README.md` says how to add one.

#![allow(clippy::unwrap_used, clippy::panic)]

use linesman_core::doctor::br_ex::RULES;
use linesman_core::doctor::{Finding, Inspection, Level, examine};
use linesman_core::document::tree;
use linesman_golden::{Case, Tree};

const DOCTOR: Tree = Tree {
    root: concat!(env!("CARGO_MANIFEST_DIR"), "/cases/doctor"),
    outputs: &["findings.txt"],
    at_least: 42,
};

fn inspection(case: &Case) -> Inspection {
    let inspection = tree(&case.text("inspection.yaml")).unwrap().to_value();
    serde_json::from_value(inspection).unwrap_or_else(|error| panic!("{}: {error}", case.name()))
}

#[test]
fn findings_are_as_expected() {
    DOCTOR.compare(|case| [examine(&inspection(case)).render(false)]);
}

#[test]
fn whatever_is_wrong_has_a_remedy() {
    for case in DOCTOR.cases() {
        let report = examine(&inspection(&case));
        for finding in report.findings.iter().filter(|finding| finding.level > Level::Ok) {
            let has_remedy = finding.remedy.as_ref().is_some_and(|remedy| !remedy.is_empty());
            assert!(has_remedy, "{}: {finding:?}", case.name());
        }
    }
}

#[test]
fn each_rule_for_br_ex_has_a_case_that_breaks_it() {
    let findings: Vec<Finding> =
        DOCTOR.cases().iter().flat_map(|case| examine(&inspection(case)).findings).collect();
    for rule in RULES {
        let is_broken = |finding: &Finding| finding.check == rule.check && finding.level == rule.level;
        assert!(findings.iter().any(is_broken), "no case breaks '{}'", rule.rule);
    }
    for remedy in findings.iter().filter_map(|finding| finding.remedy.as_ref()) {
        let unfilled = ["UPLINK", "ADDRESS", "UUID", "INTERFACE", "METRIC", "LIMIT"];
        assert!(!unfilled.iter().any(|word| remedy.contains(word)), "{remedy}");
    }
}

#[test]
fn the_verdict_follows_the_name_of_the_case() {
    for case in DOCTOR.cases() {
        let name = case.name();
        let expected = match name.split('-').next().unwrap() {
            "ready" => Level::Ok,
            "warning" => Level::Warning,
            _ => Level::Problem,
        };
        assert_eq!(examine(&inspection(&case)).verdict, expected, "{name}");
    }
}
