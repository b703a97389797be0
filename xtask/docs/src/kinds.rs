//! `docs/reference/interface-kinds.md`: what is tried on a full kernel, row by row.

use std::collections::{BTreeMap, BTreeSet};

use linesman_kinds::Case;
use serde_json::Value;

use crate::{NOTE, wrapped};

const ABOUT: &str = "Each row is one property on an interface of its own, tried on a virtual machine with Debian's kernel, \
    NetworkManager and Open vSwitch. A policy sets it; another tool (ip, bridge, ovs-vsctl, /sys) must show it; a second \
    plan is empty; the drawing of `linesman topology` has it. The property is altered behind NetworkManager's back, seen \
    as drift, and corrected. A document that changes it and cuts the host off is rolled back. The power is cut, and it is \
    there after the boot. The policy is changed, and removed, which reverts it.";

const WHERE: &str = "`make soak` runs every row, `make test` the one marked with *, without the power cut. Those that have held, \
    from the first step to the last, are marked so; the others were not run whole yet. They are listed in \
    `docs/reference/interface-kinds.txt`; `cargo run -p xtask-docs -- --kinds target/kinds/held.txt` adds those of a \
    campaign. A property that the kernel lets nobody \
    alter while it is in use, or that NetworkManager itself puts back, is not altered by hand.";

/// Below the tree.
pub const HELD: &str = "docs/reference/interface-kinds.txt";

/// What has held before, and what has held since, as far as there are such rows.
pub fn held(before: &str, since: &str) -> String {
    let lines: BTreeSet<&str> = before.lines().chain(since.lines()).collect();
    let rows = linesman_kinds::cases().into_iter().map(|case| case.to_string());
    rows.filter(|row| lines.contains(row.as_str())).map(|row| row + "\n").collect()
}

pub fn page(held: &str) -> String {
    let held: BTreeSet<&str> = held.lines().collect();
    let mut kinds: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in linesman_kinds::cases() {
        kinds.entry(case.kind.clone()).or_default().push(case);
    }
    let sections: String = kinds.iter().map(|(kind, cases)| section(kind, cases, &held)).collect();
    format!("{NOTE}\n\n# Interface kinds\n\n{}\n\n{}\n{sections}", wrapped(ABOUT), wrapped(WHERE))
}

fn section(kind: &str, cases: &[Case], held: &BTreeSet<&str>) -> String {
    let rows: String = cases.iter().map(|case| row(case, held)).collect();
    format!("\n## {kind}\n\n| property | from | to | altered by hand | held |\n|---|---|---|---|---|\n{rows}")
}

fn row(case: &Case, held: &BTreeSet<&str>) -> String {
    let mark = if linesman_kinds::in_every_run(case) { " *" } else { "" };
    let altered = if case.by_hand.is_some() { "yes" } else { "" };
    let held = if held.contains(case.to_string().as_str()) { "yes" } else { "" };
    let (was, becomes) = (value(&case.was), value(&case.becomes));
    format!("| `{}`{mark} | {was} | {becomes} | {altered} | {held} |\n", case.property)
}

fn value(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    format!("`{text}`")
}
