//! The network of one host, or of all: an NMState document inside one of the files.

use linesman_core::diagnostic::Diagnostic;
use linesman_core::document::{Document, Node};
use linesman_core::path::Path;
use linesman_core::secrets::in_clear;
use serde_json::{Value, json};

use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::place::Place;

#[derive(Debug, Clone)]
pub struct Configuration {
    pub document: Document,
    /// As it is written, for what the document no longer tells.
    pub node: Node,
    file: usize,
    /// Where in the file the document is.
    prefix: Path,
}

impl Configuration {
    pub fn read(cursor: &Cursor<'_>) -> Result<Self, Vec<Fault>> {
        let file = cursor.file;
        let placed = |mut diagnostic: Diagnostic| {
            diagnostic.path = Some(cursor.path.clone());
            diagnostic.span = cursor.place().span.or(diagnostic.span);
            Fault::new(file, diagnostic)
        };
        let document = Document::inside(cursor.name, cursor.text, cursor.node.clone())
            .map_err(|faults| faults.into_iter().map(placed).collect::<Vec<_>>())?;
        Ok(Self { document, node: cursor.node.clone(), file, prefix: cursor.path.clone() })
    }

    pub fn state(&self) -> &Value {
        &self.document.state
    }

    /// What is written to the host: no manifest around it, aliases written out.
    pub fn to_value(&self) -> Value {
        match &self.document.capture {
            Some(capture) => json!({ "capture": capture, "desired": self.document.state }),
            None => self.document.state.clone(),
        }
    }

    pub fn has_secret(&self) -> bool {
        in_clear(self.state()).is_some()
    }

    /// Where in the file a value of the state is written.
    pub fn place(&self, path: &Path) -> Place {
        let named = path.named(self.state());
        let whole = self.prefix.steps().iter().chain(named.steps()).cloned().collect();
        Place { file: self.file, span: self.document.span(path), path: whole }
    }

    /// At its place in the file; the path of the diagnostic is one in the state.
    pub fn fault(&self, mut diagnostic: Diagnostic) -> Fault {
        let place = self.place(&diagnostic.path.take().unwrap_or_default());
        diagnostic.span = diagnostic.span.or(place.span);
        diagnostic.path = Some(place.path);
        Fault::new(place.file, diagnostic)
    }
}
