//! Where something is written.

use linesman_core::diagnostic::{Diagnostic, Span};
use linesman_core::path::Path;

use crate::fault::Fault;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which of the inputs.
    pub file: usize,
    /// `None` for what the name of the file says.
    pub span: Option<Span>,
    pub path: Path,
}

impl Place {
    /// What the name of the file says.
    pub fn file_name(file: usize) -> Self {
        Self { file, span: None, path: Path::root() }
    }

    pub fn fault(&self, code: &'static str, message: impl Into<String>, hint: &str) -> Fault {
        let diagnostic = Diagnostic::new(code, message).at(self.path.clone()).spanning(self.span).hint(hint);
        Fault::new(self.file, diagnostic)
    }

    /// For messages about another place.
    pub fn line(&self) -> String {
        self.span.map(|span| format!(" (line {})", span.line)).unwrap_or_default()
    }
}

/// A value, how it is spelt and where.
#[derive(Debug, Clone)]
pub struct Written<T> {
    pub value: T,
    pub text: String,
    pub place: Place,
}
