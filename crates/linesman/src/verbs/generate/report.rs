//! What was written, or what is wrong.

use std::path::{Path, PathBuf};

use linesman_core::diagnostic::render;
use linesman_core::diagnostic_record::DiagnosticRecord;
use linesman_day1::fault::Fault;
use linesman_day1::input::Input;
use linesman_day1::output_directory::Writes;
use serde::Serialize;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, verbs};

#[derive(Debug, Serialize)]
pub struct Report {
    pub sections: Vec<Section>,
}

/// One cluster.
#[derive(Debug, Serialize)]
pub struct Section {
    /// `None`: nothing was written.
    pub directory: Option<PathBuf>,
    /// Without a directory.
    #[serde(rename = "wouldWrite", skip_serializing_if = "Vec::is_empty")]
    pub would_write: Vec<String>,
    #[serde(flatten)]
    pub files: Writes,
    pub notes: Vec<String>,
}

impl Report {
    pub fn print(&self, format: Format) -> Exit {
        match format {
            Format::Text => self.sections.iter().for_each(Section::print),
            other => output::data(other, &self.sections),
        }
        Exit::Done
    }
}

impl Section {
    fn print(&self) {
        self.notes.iter().for_each(|note| output::error(format!("note: {note}")));
        self.would_write.iter().for_each(|name| output::line(format!("would write {name}")));
        let Some(directory) = &self.directory else { return };
        list("wrote", directory, &self.files.written);
        list("unchanged", directory, &self.files.unchanged);
        list("removed", directory, &self.files.removed);
    }
}

fn list(what: &str, directory: &Path, names: &[String]) {
    names.iter().for_each(|name| output::line(format!("{what} {}", directory.join(name).display())));
}

/// Prints what is wrong with each cluster's files, each at its place.
pub fn refuse(wrong: &[(Vec<Fault>, &[Input])]) -> Exit {
    let mut records = Vec::new();
    for (fault, inputs) in wrong.iter().flat_map(|(faults, inputs)| faults.iter().map(move |f| (f, inputs))) {
        let source = inputs.get(fault.file).map_or(("", ""), |input| (input.name.as_str(), &*input.text));
        output::error(render(&fault.diagnostic, source, output::colour_of_errors()));
        records.push(DiagnosticRecord::of(&fault.diagnostic, source));
    }
    let message = format!("{}; nothing was written", verbs::count(records.len(), "error"));
    output::error(&message);
    Failure::of_documents(Exit::Input, message, records).report_to_programs()
}
