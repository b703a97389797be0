//! What the YAML parser says, in words that help.

use saphyr_parser::ScanError;

use crate::codes;
use crate::diagnostic::{Diagnostic, Span};

/// What the parser's message contains, and what usually is the matter.
const HINTS: &[(&str, &str)] = &[
    ("quoted scalar", "close the quotes"),
    ("mapping values are not allowed", "put a value that contains ': ' in quotes, or check the indentation"),
    ("did not find expected key", "check the indentation of this line and of the one above"),
    ("simple key expect", "a key needs ':' and a space after it, on the same line"),
    ("block sequence entries are not allowed", "start the list on a line of its own, below its key"),
    ("unknown anchor", "define it with '&name' before '*name'; quote a text that starts with '*'"),
    ("invalid indentation", "indent every key of a mapping by the same number of spaces"),
    ("flow", "close the bracket or brace, and separate items with commas"),
    ("tag", "quote a text that starts with '!'"),
];

pub(super) fn explain(text: &str, error: &ScanError) -> Diagnostic {
    let marker = error.marker();
    let (line, column) = within(text, marker.line().max(1), marker.col() + 1);
    if let Some(tab) = leading_tab(text, line) {
        return Diagnostic::new(codes::TAB, "a tab is used for indentation; YAML allows only spaces")
            .spanning(Some(tab))
            .hint("replace the tab with spaces");
    }
    // The parser looks ahead and may meet its own limit before the reader meets ours.
    if error.info().contains("recursion limit") {
        return super::read::too_deep().spanning(Some(Span { line, column, len: 1 }));
    }
    let mut diagnostic = Diagnostic::new(codes::NOT_YAML, format!("not valid YAML: {}", error.info()))
        .spanning(Some(Span { line, column, len: 1 }));
    let said = error.info().to_lowercase();
    if let Some((_, hint)) = HINTS.iter().find(|(words, _)| said.contains(words)) {
        diagnostic = diagnostic.hint(*hint);
    }
    diagnostic
}

/// What is missing at the end is shown at the end of the last line, not below it.
fn within(text: &str, line: usize, column: usize) -> (usize, usize) {
    match text.lines().enumerate().filter(|(_, content)| !content.trim().is_empty()).last() {
        Some((last, content)) if line > last + 1 => (last + 1, content.trim_end().chars().count() + 1),
        _ => (line, column),
    }
}

/// The parser often stumbles one line after the tab, or names the start of what the tab breaks.
fn leading_tab(text: &str, line: usize) -> Option<Span> {
    let nearby = text.lines().enumerate().skip(line.saturating_sub(2)).take(3);
    nearby.into_iter().find_map(|(index, content)| {
        let indent = content.chars().take_while(|c| c.is_whitespace());
        let column = indent.clone().position(|c| c == '\t')?;
        let has_content = content.chars().count() > indent.count();
        has_content.then_some(Span { line: index + 1, column: column + 1, len: 1 })
    })
}
