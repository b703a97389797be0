//! What is wrong with a document, where, and what to do about it.

use std::fmt::Write as _;

use serde::Serialize;

use crate::document::Document;
use crate::path::Path;
use crate::secrets::{MASK, mask_source_line, without};
use crate::terminal::TextStyle;

/// A stretch of one line; line and column count from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    pub line: usize,
    pub column: usize,
    pub len: usize,
}

/// One thing that is wrong. The code is stable and explained in [`crate::codes`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub code: &'static str,
    pub message: String,
    pub path: Option<Path>,
    pub span: Option<Span>,
    pub hint: Option<String>,
}

impl Diagnostic {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: None, span: None, hint: None }
    }

    #[must_use]
    pub fn at(mut self, path: Path) -> Self {
        self.path = Some(path);
        self
    }

    #[must_use]
    pub fn spanning(mut self, span: Option<Span>) -> Self {
        self.span = span;
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Without the text that it is about.
    pub fn line(&self) -> String {
        match &self.path {
            Some(path) if !path.is_root() => format!("{path}: {} [{}]", self.message, self.code),
            _ => format!("{} [{}]", self.message, self.code),
        }
    }
}

/// The text a diagnostic is about; a [`Document`], or a name and a text that did not become one.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    name: &'a str,
    text: &'a str,
    document: Option<&'a Document>,
}

impl<'a> From<&'a Document> for Source<'a> {
    fn from(document: &'a Document) -> Self {
        Self { name: &document.name, text: &document.text, document: Some(document) }
    }
}

impl<'a> From<(&'a str, &'a str)> for Source<'a> {
    fn from((name, text): (&'a str, &'a str)) -> Self {
        Self { name, text, document: None }
    }
}

impl<'a> Source<'a> {
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Where the diagnostic is about: its own place, or that of its path.
    pub(crate) fn span_of(&self, diagnostic: &Diagnostic) -> Option<Span> {
        diagnostic.span.or_else(|| self.document?.span(diagnostic.path.as_ref()?))
    }

    /// Its message, without a secret that is written at its place.
    pub(crate) fn message_of(&self, diagnostic: &Diagnostic) -> String {
        let message = &diagnostic.message;
        let Some(span) = self.span_of(diagnostic) else { return message.clone() };
        let (number, column) = (span.line.saturating_sub(1), span.column.saturating_sub(1));
        let secret = mask_source_line(self.text, number).and_then(|(_, secret)| secret);
        if secret.is_none_or(|start| column < start) {
            return message.clone();
        }
        let line = self.text.lines().nth(number).unwrap_or_default();
        without(message, &line.chars().skip(column).take(span.len).collect::<String>())
    }

    /// Its path with list items called by their names; none at the top.
    pub(crate) fn path_of(&self, diagnostic: &Diagnostic) -> Option<Path> {
        let path = diagnostic.path.as_ref().filter(|path| !path.is_root())?;
        Some(self.document.map_or_else(|| path.clone(), |document| path.named(&document.state)))
    }
}

/// `FILE:LINE:COL: error[CODE]: message`, the line itself with a caret, where that is in the state, and a hint.
pub fn render<'a>(diagnostic: &Diagnostic, source: impl Into<Source<'a>>, colour: bool) -> String {
    let source = source.into();
    let style = TextStyle { colour };
    let span = source.span_of(diagnostic);
    let place = span.map_or(String::new(), |span| format!("{}:{}:", span.line, span.column));
    let mut out = format!("{}:{place} ", source.name);
    out += &style.bold_red(&format!("error[{}]", diagnostic.code));
    let _ = writeln!(out, ": {}", style.bold(&source.message_of(diagnostic)));
    if let Some(span) = span {
        out += &excerpt(source.text, span, style);
    }
    if let Some(path) = source.path_of(diagnostic) {
        let _ = writeln!(out, "  {} {path}", style.blue("at"));
    }
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(out, "  {} {hint}", style.blue("hint:"));
    }
    out
}

/// Lines wider than this are cut around the place, or a minified JSON document would fill the screen.
const EXCERPT_WIDTH: usize = 100;

fn excerpt(text: &str, span: Span, style: TextStyle) -> String {
    let Some((line, secret)) = mask_source_line(text, span.line.saturating_sub(1)) else {
        return String::new();
    };
    let start = span.column.saturating_sub(1);
    // The mask is as long as it is, whatever the secret was.
    let (start, len) = match secret {
        Some(secret) if start >= secret => (secret, MASK.len()),
        _ => (start, span.len),
    };
    let skipped =
        if line.chars().count() > EXCERPT_WIDTH { start.saturating_sub(EXCERPT_WIDTH / 3) } else { 0 };
    let shown: String = line.chars().skip(skipped).take(EXCERPT_WIDTH).map(printable).collect();
    let carets = len.min(shown.chars().count().saturating_sub(start - skipped)).max(1);
    let number = span.line.to_string();
    let gutter = " ".repeat(number.len());
    let bar = style.blue("|");
    format!(
        "  {gutter} {bar}\n  {} {bar} {shown}\n  {gutter} {bar} {}{}\n",
        style.blue(&number),
        " ".repeat(start - skipped),
        style.bold_red(&"^".repeat(carets)),
    )
}

fn printable(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Diagnostic {
        Diagnostic::new("LM0000", "no").spanning(Some(Span { line: 2, column: 4, len: 3 })).hint("write yes")
    }

    #[test]
    fn shows_the_line_and_a_caret() {
        let shown = render(&sample(), ("a.yaml", "x: 1\ny: abc\n"), false);
        assert_eq!(
            shown,
            "a.yaml:2:4: error[LM0000]: no\n    |\n  2 | y: abc\n    |    ^^^\n  hint: write yes\n"
        );
    }

    #[test]
    fn colours_only_when_asked() {
        let text = ("a.yaml", "x: 1\ny: abc\n");
        assert!(!render(&sample(), text, false).contains('\x1b'));
        let coloured = render(&sample(), text, true);
        assert!(coloured.contains("\x1b[1;31merror[LM0000]\x1b[0m"));
    }

    #[test]
    fn cuts_long_lines_around_the_place() {
        let text = format!("{}BAD{}", " ".repeat(5000), "x".repeat(5000));
        let span = Span { line: 1, column: 5001, len: 3 };
        let shown =
            render(&Diagnostic::new("LM0000", "no").spanning(Some(span)), ("a", text.as_str()), false);
        assert!(shown.contains("BAD"));
        assert!(shown.lines().all(|line| line.chars().count() < 120), "{shown}");
    }

    #[test]
    fn says_what_it_can_without_a_place() {
        assert_eq!(render(&Diagnostic::new("LM0000", "no"), ("a", ""), false), "a: error[LM0000]: no\n");
    }

    #[test]
    fn a_secret_is_shown_neither_on_its_line_nor_in_the_message() {
        let text = "802.1x:\n  password: 884 # x\n";
        let problem = Diagnostic::new("LM0000", "'884' is no text").spanning(Some(Span {
            line: 2,
            column: 13,
            len: 3,
        }));
        assert_eq!(
            render(&problem, ("a", text), false),
            "a:2:13: error[LM0000]: '<masked>' is no text\n    |\n  2 |   password: <masked>\n    |             ^^^^^^^^\n"
        );
    }

    #[test]
    fn a_span_beyond_the_text_does_not_panic() {
        for span in [Span { line: 9, column: 9, len: 9 }, Span { line: 0, column: 0, len: 0 }] {
            render(&Diagnostic::new("LM0000", "no").spanning(Some(span)), ("a", "b"), false);
        }
    }
}
