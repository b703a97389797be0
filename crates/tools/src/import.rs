//! From what a host has been configured with to a state document: NetworkManager's profiles, netplan, the running state.
//!
//! Nothing is dropped silently: what a state document cannot express is reported as a note.

mod draft;
mod fields;
mod keyfile;
mod netplan;
mod report;
mod running;

use serde_json::Value;

use linesman_core::codes;
use linesman_core::diagnostic::{Diagnostic, Span};

pub use report::{ImportError, Imported, Note};
pub use running::{ROUTE_RULES, running};

/// A file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Keyfile,
    Netplan,
}

/// Translates `inputs`, all of one format; which one follows from their content unless it is given.
pub fn import(format: Option<Format>, inputs: &[Input]) -> Result<Imported, Vec<ImportError>> {
    refuse_oversize(inputs)?;
    let format = match format {
        Some(format) => format,
        None => agreed(inputs)?,
    };
    match format {
        Format::Keyfile => keyfile::import(inputs),
        Format::Netplan => netplan::import(inputs),
    }
}

/// No configuration of a host comes near; keeps an import short, whatever it is given.
pub const MAX_BYTES: usize = 1024 * 1024;

fn refuse_oversize(inputs: &[Input]) -> Result<(), Vec<ImportError>> {
    let mut total = 0usize;
    for (file, input) in inputs.iter().enumerate() {
        total = total.saturating_add(input.text.len());
        if total > MAX_BYTES {
            let message = format!("all files together have more than {MAX_BYTES} bytes (1 MiB)");
            let diagnostic = Diagnostic::new(codes::TOO_LARGE, message).hint("import fewer files at once");
            return Err(vec![ImportError { file, diagnostic }]);
        }
    }
    Ok(())
}

fn agreed(inputs: &[Input]) -> Result<Format, Vec<ImportError>> {
    let found: Vec<Option<Format>> = inputs.iter().map(|input| recognise(&input.text)).collect();
    let unknown = found.iter().position(Option::is_none);
    if let Some(file) = unknown {
        return Err(vec![ImportError { file, diagnostic: unrecognised() }]);
    }
    match found.iter().position(|format| *format != found[0]) {
        Some(file) => Err(vec![ImportError { file, diagnostic: mixed() }]),
        None => Ok(found.first().copied().flatten().unwrap_or(Format::Keyfile)),
    }
}

/// The first line that says something decides: a section in brackets, or YAML.
pub fn recognise(text: &str) -> Option<Format> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    if line.starts_with('[') && line.ends_with(']') && !line.contains(['"', ',', ':']) {
        return Some(Format::Keyfile);
    }
    text.lines()
        .any(|line| line.trim_start_matches(['{', ' ', '"']).starts_with("network"))
        .then_some(Format::Netplan)
}

fn unrecognised() -> Diagnostic {
    Diagnostic::new(codes::NOT_IMPORTABLE, "this is neither a NetworkManager profile nor a netplan file")
        .spanning(Some(Span { line: 1, column: 1, len: 1 }))
        .hint(
            "a profile starts with '[connection]', a netplan file with 'network:'; --from says which \
            one it should be",
        )
}

fn mixed() -> Diagnostic {
    Diagnostic::new(codes::NOT_IMPORTABLE, "this file has another format than the first one")
        .spanning(Some(Span { line: 1, column: 1, len: 1 }))
        .hint("import profiles and netplan files one after the other")
}

/// Whether a state says anything at all.
pub fn is_empty(state: &Value) -> bool {
    state.as_object().is_none_or(|sections| sections.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_detected_from_the_content() {
        let cases = [
            ("[connection]\nid=a\n", Some(Format::Keyfile)),
            ("# by hand\n\n[ipv4]\n", Some(Format::Keyfile)),
            ("network:\n  version: 2\n", Some(Format::Netplan)),
            ("---\nnetwork: {version: 2}\n", Some(Format::Netplan)),
            ("{\"network\": {}}\n", Some(Format::Netplan)),
            ("[\"a\", 1]\n", None),
            ("interfaces: []\n", None),
            ("", None),
        ];
        for (text, format) in cases {
            assert_eq!(recognise(text), format, "{text}");
        }
    }

    #[test]
    fn formats_are_not_mixed() {
        let input = |text: &str| Input { name: "a".into(), text: text.into() };
        let faults = import(None, &[input("network: {}"), input("[connection]")]).unwrap_err();
        assert_eq!((faults.len(), faults[0].file), (1, 1));
    }
}
