//! Numbers with a leading zero, such as the mode 0644: octal in YAML 1.1 (kubectl, oc), text or decimal in YAML 1.2.
//! The same document would mean different things at the desk, in the cluster and on the host.

use linesman_core::codes::day1::LEADING_ZERO;
use linesman_core::diagnostic::Diagnostic;
use linesman_core::document::{Content, Node, first_line};

use crate::configuration::Configuration;

pub fn numbers(configuration: &Configuration) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    visit(&configuration.node, &configuration.document.text, &mut found);
    found
}

fn visit(node: &Node, text: &str, found: &mut Vec<Diagnostic>) {
    match &node.content {
        Content::List(items) => items.iter().for_each(|item| visit(item, text, found)),
        Content::Map(entries) => entries.iter().for_each(|entry| visit(&entry.value, text, found)),
        Content::Scalar(_) => found.extend(node.as_str().and_then(|word| ambiguous(node, word, text))),
    }
}

fn ambiguous(node: &Node, word: &str, text: &str) -> Option<Diagnostic> {
    let is_digits = word.len() > 1 && word.starts_with('0') && word.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits || is_quoted(node, text) {
        return None;
    }
    let decimal = word.trim_start_matches('0');
    let hint = match u64::from_str_radix(word, 8) {
        Ok(octal) => format!("write {octal} if octal is meant, {decimal} if decimal is, '{word}' if text is"),
        Err(_) => format!("write {decimal}, or '{word}' if text is meant"),
    };
    let message = format!("{word} has a leading zero: YAML 1.1 reads it as octal, YAML 1.2 does not");
    let span = Some(first_line(text, node.range));
    Some(Diagnostic::new(LEADING_ZERO, message).spanning(span).hint(hint))
}

fn is_quoted(node: &Node, text: &str) -> bool {
    let start = node.range.start;
    let line = text.lines().nth(start.line.saturating_sub(1)).unwrap_or_default();
    matches!(line.chars().nth(start.column.saturating_sub(1)), Some('"' | '\''))
}
