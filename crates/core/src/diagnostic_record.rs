//! A diagnostic in plain fields, as editors and pipelines read it.

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Source};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiagnosticRecord {
    pub file: String,
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub length: Option<usize>,
    /// `None` when the file could not even be read.
    pub code: Option<&'static str>,
    pub path: Option<String>,
    pub message: String,
    pub hint: Option<String>,
}

impl DiagnosticRecord {
    pub fn of<'a>(diagnostic: &Diagnostic, source: impl Into<Source<'a>>) -> Self {
        let source = source.into();
        let span = source.span_of(diagnostic);
        Self {
            file: source.name().to_owned(),
            line: span.map(|span| span.line),
            column: span.map(|span| span.column),
            length: span.map(|span| span.len),
            code: Some(diagnostic.code),
            path: source.path_of(diagnostic).map(|path| path.to_string()),
            message: source.message_of(diagnostic),
            hint: diagnostic.hint.clone(),
        }
    }

    pub fn unreadable(file: &str, message: String) -> Self {
        let file = file.to_owned();
        Self { file, line: None, column: None, length: None, code: None, path: None, message, hint: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::path::Path;
    use serde_json::json;

    #[test]
    fn has_the_place_and_the_names_that_people_use() {
        let text = "interfaces:\n- name: br1\n  mtu: 5\n";
        let document = Document::parse("a.yaml", text).unwrap();
        let path = Path::root().key("interfaces").index(0).key("mtu");
        let record = DiagnosticRecord::of(&Diagnostic::new("LM0208", "too small").at(path), &document);
        assert_eq!(
            serde_json::to_value(record).unwrap(),
            json!({"file": "a.yaml", "line": 3, "column": 8, "length": 1, "code": "LM0208",
                   "path": "interfaces[br1].mtu", "message": "too small", "hint": null})
        );
    }

    #[test]
    fn a_text_that_is_no_document_has_no_path() {
        let record =
            DiagnosticRecord::of(&Diagnostic::new("LM0003", "empty").at(Path::root()), ("a.yaml", ""));
        assert_eq!((record.path, record.line), (None, None));
    }
}
