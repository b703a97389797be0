//! For each code a document that causes it and the corrected document; a test checks both.

mod bases;
mod documents;
mod host;
mod import;
mod interfaces;
mod ports;
mod routes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    pub code: &'static str,
    pub wrong: &'static str,
    /// `None` if correcting the document is not the remedy.
    pub right: Option<&'static str>,
}

const fn example(code: &'static str, wrong: &'static str, right: &'static str) -> Example {
    Example { code, wrong, right: Some(right) }
}

const TABLES: [&[Example]; 7] = [
    documents::EXAMPLES,
    import::EXAMPLES,
    interfaces::EXAMPLES,
    ports::EXAMPLES,
    bases::EXAMPLES,
    routes::EXAMPLES,
    host::EXAMPLES,
];

pub fn all() -> impl Iterator<Item = &'static Example> {
    TABLES.into_iter().flatten()
}

pub fn of(code: &str) -> Option<&'static Example> {
    all().find(|example| example.code == code)
}
