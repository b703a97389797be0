//! From a file to a checked document.

use std::io::Read;
use std::path::Path;

use linesman_core::diagnostic::{Diagnostic, Source, render};
use linesman_core::document::Document;
use linesman_engine::desired;

use crate::exit::Exit;
use crate::output;

/// Reads and checks; what is wrong is printed with its place.
pub fn document(file: &Path) -> Result<Document, Exit> {
    let (name, text) = text(file)?;
    let document = Document::parse(&name, &text).map_err(|problems| {
        print(&problems, (name.as_str(), text.as_str()));
        Exit::Input
    })?;
    let problems = linesman_core::check::check(&document, &desired::schema);
    if problems.is_empty() {
        return Ok(document);
    }
    print(&problems, &document);
    Err(Exit::Input)
}

pub fn print<'a>(problems: &[Diagnostic], source: impl Into<Source<'a>>) {
    let source = source.into();
    for problem in problems {
        output::error(render(problem, source, output::colour()));
    }
    let (count, s) = (problems.len(), if problems.len() == 1 { "" } else { "s" });
    output::error(format!("{count} error{s}; nothing was touched"));
}

fn text(file: &Path) -> Result<(String, String), Exit> {
    let mut bytes = Vec::new();
    let (name, read) = if file.as_os_str() == "-" {
        ("<stdin>".to_string(), std::io::stdin().lock().read_to_end(&mut bytes))
    } else {
        (file.display().to_string(), std::fs::File::open(file).and_then(|mut f| f.read_to_end(&mut bytes)))
    };
    if let Err(e) = read {
        output::error(format!("linesman: cannot read {name}: {e}"));
        return Err(Exit::Input);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(_) => {
            output::error(format!("linesman: {name} is not text (UTF-8); nothing was touched"));
            Err(Exit::Input)
        }
    }
}
