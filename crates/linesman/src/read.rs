//! From a file to a checked document.

use std::io::Read;
use std::path::Path;

use linesman_core::diagnostic::{Diagnostic, Source, render};
use linesman_core::document::Document;
use linesman_engine::desired;

use crate::exit::Exit;
use crate::{output, verbs};

/// A file that gave no text.
#[derive(Debug)]
pub struct Unreadable {
    pub file: String,
    pub message: String,
}

/// Reads and checks; what is wrong is printed with its place.
pub fn document(file: &Path) -> Result<Document, Exit> {
    let document = unchecked(file)?;
    let problems = check(&document);
    if problems.is_empty() {
        return Ok(document);
    }
    print(&problems, &document);
    Err(Exit::Input)
}

/// Reads only: what a host shows of itself need not be what anybody would declare.
pub fn unchecked(file: &Path) -> Result<Document, Exit> {
    let (name, text) = text(file).map_err(|why| {
        output::error(format!("linesman: {}", why.message));
        Exit::Input
    })?;
    Document::parse(&name, &text).map_err(|problems| {
        print(&problems, (name.as_str(), text.as_str()));
        Exit::Input
    })
}

pub fn check(document: &Document) -> Vec<Diagnostic> {
    linesman_core::check::check(document, &desired::schema)
}

pub fn print<'a>(problems: &[Diagnostic], source: impl Into<Source<'a>>) {
    let source = source.into();
    for problem in problems {
        output::error(render(problem, source, output::colour_of_errors()));
    }
    output::error(format!("{}; no changes made", verbs::count(problems.len(), "error")));
}

/// The name that a file goes by in messages, and its text.
pub fn text(file: &Path) -> Result<(String, String), Unreadable> {
    let mut bytes = Vec::new();
    let (name, read) = if file.as_os_str() == "-" {
        ("<stdin>".to_string(), std::io::stdin().lock().read_to_end(&mut bytes))
    } else {
        (file.display().to_string(), std::fs::File::open(file).and_then(|mut f| f.read_to_end(&mut bytes)))
    };
    let message = match read {
        Err(e) => format!("cannot read {name}: {e}"),
        Ok(_) => match String::from_utf8(bytes) {
            Ok(text) => return Ok((name, text)),
            Err(_) => format!("{name} is not UTF-8 text"),
        },
    };
    Err(Unreadable { file: name, message })
}
