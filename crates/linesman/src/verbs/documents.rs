//! The documents of one change: several are composed as an agent composes the policies of a host.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use linesman_core::codes::CONFLICT;
use linesman_core::compose::{Conflict, compose};
use linesman_core::default_trunks;
use linesman_core::diagnostic::{Diagnostic, render};
use linesman_core::diagnostic_record::DiagnosticRecord;
use linesman_core::document::Document;
use linesman_core::path::Path;
use linesman_core::plan::codes::{
    BRIDGE_OF_OTHERS, IFCFG_PROFILE, KERNEL_LACKS_TYPE, NO_DATAPATH, NO_SUPPLICANT,
};
use linesman_core::policy::Policy;
use linesman_core::probe::required;
use linesman_engine::probe::Probe;
use linesman_engine::transaction::{Loaded, Refusal, Request};
use serde_json::Value;

use super::captures::Kept;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, read, verbs};

/// What the host lacks is no fault of the document.
const LACKING: [&str; 5] = [BRIDGE_OF_OTHERS, IFCFG_PROFILE, KERNEL_LACKS_TYPE, NO_DATAPATH, NO_SUPPLICANT];

/// At least one.
#[derive(Debug)]
pub struct Documents(Vec<Document>);

impl Documents {
    /// Reads and checks; what is wrong is printed with its place.
    pub fn read(files: &[PathBuf]) -> Result<Self, Exit> {
        read::read_all(files).map(Self)
    }

    /// Of names and texts that were checked before.
    pub fn of<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self, Exit> {
        let mut documents = Vec::new();
        for (name, text) in files {
            for parsed in Document::parse_all(name, text) {
                let refused = |problems: Vec<Diagnostic>| read::print(Exit::Input, &problems, (name, text));
                documents.push(parsed.map_err(refused)?);
            }
        }
        Ok(Self(documents))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Document> {
        self.0.iter()
    }

    /// What people call the change in `linesman history`.
    fn source(&self) -> String {
        let name = |document: &Document| document.policy.clone().unwrap_or_else(|| document.title());
        match self.0.as_slice() {
            [one, two, rest @ ..] if rest.len() > 1 => {
                format!("{}, {} and {} more", name(one), name(two), rest.len())
            }
            all => all.iter().map(name).collect::<Vec<_>>().join(", "),
        }
    }

    /// The longest that one of them asks for, or the default of one that does not say; and whether that grows.
    pub fn patience(&self) -> Option<(Duration, bool)> {
        let required = required(self.0.iter().map(|document| &document.options), false);
        required.ok().map(|required| (required.patience, required.patience_grows))
    }

    /// Those of all documents together, as of policies; none: no document names any.
    pub fn probes(&self) -> Option<Vec<Probe>> {
        self.0.iter().find(|document| document.options.probes.is_some())?;
        let required = required(self.0.iter().map(|document| &document.options), false);
        // Each was parsed when its document was checked.
        required.ok().map(|required| required.probes)
    }

    /// What they ask for together of this host. Captures are filled in first: what a document refers to is known only
    /// on the host.
    pub fn request(&self, loaded: &Loaded, kept: &Kept, protect: Option<IpAddr>) -> Result<Request, Refusal> {
        let state = match self.0.as_slice() {
            [one] => self.fill(one, loaded, kept)?,
            _ => self.compose(loaded, kept)?,
        };
        Ok(Request { protect, ..Request::new(self.source(), state) })
    }

    /// As the agent fills in a policy; a bare state means what it says.
    fn fill(&self, document: &Document, loaded: &Loaded, kept: &Kept) -> Result<Value, Refusal> {
        let mut state = kept.fill(document, &loaded.observed)?;
        if document.policy.is_some() && loaded.facts.filters_vlans {
            let others = self.0.iter().map(|document| &document.state).collect::<Vec<_>>();
            default_trunks::fill(&mut state, &others);
        }
        Ok(state)
    }

    fn compose(&self, loaded: &Loaded, kept: &Kept) -> Result<Value, Refusal> {
        let mut policies: Vec<Policy> = Vec::new();
        for document in &self.0 {
            let policy = document.to_policy(&document.name);
            let state = self.fill(document, loaded, kept)?;
            policies.push(Policy { name: document.title(), state, capture: None, ..policy });
        }
        compose(&policies.iter().collect::<Vec<_>>())
            .map_err(|conflicts| Refusal::Document(conflicts.iter().map(contradiction).collect()))
    }

    /// Says why the change was refused, at the place that is to blame.
    pub fn refused(&self, refusal: &Refusal) -> Exit {
        let problems = match refusal {
            Refusal::Document(problems) => problems,
            Refusal::Host(error) => return Failure::from(error).report(),
        };
        let of_the_host = problems.iter().all(|problem| LACKING.contains(&problem.code));
        let exit = if of_the_host { Exit::Environment } else { Exit::Input };
        let placed: Vec<(Diagnostic, &Document)> = problems
            .iter()
            .filter_map(|problem| {
                let document = self.document_of(problem)?;
                let span = problem.path.as_ref().and_then(|path| document.span(path));
                Some((problem.clone().spanning(span), document))
            })
            .collect();
        for (problem, document) in &placed {
            output::error(render(problem, *document, output::colour_of_errors()));
        }
        let message = format!("{}; no changes made", verbs::count(placed.len(), "error"));
        output::error(&message);
        let records = placed.iter().map(|(problem, document)| DiagnosticRecord::of(problem, *document));
        Failure::of_documents(exit, message, records.collect()).report_to_programs()
    }

    /// The document that says most about the place; of several, the last, which is where a conflict became one.
    fn document_of(&self, problem: &Diagnostic) -> Option<&Document> {
        let said = |document: &&Document| {
            let path = problem.path.clone().unwrap_or_else(Path::root);
            std::iter::successors(Some(path), Path::parent)
                .position(|path| path.find(&document.state).is_some())
        };
        self.0.iter().rev().min_by_key(|document| said(document).unwrap_or(usize::MAX))
    }
}

fn contradiction(conflict: &Conflict) -> Diagnostic {
    Diagnostic::new(CONFLICT, format!("conflict: {conflict}"))
        .at(conflict.path.clone())
        .hint("set it in one document only, or make both agree")
}
