//! Documents as people write them: YAML or JSON in, the desired state with its places out.

mod decode;
mod options;
mod probes;
mod read;
mod scalar;
mod shape;
mod syntax;
mod tree;

use std::sync::Arc;

use serde_json::Value;

use crate::codes;
use crate::diagnostic::{Diagnostic, Span};
use crate::path::{Path, PathStep};
use crate::policy::{Options, Policy};
use crate::probe::Probe;
use decode::without_mark;
pub use decode::{NotText, decode};
pub(crate) use scalar::is_text;
use tree::Position;
pub use tree::{Content, Entry, Node, Range};

/// Larger documents are refused before they are parsed.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A document that was read: what it desires, and where each part of that is written.
#[derive(Debug, Clone)]
pub struct Document {
    /// What to call the document in messages, usually its file name.
    pub name: String,
    /// The text of the whole file.
    pub text: Arc<str>,
    /// The line on which it begins, if it is one of several in its file.
    pub begins: Option<usize>,
    /// The desired state, an NMState document.
    pub state: Value,
    /// NMState captures, when the document is a policy that has them.
    pub capture: Option<Value>,
    /// `metadata.name`, when the document is a NodeNetworkConfigurationPolicy.
    pub policy: Option<String>,
    /// What the policy says beside its state; the defaults for a bare state.
    pub options: Options,
    /// Each of `options.probes`, and where it is written.
    probes: Vec<(Probe, Range)>,
    tree: Node,
}

impl Document {
    /// Reads the one document in `text`: a bare NMState document, an NMPolicy document (`capture`, `desired`) or a
    /// NodeNetworkConfigurationPolicy manifest.
    pub fn parse(name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let text = without_mark(text);
        refuse_oversize(text)?;
        let root = read::only(text, roots(text))?;
        Self::recognise(name, &text.into(), root)
    }

    /// Reads every document in `text`, as kubectl does: those that are empty do not count, and a List stands for its
    /// items. At least one document, or one error.
    pub fn parse_all(name: &str, text: &str) -> Vec<Result<Self, Vec<Diagnostic>>> {
        let text = without_mark(text);
        if let Err(faults) = refuse_oversize(text) {
            return vec![Err(faults)];
        }
        let mut roots = roots(text);
        if roots.is_empty() {
            roots.push(Err(vec![read::empty()]));
        }
        let (several, text) = (roots.len() > 1, Arc::from(text));
        let recognise = |root: read::Root| {
            let root = root?;
            let begins = Some(root.range.start.line).filter(|_| several);
            Ok(Self { begins, ..Self::recognise(name, &text, root)? })
        };
        roots.into_iter().map(recognise).collect()
    }

    /// A document inside a larger one: `node` is part of the tree of `text`, and places are those in `text`.
    pub fn inside(name: &str, text: &Arc<str>, node: Node) -> Result<Self, Vec<Diagnostic>> {
        Self::recognise(name, text, node)
    }

    fn recognise(name: &str, text: &Arc<str>, root: Node) -> Result<Self, Vec<Diagnostic>> {
        let shape = shape::recognise(root).map_err(|fault| {
            let span = first_line(text, fault.range);
            vec![fault.diagnostic.spanning(Some(span))]
        })?;
        Ok(Self {
            name: name.to_owned(),
            text: text.clone(),
            begins: None,
            state: shape.state.to_value(),
            capture: shape.capture.as_ref().map(Node::to_value),
            policy: shape.policy,
            options: shape.written.options,
            probes: shape.written.probes,
            tree: shape.state,
        })
    }

    /// How to call it among others: by its file, and by its first line if the file contains several.
    pub fn title(&self) -> String {
        match self.begins {
            Some(line) => format!("{}:{line}", self.name),
            None => self.name.clone(),
        }
    }

    /// Where the value at `path` (relative to the desired state) is written; of what holds it, if it is not written.
    /// A mapping or list is pointed at by its key.
    pub fn span(&self, path: &Path) -> Option<Span> {
        let found = self.walk(path);
        let range = match found.node.is_scalar() && !found.node.range.is_empty() {
            true => found.node.range,
            false => found.key.unwrap_or(found.node.range),
        };
        Some(first_line(&self.text, range))
    }

    /// Where the last key of `path` itself is written.
    pub fn key_span(&self, path: &Path) -> Option<Span> {
        let found = self.walk(path);
        Some(first_line(&self.text, found.key.unwrap_or(found.node.range)))
    }

    /// The probes that the policy names, with their places; none if it names none.
    pub fn probes(&self) -> Option<impl Iterator<Item = (&Probe, Span)>> {
        self.options.probes.as_ref()?;
        Some(self.probes.iter().map(|(probe, range)| (probe, first_line(&self.text, *range))))
    }

    /// Whether the document refers to what its captures found; such values are only known on a host.
    pub fn has_capture(&self) -> bool {
        self.capture.is_some()
    }

    /// What the document asks for, under the name it gives itself or else under `name`.
    pub fn to_policy(&self, name: &str) -> Policy {
        Policy {
            name: self.policy.clone().unwrap_or_else(|| name.to_owned()),
            state: self.state.clone(),
            capture: self.capture.clone(),
            options: self.options.clone(),
        }
    }

    fn walk(&self, path: &Path) -> Found<'_> {
        let mut found = Found { node: &self.tree, key: None };
        for step in path.steps() {
            let Some(next) = step_into(found.node, step) else { break };
            found = next;
        }
        found
    }
}

/// Any YAML with its places, within the same bounds.
pub fn tree(text: &str) -> Result<Node, Vec<Diagnostic>> {
    let text = without_mark(text);
    refuse_oversize(text)?;
    read::only(text, read::documents(text))
}

/// The documents of a file, those of a List one by one.
fn roots(text: &str) -> Vec<read::Root> {
    read::documents(text).into_iter().flat_map(shape::unlisted).collect()
}

struct Found<'a> {
    node: &'a Node,
    key: Option<Range>,
}

fn step_into<'a>(node: &'a Node, step: &PathStep) -> Option<Found<'a>> {
    match step {
        PathStep::Key(key) => {
            let entry = node.entries()?.iter().find(|entry| entry.key == *key)?;
            Some(Found { node: &entry.value, key: Some(entry.range) })
        }
        PathStep::Index(index) => Some(Found { node: node.items()?.get(*index)?, key: None }),
        PathStep::Item(name) => {
            let node = node.items()?.iter().find(|item| item.name() == Some(name))?;
            Some(Found { node, key: None })
        }
    }
}

fn refuse_oversize(text: &str) -> Result<(), Vec<Diagnostic>> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "the document has {} bytes; at most {MAX_BYTES} ({} MiB) are allowed",
        text.len(),
        MAX_BYTES / (1024 * 1024)
    );
    Err(vec![Diagnostic::new(codes::TOO_LARGE, message).hint("split it into several documents")])
}

/// The part of `range` that lies on its first line.
pub fn first_line(text: &str, range: Range) -> Span {
    let Position { line, column } = range.start;
    let len = if range.end.line == line {
        range.end.column - column.min(range.end.column)
    } else {
        let whole =
            text.lines().nth(line.saturating_sub(1)).map_or(0, |line| line.trim_end().chars().count());
        (whole + 1).saturating_sub(column)
    };
    Span { line, column, len: len.max(1) }
}

#[cfg(test)]
mod tests;
