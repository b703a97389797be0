//! What a host outside a cluster cannot do for a document.

use crate::codes::{NEEDS_CLUSTER, SECRET_NEEDS_CLUSTER};
use crate::diagnostic::{Diagnostic, Span};
use crate::document::Document;
use crate::path::Path;
use crate::probe::Probe;
use crate::secrets::{Reference, references};

/// What needs a cluster, in a document for a host without one.
pub fn without_cluster(document: &Document) -> Vec<Diagnostic> {
    [probes(document), secrets(document)].concat()
}

fn secrets(document: &Document) -> Vec<Diagnostic> {
    let refusal = |(reference, path): (Reference, Path)| {
        let Reference { name, .. } = reference;
        Diagnostic::new(SECRET_NEEDS_CLUSTER, format!("the Secret {name} can only be read in a cluster"))
            .spanning(document.span(&path))
            .at(path)
            .hint("write the secret itself; the file should be readable by root only")
    };
    references(&document.state).into_iter().map(refusal).collect()
}

fn probes(document: &Document) -> Vec<Diagnostic> {
    let refusal = |(probe, span): (&Probe, Span)| {
        Diagnostic::new(NEEDS_CLUSTER, format!("the probe {} needs a cluster", probe.spec))
            .spanning(Some(span))
            .hint("remove it, or probe the API server's address with tcp:HOST:PORT")
    };
    document.probes().into_iter().flatten().filter(|(probe, _)| probe.needs_cluster()).map(refusal).collect()
}
