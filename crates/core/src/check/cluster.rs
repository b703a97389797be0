//! What a host outside a cluster cannot do for a document.

use crate::codes::NEEDS_CLUSTER;
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::probe::Probe;

/// The probes that nobody could ask where there is no cluster.
pub fn without_cluster(document: &Document) -> Vec<Diagnostic> {
    let probes = document.options.probes.iter().flatten().enumerate();
    let asks = |text: &str| text.parse().is_ok_and(|probe: Probe| probe.needs_cluster());
    let refusal = |(index, text): (usize, &String)| {
        Diagnostic::new(NEEDS_CLUSTER, format!("the probe {text} asks the cluster, and here is none"))
            .spanning(document.probe_span(index))
            .hint("take it out, or probe the API server's address with tcp:HOST:PORT")
    };
    probes.filter(|(_, text)| asks(text)).map(refusal).collect()
}
