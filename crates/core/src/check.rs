//! What can be known to be wrong with a document before any host is asked.

mod addresses;
mod bases;
mod bonds;
mod cluster;
mod collisions;
pub mod fields;
pub(crate) mod interfaces;
mod layers;
mod names;
pub mod nearest;
mod open_fields;
mod options;
mod ports;
mod reserved;
mod routes;
mod rules;
mod schema;
mod schema_errors;
mod several;
mod tunables;
mod view;

use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::path::Path;
use crate::secrets::left_open;
pub use cluster::without_cluster;
pub use options::check_options;
pub use several::unnamed_among_several;
use view::State;

/// More mistakes than this are not listed: the first ones usually cause the rest.
pub const MAX_DIAGNOSTICS: usize = 20;

/// A typed parse of a whole state, which says what it dislikes but not where.
pub type Schema<'a> = &'a dyn Fn(&Value) -> Result<(), String>;

/// Each looks at the document from one side; none needs to know of the others.
const CHECKS: &[fn(&State<'_>) -> Vec<Diagnostic>] = &[
    interfaces::top_keys,
    interfaces::keys,
    open_fields::unknown,
    interfaces::names,
    interfaces::kinds,
    interfaces::duplicates,
    interfaces::identifiers,
    interfaces::only_shown,
    reserved::interfaces,
    reserved::ports,
    tunables::mac_addresses,
    tunables::mtus,
    addresses::addresses,
    addresses::shared,
    ports::twice,
    ports::shared,
    ports::with_ip,
    ports::absent,
    ports::controllers,
    bonds::options,
    layers::own_ports,
    layers::cycles,
    bases::bases,
    bases::vlans,
    bases::bridge_vlans,
    bases::vxlans,
    bases::veths,
    bases::mac_vlans,
    bases::ipvlans,
    bases::vrfs,
    collisions::vlans,
    collisions::vxlans,
    collisions::bases,
    collisions::functions,
    routes::destinations,
    routes::next_hops,
    routes::ways_out,
    routes::overlaps,
    rules::rules,
    names::dns_servers,
    names::dns_twice,
    names::hostname,
];

/// Everything that is wrong with `document`, in the order of its lines.
pub fn check(document: &Document, schema: Schema<'_>) -> Vec<Diagnostic> {
    let state = State::new(&document.state);
    let own = CHECKS.iter().flat_map(|check| check(&state).into_iter().take(MAX_DIAGNOSTICS));
    let mut found: Vec<Diagnostic> = own.collect();
    let typed = schema::diagnose(&left_open(&document.state), schema);
    let (unknown, typed): (Vec<_>, Vec<_>) = typed.into_iter().partition(is_unknown);
    let known: Vec<_> = found.iter().filter(|own| is_unknown(own)).cloned().collect();
    found.extend(unknown.into_iter().filter(|diagnostic| !already_said(diagnostic, &known)));
    let typed = typed.into_iter().filter(|diagnostic| !already_said(diagnostic, &found)).collect::<Vec<_>>();
    found.extend(typed);
    found = without_what_was_misspelt(found);
    let mut found: Vec<Diagnostic> =
        found.into_iter().map(|diagnostic| locate(diagnostic, document)).collect();
    found.sort_by(|a, b| (a.span, a.code).cmp(&(b.span, b.code)));
    found.dedup();
    found.truncate(MAX_DIAGNOSTICS);
    found
}

/// Why nothing but `refuses`, which does not say where, keeps a state from being applied.
pub fn refusals(state: &Value, refuses: Schema<'_>) -> Vec<Diagnostic> {
    let faults = schema::faults(state, refuses).into_iter();
    faults.map(|(path, why)| Diagnostic::new(crate::codes::failures::REFUSED, why).at(path)).collect()
}

fn is_unknown(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, crate::codes::UNKNOWN_KEY | crate::codes::UNKNOWN_FIELD)
}

/// What is missing where a key is misspelt is that key: only the slip is worth a message.
fn without_what_was_misspelt(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_slip =
        |d: &&Diagnostic| is_unknown(d) && d.hint.as_ref().is_some_and(|h| h.starts_with("did you"));
    let slips: Vec<Path> = found.iter().filter(is_slip).filter_map(|d| d.path.as_ref()?.parent()).collect();
    found.retain(|d| is_unknown(d) || d.path.as_ref().is_none_or(|path| !slips.contains(path)));
    found
}

/// Our own words are better than the schema's about the same place.
fn already_said(diagnostic: &Diagnostic, found: &[Diagnostic]) -> bool {
    let place = diagnostic.path.clone().unwrap_or_else(Path::root);
    found
        .iter()
        .filter_map(|own| own.path.as_ref())
        .any(|own| own.starts_with(&place) || place.starts_with(own))
}

fn locate(mut diagnostic: Diagnostic, document: &Document) -> Diagnostic {
    if let Some(path) = &diagnostic.path {
        diagnostic.span = if is_unknown(&diagnostic) { document.key_span(path) } else { document.span(path) };
    }
    diagnostic
}

#[cfg(test)]
mod tests;
