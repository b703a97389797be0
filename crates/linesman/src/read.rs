//! From files to checked documents.

mod checked;
mod files;

use std::io::Read;
use std::path::{Path, PathBuf};

use linesman_core::diagnostic::{Diagnostic, Source, render};
use linesman_core::diagnostic_record::DiagnosticRecord;
use linesman_core::document::{Document, decode};
use linesman_engine::desired;

pub use checked::Checked;
pub use files::files;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, verbs};

/// A file that gave no text.
#[derive(Debug)]
pub struct Unreadable {
    pub file: String,
    pub message: String,
}

/// Every document in the given files, checked each by itself. A directory stands for the documents in it, `-` for
/// standard input; a file may contain several documents.
pub fn check_all(given: &[PathBuf]) -> Result<Vec<Checked>, Unreadable> {
    Ok(files(given)?.iter().flat_map(|file| Checked::all(file)).collect())
}

/// The documents in the given files, if all of them are right; what is wrong is printed with its place.
pub fn read_all(given: &[PathBuf]) -> Result<Vec<Document>, Exit> {
    let checked = check_all(given).map_err(|why| Failure::new(Exit::Input, why.message).report())?;
    if checked.iter().all(Checked::is_right) {
        return Ok(checked.into_iter().filter_map(Checked::into_document).collect());
    }
    let records: Vec<DiagnosticRecord> = checked.iter().flat_map(Checked::findings).collect();
    checked.iter().filter(|checked| !checked.is_right()).for_each(Checked::print);
    let in_documents = records.iter().filter(|record| record.code.is_some()).count();
    let message = match records.as_slice() {
        [only] if in_documents == 0 => only.message.clone(),
        _ => format!("{}; no changes made", verbs::count(records.len(), "error")),
    };
    if in_documents > 0 {
        output::error(&message);
    }
    Err(Failure::of_documents(Exit::Input, message, records).report_to_programs())
}

/// Says that a file gave no text, in the form that was asked for.
pub fn report_unreadable(why: &Unreadable, format: Format) -> Exit {
    match format {
        Format::Text => output::error(format!("linesman: {}", why.message)),
        other => output::data(other, &[DiagnosticRecord::unreadable(&why.file, why.message.clone())]),
    }
    Exit::Input
}

/// Reads only: what a host shows of itself need not be what anybody would declare.
pub fn unchecked(file: &Path) -> Result<Document, Exit> {
    let (name, text) = text(file).map_err(|why| Failure::new(Exit::Input, why.message).report())?;
    parse(&name, &text)
}

/// The one document in a text.
fn parse(name: &str, text: &str) -> Result<Document, Exit> {
    Document::parse(name, text).map_err(|problems| print(Exit::Input, &problems, (name, text)))
}

pub fn check(document: &Document) -> Vec<Diagnostic> {
    linesman_core::check::check(document, &desired::schema)
}

/// Gives `exit` back, for the caller to end with.
pub fn print<'a>(exit: Exit, problems: &[Diagnostic], source: impl Into<Source<'a>>) -> Exit {
    let source = source.into();
    for problem in problems {
        output::error(render(problem, source, output::colour_of_errors()));
    }
    let message = format!("{}; no changes made", verbs::count(problems.len(), "error"));
    output::error(&message);
    let records = problems.iter().map(|problem| DiagnosticRecord::of(problem, source)).collect();
    Failure::of_documents(exit, message, records).report_to_programs()
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
        Ok(_) => match decode(bytes) {
            Ok(text) => return Ok((name, text)),
            Err(why) => format!("{name} {why}"),
        },
    };
    Err(Unreadable { file: name, message })
}
