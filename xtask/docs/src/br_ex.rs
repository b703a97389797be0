//! The rules for br-ex that `doctor` checks.

use linesman_core::doctor::Level;
use linesman_core::doctor::br_ex::{RULES, Rule};

use super::{NOTE, wrapped};

pub fn page() -> String {
    let intro = "What OVN-Kubernetes needs of br-ex, and what keeps it across reboots. `linesman doctor` checks these \
                 rules on a host that has a br-ex or documents in /etc/nmstate/openshift, and prints the remedy of each \
                 that does not hold, with the names of the host for the words in capitals. `linesman generate` checks what can be known before the host exists.";
    let rules: String = RULES.iter().map(|rule| entry(rule)).collect();
    format!("{NOTE}\n\n# Requirements for br-ex\n\n{}\n{rules}", wrapped(intro))
}

fn entry(rule: &Rule) -> String {
    let level = match rule.level {
        Level::Ok => "ok",
        Level::Warning => "warning",
        Level::Problem => "problem",
    };
    let remedy = wrapped(&format!("Remedy: {}.", rule.remedy));
    let text = wrapped(&format!("{} {}", rule.rule, rule.why));
    format!("\n## {} ({level})\n\n{text}\n\n{remedy}\n", rule.check)
}
