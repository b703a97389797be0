//! One line of a document as a diagnostic shows it, without the secrets on it.

use super::{MASK, WORDS, is_secret};
use crate::check::nearest::nearest;

/// The line of this number, counted from 0, and where its secret was; text that is no document has lines as well, so
/// this goes by keys and indentation alone.
pub(crate) fn mask_source_line(text: &str, number: usize) -> Option<(String, Option<usize>)> {
    let lines: Vec<&str> = text.lines().take(number + 1).collect();
    let line = *lines.get(number)?;
    let start = if continues_a_secret(&lines[..number], line) {
        Some(indentation(line))
    } else {
        keys(line).find(|(key, end)| holds_secret(key) && !is_reference(&line[*end..])).map(|(_, end)| end)
    };
    let Some(start) = start.filter(|start| !line[*start..].trim().is_empty()) else {
        return Some((line.to_owned(), None));
    };
    let start = start + line[start..].len() - line[start..].trim_start().len();
    Some((format!("{}{MASK}", &line[..start]), Some(line[..start].chars().count())))
}

/// Below a secret's key, or on the line after it.
fn continues_a_secret(before: &[&str], line: &str) -> bool {
    let mut depth = indentation(line);
    let mut filled = before.iter().rev().filter(|line| !line.trim().is_empty());
    let names_secret = |line: &str| keys(line).last().is_some_and(|(key, _)| holds_secret(key));
    if filled.clone().next().is_some_and(|last| last.trim_end().ends_with(':') && names_secret(last)) {
        return !names_reference(line);
    }
    filled.any(|line| {
        let above = indentation(line) < depth;
        depth = depth.min(indentation(line));
        above && keys(line).any(|(key, _)| holds_secret(key)) && !names_reference(line)
    }) && !names_reference(line)
}

/// A reference to a Secret is none itself.
fn names_reference(line: &str) -> bool {
    keys(line).any(|(key, _)| key == "secretKeyRef")
}

fn is_reference(value: &str) -> bool {
    value.trim_start_matches([' ', '{', '"']).starts_with("secretKeyRef")
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Each word before a colon, and where the colon ends.
fn keys(line: &str) -> impl Iterator<Item = (&str, usize)> {
    line.match_indices(':').map(|(at, _)| {
        let name = line[..at].trim_end_matches(['"', '\'', ' ']);
        let start = name.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
        let start = start.map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
        (&name[start..], at + 1)
    })
}

/// Also when the key is misspelt, which is what many diagnostics are about.
fn holds_secret(key: &str) -> bool {
    key != "secretKeyRef" && is_secret(key)
        || key.split('-').any(|word| word.len() >= 6 && nearest(word, WORDS).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_masked_wherever_they_stand() {
        let cases = [
            ("  password: 88442211", "  password: <masked>"),
            ("- {mtu: 1, \"psk\": \"hunter2\", a: 1}", "- {mtu: 1, \"psk\": <masked>"),
            ("  pasword: hunter2", "  pasword: <masked>"),
            ("  private-key-pasword: hunter2", "  private-key-pasword: <masked>"),
            ("  password:", "  password:"),
            ("  password:\n    hunter2", "    <masked>"),
            ("\"psk\":\n\"hunter2\"", "<masked>"),
            ("  psk: |\n    a\n\n    hunter2", "    <masked>"),
            ("  psk: 'a\n    hunter2'", "    <masked>"),
            ("  psk: x\n  mtu: 1", "  mtu: 1"),
            ("a:\n  psk: x\nb:\n  mtu: 1", "  mtu: 1"),
            ("  name: eth1", "  name: eth1"),
            ("  addresses: 1", "  addresses: 1"),
        ];
        for (text, masked) in cases {
            let last = text.lines().count() - 1;
            assert_eq!(mask_source_line(text, last).unwrap().0, masked, "{text}");
        }
    }

    #[test]
    fn references_are_shown() {
        let text = "  password:\n    secretKeyRef:\n      nam: a";
        assert_eq!(mask_source_line(text, 1).unwrap().0, "    secretKeyRef:");
        let line = "  password: {secretKeyRef: {name: a, key: b}}";
        assert_eq!(mask_source_line(line, 0).unwrap().0, line);
    }
}
