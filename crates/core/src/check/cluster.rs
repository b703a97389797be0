//! What a host outside a cluster cannot do for a document.

use crate::codes::NEEDS_CLUSTER;
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::probe::Probe;

/// The probes that nobody could ask where there is no cluster.
pub fn without_cluster(document: &Document) -> Vec<Diagnostic> {
    let probes = document.options.probes.iter().flatten().enumerate();
    let read = probes.filter_map(|(index, text)| Some((index, text.parse::<Probe>().ok()?)));
    let refusal = |(index, probe): (usize, Probe)| {
        Diagnostic::new(NEEDS_CLUSTER, format!("the probe {} asks the cluster, and here is none", probe.spec))
            .spanning(document.probe_span(index))
            .hint("take it out, or probe the API server's address with tcp:HOST:PORT")
    };
    read.filter(|(_, probe)| probe.needs_cluster()).map(refusal).collect()
}
