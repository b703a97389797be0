//! eth2 before eth10.

use std::cmp::Ordering;

pub(super) fn order(a: &str, b: &str) -> Ordering {
    parts(a).cmp(&parts(b)).then_with(|| a.cmp(b))
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(u64),
    Word(&'a str),
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        // More digits than a number holds are just text.
        parts.push(part.parse().map_or(Part::Word(part), Part::Number));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_count_as_numbers() {
        let mut names = ["eth10", "eth2", "br-ex", "eth2.5", "eth2.10", "eth99999999999999999999999", ""];
        names.sort_by(|a, b| super::order(a, b));
        assert_eq!(names, ["", "br-ex", "eth2", "eth2.5", "eth2.10", "eth10", "eth99999999999999999999999"]);
    }
}
