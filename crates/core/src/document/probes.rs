//! The probes of a policy: each a text, or a mapping of that text and its time-out.

use super::options::wrong;
use super::shape::ShapeError;
use super::tree::{Entry, Node, Range};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::probe::{FORMS, Probe, timeout as parse_timeout};

const TIMEOUT: &str = "'timeout'";
const KEYS: [&str; 2] = ["probe", "timeout"];

pub(super) fn items(list: &Entry) -> Result<&[Node], ShapeError> {
    list.value.items().ok_or_else(|| wrong(list, "a list of probes such as gateway, dns or tcp:HOST:PORT"))
}

pub(super) fn read(item: &Node) -> Result<(Probe, Range), ShapeError> {
    let (text, range) = match item.entries() {
        Some(entries) => (with_timeout(item, entries)?, item.get("probe").map_or(item.range, |p| p.range)),
        None => (scalar(item, "a probe")?, item.range),
    };
    match text.parse::<Probe>() {
        Ok(probe) => Ok((probe, item.range)),
        Err(error) => Err(fault(error.brief()).hinting(format!("use one of {FORMS}")).at(range)),
    }
}

fn with_timeout(item: &Node, entries: &[Entry]) -> Result<String, ShapeError> {
    if let Some(entry) = entries.iter().find(|entry| !KEYS.contains(&entry.key.as_str())) {
        let message = format!("unknown key '{}' of a probe", entry.key);
        return Err(fault(message)
            .hinting("the keys are probe and timeout, for example {probe: 'tcp:10.0.0.1:22', timeout: 5s}")
            .at(entry.range));
    }
    let Some(probe) = item.entry("probe") else {
        let hint = "write it as {probe: gateway, timeout: 5s}";
        return Err(fault("the key 'probe' is missing").hinting(hint).at(item.range));
    };
    let text = scalar(&probe.value, "'probe'")?;
    let Some(timeout) = item.entry("timeout") else { return Ok(text) };
    if text.contains(",timeout=") {
        return Err(fault("the timeout of this probe is given twice")
            .hinting("keep one of them")
            .at(timeout.range));
    }
    let wait = scalar(&timeout.value, TIMEOUT)?;
    match parse_timeout(&wait) {
        Ok(_) => Ok(format!("{text},timeout={wait}")),
        Err(mistake) => Err(fault(mistake.to_string())
            .hinting("write for example {probe: gateway, timeout: 5s}")
            .at(timeout.value.range)),
    }
}

fn scalar(node: &Node, called: &str) -> Result<String, ShapeError> {
    if let Some(text) = node.as_str() {
        return Ok(text.to_owned());
    }
    let value = node.to_value();
    // A bare number is a number of seconds, as it is for `patience`.
    if called == TIMEOUT && value.is_u64() {
        return Ok(value.to_string());
    }
    let message = format!("{called} should be text, but is {}", node.kind());
    Err(fault(message).hinting(format!("use one of {FORMS}")).at(node.range))
}

fn fault(message: impl Into<String>) -> OptionError {
    OptionError(Diagnostic::new(codes::WRONG_OPTION, message))
}

struct OptionError(Diagnostic);

impl OptionError {
    fn hinting(self, hint: impl Into<String>) -> Self {
        Self(self.0.hint(hint))
    }

    fn at(self, range: Range) -> ShapeError {
        ShapeError::new(self.0, range)
    }
}
