//! What came out of an import, and what did not.

use std::fmt;

use serde_json::Value;

use super::Input;
use super::fields::Place;
use linesman_core::codes;
use linesman_core::diagnostic::Diagnostic;

#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub state: Value,
    pub notes: Vec<Note>,
}

/// Something that was not carried over, or not quite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// `FILE:LINE`, or an interface of the running host.
    pub place: String,
    /// The setting, as it is called where it comes from.
    pub setting: String,
    pub why: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.setting.as_str() {
            "" => write!(f, "{}: {}", self.place, self.why),
            setting => write!(f, "{}: {setting}: {}", self.place, self.why),
        }
    }
}

/// What is wrong with one of the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// Which input, counted from 0.
    pub file: usize,
    pub diagnostic: Diagnostic,
}

impl Imported {
    /// The comments that stand above the document.
    pub fn header(&self, from: &str) -> String {
        let mut lines = vec![format!("# Imported from {from}.")];
        if !self.notes.is_empty() {
            lines.push("# Not imported, or only in part:".to_owned());
            lines.extend(self.notes.iter().map(|note| format!("#   {}", one_line(&note.to_string()))));
        }
        lines.join("\n") + "\n"
    }
}

/// A note must not break out of its comment.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}') { ' ' } else { c })
        .collect()
}

/// Collects notes and faults while a translation goes on.
#[derive(Debug)]
pub(super) struct Log<'i> {
    inputs: &'i [Input],
    notes: Vec<(Place, Note)>,
    faults: Vec<ImportError>,
}

/// An input with more mistakes than this gets only the first ones reported.
const MAX_FAULTS: usize = 20;

impl<'i> Log<'i> {
    pub fn new(inputs: &'i [Input]) -> Self {
        Self { inputs, notes: Vec::new(), faults: Vec::new() }
    }

    pub fn note(&mut self, place: Place, setting: impl Into<String>, why: impl Into<String>) {
        let name = self.inputs.get(place.file).map_or("", |input| input.name.as_str());
        let text = format!("{name}:{}", place.span.line);
        self.notes.push((place, Note { place: text, setting: setting.into(), why: why.into() }));
    }

    pub fn fault(&mut self, place: Place, message: impl Into<String>, hint: impl Into<String>) {
        let diagnostic = Diagnostic::new(codes::BAD_SETTING, message).spanning(Some(place.span)).hint(hint);
        self.broken(place.file, diagnostic);
    }

    pub fn broken(&mut self, file: usize, diagnostic: Diagnostic) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(ImportError { file, diagnostic });
        }
    }

    /// The state, unless something was wrong. Notes come in the order of the text.
    pub fn finish(mut self, state: Value) -> Result<Imported, Vec<ImportError>> {
        if !self.faults.is_empty() {
            self.faults.sort_by_key(|fault| (fault.file, fault.diagnostic.span));
            return Err(self.faults);
        }
        self.notes.sort_by(|(a, one), (b, other)| (a.file, a.span, one).cmp(&(b.file, b.span, other)));
        let mut notes: Vec<Note> = self.notes.into_iter().map(|(_, note)| note).collect();
        notes.dedup();
        Ok(Imported { state, notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_stays_inside_its_comment() {
        let note = Note { place: "a:1".into(), setting: "x\ninterfaces: []".into(), why: "no".into() };
        let imported = Imported { state: Value::Null, notes: vec![note] };
        assert!(imported.header("a").lines().all(|line| line.starts_with('#')), "{}", imported.header("a"));
    }
}
