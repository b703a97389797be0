//! `linesman check`: validates documents offline.

use std::path::{Path, PathBuf};

use linesman_core::codes::{CONFLICT, POLICY_TWICE};
use linesman_core::compose::compose;
use linesman_core::diagnostic::{Diagnostic, render};
use linesman_core::diagnostic_record::DiagnosticRecord;
use linesman_core::document::Document;
use linesman_core::policy::Policy;

use crate::cli::{CheckArgs, Format};
use crate::exit::Exit;
use crate::read::{self, Unreadable};
use crate::{output, verbs};

pub fn run(args: &CheckArgs, format: Format) -> Exit {
    let files = match files(&args.files) {
        Ok(files) => files,
        Err(why) => return complain(&why, format),
    };
    let mut checked: Vec<Checked> = files.iter().map(|file| Checked::new(file)).collect();
    if !args.apart {
        same_names(&mut checked);
        conflicts(&mut checked);
    }
    match format {
        Format::Text => checked.iter().for_each(Checked::print),
        other => output::data(other, &checked.iter().flat_map(Checked::findings).collect::<Vec<_>>()),
    }
    let wrong = checked.iter().filter(|file| !file.is_right()).count();
    if wrong == 0 {
        return Exit::Done;
    }
    if format == Format::Text {
        output::error(summary(&checked, wrong));
    }
    Exit::Input
}

/// The agent rejects both, so neither is ok.
fn same_names(checked: &mut [Checked]) {
    let pairs = (0..checked.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let same = |&(one, other): &(usize, usize)| checked.get(one)?.same_name(checked.get(other)?);
    let found: Vec<_> = pairs.filter_map(|pair| same(&pair).map(|problem| (pair, problem))).collect();
    for ((one, other), problem) in found {
        for document in [one, other] {
            checked.get_mut(document).into_iter().for_each(|document| document.add(problem.clone()));
        }
    }
}

/// Composes the documents as policies of one host.
fn conflicts(checked: &mut [Checked]) {
    let policies: Vec<Policy> = checked.iter().filter_map(Checked::policy).collect();
    let Err(conflicts) = compose(&policies.iter().collect::<Vec<_>>()) else { return };
    for conflict in conflicts {
        let newer = checked.iter().position(|c| c.policy().is_some_and(|p| p.name == conflict.other.policy));
        let Some(document) = newer.and_then(|at| checked.get_mut(at)) else { continue };
        let hint = "set it in one document only, or make both agree; use --apart if the documents are for different hosts";
        document.add(
            Diagnostic::new(CONFLICT, format!("conflict: {conflict}")).at(conflict.path.clone()).hint(hint),
        );
    }
}

fn complain(why: &Unreadable, format: Format) -> Exit {
    match format {
        Format::Text => output::error(format!("linesman: {}", why.message)),
        other => output::data(other, &[DiagnosticRecord::unreadable(&why.file, why.message.clone())]),
    }
    Exit::Input
}

fn summary(checked: &[Checked], wrong: usize) -> String {
    let errors: usize = checked.iter().map(|file| file.findings().len()).sum();
    let code = checked.iter().flat_map(Checked::findings).find_map(|finding| finding.code);
    let more = code.map(|code| format!("; run `linesman explain {code}` for details")).unwrap_or_default();
    let errors = verbs::count(errors, "error");
    match checked.len() {
        1 => format!("{errors}{more}"),
        files => format!("{errors} in {wrong} of {}{more}", verbs::count(files, "file")),
    }
}

/// A file and the result of its check.
enum Checked {
    Right(Document),
    Wrong(Document, Vec<Diagnostic>),
    NoDocument { name: String, text: String, faults: Vec<Diagnostic> },
    Unreadable(Unreadable),
}

impl Checked {
    fn new(file: &Path) -> Self {
        let (name, text) = match read::text(file) {
            Ok(read) => read,
            Err(why) => return Self::Unreadable(why),
        };
        match Document::parse(&name, &text) {
            Err(faults) => Self::NoDocument { name, text, faults },
            Ok(document) => match read::check(&document) {
                problems if problems.is_empty() => Self::Right(document),
                problems => Self::Wrong(document, problems),
            },
        }
    }

    /// Named by its manifest, or by its file.
    fn policy(&self) -> Option<Policy> {
        self.document().map(|document| document.to_policy(&document.name))
    }

    fn document(&self) -> Option<&Document> {
        match self {
            Self::Right(document) | Self::Wrong(document, _) => Some(document),
            _ => None,
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
    fn same_name(&self, other: &Self) -> Option<Diagnostic> {
        let (one, two) = (self.document()?, other.document()?);
        let named = one.policy.is_some() && two.policy.is_some();
        let beside = Path::new(&one.name).parent() == Path::new(&two.name).parent() && one.name != two.name;
        let name = self.name().filter(|name| (named || beside) && other.name().as_ref() == Some(name))?;
        let message = format!("{} and {} both contain a policy named {name}", one.name, two.name);
        Some(Diagnostic::new(POLICY_TWICE, message).hint("give one of them another name"))
    }

    fn add(&mut self, problem: Diagnostic) {
        match self {
            Self::Right(document) => *self = Self::Wrong(document.clone(), vec![problem]),
            Self::Wrong(_, problems) => problems.push(problem),
            _ => {}
        }
    }

    fn is_right(&self) -> bool {
        matches!(self, Self::Right(_))
    }

    fn findings(&self) -> Vec<DiagnosticRecord> {
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

    fn print(&self) {
        let colour = output::colour_of_errors();
        match self {
            Self::Right(document) => output::line(format!("{}: ok", document.name)),
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

/// A directory stands for the documents in it.
fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, Unreadable> {
    let mut files = Vec::new();
    for path in given {
        if path.is_dir() {
            files.extend(documents_in(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn documents_in(directory: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let unreadable = |message: String| Unreadable { file: directory.display().to_string(), message };
    let cannot = |error: std::io::Error| unreadable(format!("cannot read {}: {error}", directory.display()));
    let entries = std::fs::read_dir(directory).map_err(cannot)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut documents: Vec<PathBuf> =
        paths.map_err(cannot)?.into_iter().filter(|path| path.is_file() && is_document(path)).collect();
    documents.sort();
    if documents.is_empty() {
        let none = format!("no *.yaml, *.yml or *.json files in {}", directory.display());
        return Err(unreadable(none));
    }
    Ok(documents)
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known))
}
