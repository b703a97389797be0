//! Several documents in one file of a directory of policies.

use crate::codes::SEVERAL_DOCUMENTS;
use crate::diagnostic::{Diagnostic, Span};
use crate::document::Document;

/// A policy is known by its name, and its file can lend that to one document only.
pub fn unnamed_among_several(document: &Document) -> Vec<Diagnostic> {
    let Some(line) = document.begins.filter(|_| document.policy.is_none()) else { return Vec::new() };
    let message = "this document has no name, and is one of several in its file";
    let hint =
        "make it a NodeNetworkConfigurationPolicy with 'metadata.name', or move it to a file of its own";
    let diagnostic = Diagnostic::new(SEVERAL_DOCUMENTS, message);
    vec![diagnostic.spanning(Some(Span { line, column: 1, len: 1 })).hint(hint)]
}
