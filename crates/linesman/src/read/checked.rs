//! A document and the result of its check.

use std::path::Path;

use linesman_core::codes::POLICY_TWICE;
use linesman_core::diagnostic::{Diagnostic, render};
use linesman_core::diagnostic_record::DiagnosticRecord;
use linesman_core::document::Document;
use linesman_core::policy::Policy;

use super::{Unreadable, check, text};
use crate::output;

/// What became of one document of a file, or of the file.
pub enum Checked {
    Right(Document),
    Wrong(Document, Vec<Diagnostic>),
    NoDocument { name: String, text: String, faults: Vec<Diagnostic> },
    Unreadable(Unreadable),
}

impl Checked {
    /// Every document in a file, in the order of its lines.
    pub fn all(file: &Path) -> Vec<Self> {
        let (name, text) = match text(file) {
            Ok(read) => read,
            Err(why) => return vec![Self::Unreadable(why)],
        };
        let documents = Document::parse_all(&name, &text).into_iter();
        let checked = documents.map(|read| match read {
            Err(faults) => Self::NoDocument { name: name.clone(), text: text.clone(), faults },
            Ok(document) => match check(&document) {
                problems if problems.is_empty() => Self::Right(document),
                problems => Self::Wrong(document, problems),
            },
        });
        checked.collect()
    }

    /// Named by its manifest, or by its place.
    pub fn policy(&self) -> Option<Policy> {
        self.document().map(|document| document.to_policy(&document.title()))
    }

    pub fn document(&self) -> Option<&Document> {
        match self {
            Self::Right(document) | Self::Wrong(document, _) => Some(document),
            _ => None,
        }
    }

    pub fn into_document(self) -> Option<Document> {
        match self {
            Self::Right(document) | Self::Wrong(document, _) => Some(document),
            _ => None,
        }
    }

    /// The file it is in.
    pub fn file(&self) -> &str {
        match self {
            Self::Right(document) | Self::Wrong(document, _) => &document.name,
            Self::NoDocument { name, .. } => name,
            Self::Unreadable(why) => &why.file,
        }
    }

    /// As the agent calls the policy.
    fn name(&self) -> Option<String> {
        let document = self.document()?;
        let stem = Path::new(&document.name).file_stem()?.to_string_lossy().into_owned();
        Some(document.policy.clone().unwrap_or(stem))
    }

    /// Whether an agent would know both policies by one name. Names that come from files are one only within a
    /// directory.
    pub fn same_name(&self, other: &Self) -> Option<Diagnostic> {
        let (one, two) = (self.document()?, other.document()?);
        let named = one.policy.is_some() && two.policy.is_some();
        let beside = Path::new(&one.name).parent() == Path::new(&two.name).parent() && one.name != two.name;
        let name = self.name().filter(|name| (named || beside) && other.name().as_ref() == Some(name))?;
        let message = format!("{} and {} both contain a policy named {name}", one.title(), two.title());
        Some(Diagnostic::new(POLICY_TWICE, message).hint("give one of them another name"))
    }

    pub fn add(&mut self, problem: Diagnostic) {
        match self {
            Self::Right(document) => *self = Self::Wrong(document.clone(), vec![problem]),
            Self::Wrong(_, problems) => problems.push(problem),
            _ => {}
        }
    }

    pub fn is_right(&self) -> bool {
        matches!(self, Self::Right(_))
    }

    pub fn findings(&self) -> Vec<DiagnosticRecord> {
        match self {
            Self::Right(_) => Vec::new(),
            Self::Wrong(document, problems) => {
                problems.iter().map(|p| DiagnosticRecord::of(p, document)).collect()
            }
            Self::NoDocument { name, text, faults } => faults
                .iter()
                .map(|fault| DiagnosticRecord::of(fault, (name.as_str(), text.as_str())))
                .collect(),
            Self::Unreadable(why) => vec![DiagnosticRecord::unreadable(&why.file, why.message.clone())],
        }
    }

    pub fn print(&self) {
        let colour = output::colour_of_errors();
        match self {
            Self::Right(document) => output::line(ok(document)),
            Self::Wrong(document, problems) => {
                problems.iter().for_each(|problem| output::error(render(problem, document, colour)));
            }
            Self::NoDocument { name, text, faults } => faults
                .iter()
                .for_each(|fault| output::error(render(fault, (name.as_str(), text.as_str()), colour))),
            Self::Unreadable(why) => output::error(format!("linesman: {}", why.message)),
        }
    }
}

/// One of several documents in a file is also called by its name.
fn ok(document: &Document) -> String {
    let name = document.policy.as_ref().filter(|_| document.begins.is_some());
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{}: ok{name}", document.title())
}
