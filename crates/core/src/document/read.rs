//! YAML text to a tree, within bounds: depth, number of nodes, what aliases may unfold to.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::Value;

use super::tree::{Content, Entry, Node, Range};
use super::{first_line, scalar, syntax};
use crate::codes;
use crate::diagnostic::Diagnostic;

/// Deeper than any state; keeps recursion over a document safe.
pub(super) const MAX_DEPTH: usize = 64;
/// What a document may unfold to once its aliases are followed.
pub(super) const MAX_NODES: usize = 500_000;
/// A document with more mistakes than this gets only the first ones reported.
const MAX_FAULTS: usize = 20;

/// A file with more documents than this was not written for one host.
const MAX_DOCUMENTS: usize = 1_000;

/// What became of one document of a file.
pub(super) type Root = Result<Node, Vec<Diagnostic>>;

/// The documents in `text`, without those that are empty. What follows a syntax error is not known.
pub(super) fn documents(text: &str) -> Vec<Root> {
    let mut reader = Reader::new(text);
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let taken = match next {
            Ok((event, span)) => reader.take(event, span.into()),
            Err(error) => Err(syntax::explain(text, &error)),
        };
        if let Err(fault) = taken {
            reader.faults.push(fault);
            reader.close();
            break;
        }
    }
    reader.documents
}

/// The one document among `documents`, which are those of `text`.
pub(super) fn only(text: &str, mut documents: Vec<Root>) -> Root {
    if documents.len() == 1 {
        return documents.remove(0);
    }
    let nodes = documents.into_iter().collect::<Result<Vec<Node>, _>>()?;
    Err(vec![if nodes.is_empty() { empty() } else { several(text, &nodes) }])
}

struct Reader<'t> {
    text: &'t str,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    /// The document that is being read, once its end was seen.
    root: Option<Node>,
    documents: Vec<Root>,
    /// What is wrong with the document that is being read.
    faults: Vec<Diagnostic>,
}

/// A list or mapping whose end has not been seen.
struct Open {
    range: Range,
    anchor: usize,
    content: Unfinished,
}

enum Unfinished {
    List(Vec<Node>),
    Map(UnfinishedMap),
}

#[derive(Default)]
struct UnfinishedMap {
    entries: Vec<Entry>,
    /// Keys seen so far, and where.
    seen: HashMap<String, Range>,
    /// The key whose value comes next.
    key: Option<Key>,
    merged: Vec<Node>,
}

struct Key {
    text: String,
    range: Range,
    merge: bool,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        let (open, anchors) = (Vec::new(), HashMap::new());
        Self { text, open, anchors, nodes: 0, root: None, documents: Vec::new(), faults: Vec::new() }
    }

    fn take(&mut self, event: Event<'_>, range: Range) -> Result<(), Diagnostic> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), range)
            }
            Event::SequenceStart(anchor, tag) => {
                self.start(Unfinished::List(Vec::new()), anchor, tag.as_deref(), range)
            }
            Event::MappingStart(anchor, tag) => {
                self.start(Unfinished::Map(UnfinishedMap::default()), anchor, tag.as_deref(), range)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(range),
            Event::Alias(anchor) => self.alias(anchor, range),
            Event::Nothing | Event::StreamStart | Event::StreamEnd => Ok(()),
            Event::DocumentStart(_) => self.refuse_many(range),
            Event::DocumentEnd => {
                self.close();
                Ok(())
            }
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: Range,
    ) -> Result<(), Diagnostic> {
        if let Some(map) = self.awaiting_key() {
            let merge = text == "<<" && style == ScalarStyle::Plain;
            map.key = Some(Key { text: text.to_owned(), range, merge });
            return Ok(());
        }
        let value = scalar::resolve(text, style, tag).map_err(|error| {
            let hint = "put it in quotes if it is meant as text";
            self.fault(codes::UNSUPPORTED_VALUE, error.to_string(), range).hint(hint)
        })?;
        self.add(Node::scalar(range, value), anchor)
    }

    fn start(
        &mut self,
        content: Unfinished,
        anchor: usize,
        tag: Option<&Tag>,
        range: Range,
    ) -> Result<(), Diagnostic> {
        self.refuse_complex_key(range)?;
        self.refuse_depth(1, range)?;
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            let message = format!("the YAML tag '{tag}' is not supported");
            return Err(self.fault(codes::UNSUPPORTED_VALUE, message, range).hint("remove the tag"));
        }
        self.open.push(Open { range, anchor, content });
        Ok(())
    }

    fn end(&mut self, range: Range) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let range = Range { start: open.range.start, end: range.start };
        let node = match open.content {
            Unfinished::List(items) => Node::list(range, items),
            Unfinished::Map(map) => Node::map(range, map.finish()),
        };
        self.add(node, open.anchor)
    }

    fn alias(&mut self, anchor: usize, range: Range) -> Result<(), Diagnostic> {
        self.refuse_complex_key(range)?;
        let Some(node) = self.anchors.get(&anchor) else {
            let message = "this alias is inside the anchor that it refers to";
            return Err(self.fault(codes::ALIASES, message, range).hint("write out the value"));
        };
        let (size, height) = (node.size, node.height);
        self.refuse_depth(height, range)?;
        self.count(size, range)?;
        match self.anchors.get(&anchor).cloned() {
            Some(node) => self.place(node),
            None => Ok(()),
        }
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        self.count(1, node.range)?;
        if anchor > 0 {
            self.count(node.size, node.range)?;
            self.anchors.insert(anchor, node.clone());
        }
        self.place(node)
    }

    /// Puts a finished node where the text has it.
    fn place(&mut self, node: Node) -> Result<(), Diagnostic> {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Unfinished::List(items)) => items.push(node),
            Some(Unfinished::Map(map)) => {
                if let Some(twice) = map.put(node) {
                    return self.duplicate(twice);
                }
            }
        }
        Ok(())
    }

    fn duplicate(&mut self, twice: DuplicateKey) -> Result<(), Diagnostic> {
        let message = format!(
            "'{}' is given twice in the same mapping; the first is on line {}",
            twice.key, twice.first.start.line
        );
        let fault = self.fault(codes::DUPLICATE_KEY, message, twice.second).hint("keep one of the two");
        if self.faults.len() + 1 >= MAX_FAULTS {
            return Err(fault);
        }
        self.faults.push(fault);
        Ok(())
    }

    fn awaiting_key(&mut self) -> Option<&mut UnfinishedMap> {
        match self.open.last_mut().map(|open| &mut open.content) {
            Some(Unfinished::Map(map)) if map.key.is_none() => Some(map),
            _ => None,
        }
    }

    fn refuse_complex_key(&mut self, range: Range) -> Result<(), Diagnostic> {
        if self.awaiting_key().is_none() {
            return Ok(());
        }
        let message = "a key must be plain text";
        Err(self
            .fault(codes::NOT_A_KEY, message, range)
            .hint("put a text that starts with '{', '[' or '*' in quotes, such as \"{{ capture.x }}\""))
    }

    fn refuse_depth(&self, more: usize, range: Range) -> Result<(), Diagnostic> {
        if self.open.len() + more <= MAX_DEPTH {
            return Ok(());
        }
        Err(too_deep().spanning(Some(first_line(self.text, range))))
    }

    fn count(&mut self, more: usize, range: Range) -> Result<(), Diagnostic> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        let message = format!("the document has, or its aliases expand to, more than {MAX_NODES} values");
        Err(self.fault(codes::ALIASES, message, range).hint("split it, or write out what the aliases repeat"))
    }

    fn fault(&self, code: &'static str, message: impl Into<String>, range: Range) -> Diagnostic {
        Diagnostic::new(code, message).spanning(Some(first_line(self.text, range)))
    }

    fn refuse_many(&self, range: Range) -> Result<(), Diagnostic> {
        if self.documents.len() < MAX_DOCUMENTS {
            return Ok(());
        }
        let message = format!("the file contains more than {MAX_DOCUMENTS} documents");
        Err(self.fault(codes::TOO_LARGE, message, range).hint("split it into several files"))
    }

    /// The end of a document; an empty one is none.
    fn close(&mut self) {
        let (root, faults) = (self.root.take(), std::mem::take(&mut self.faults));
        if !faults.is_empty() {
            self.documents.push(Err(faults));
        } else if let Some(root) = root.filter(|root| !root.is_null()) {
            self.documents.push(Ok(root));
        }
    }
}

/// For readers that need exactly one.
fn several(text: &str, documents: &[Node]) -> Diagnostic {
    let line = |node: &Node| node.range.start.line;
    let lines: Vec<String> = documents.iter().map(|node| line(node).to_string()).collect();
    let message =
        format!("the file contains {} documents, starting on lines {}", lines.len(), lines.join(", "));
    let best = documents.iter().find(|node| looks_like_state(node)).unwrap_or(&documents[0]);
    let other = documents.iter().find(|node| node.range != best.range).unwrap_or(best);
    let hint = format!("keep the one on line {}, and move the others to separate files", line(best));
    let diagnostic = Diagnostic::new(codes::SEVERAL_DOCUMENTS, message);
    diagnostic.spanning(Some(first_line(text, other.range))).hint(hint)
}

fn looks_like_state(node: &Node) -> bool {
    let is_policy = node.get("kind").and_then(Node::as_str) == Some("NodeNetworkConfigurationPolicy");
    is_policy || ["interfaces", "desired", "desiredState", "routes"].iter().any(|key| node.get(key).is_some())
}

pub(super) fn too_deep() -> Diagnostic {
    Diagnostic::new(codes::TOO_DEEP, format!("the document is nested more than {MAX_DEPTH} levels deep"))
        .hint("check the indentation and the brackets")
}

pub(super) fn empty() -> Diagnostic {
    Diagnostic::new(codes::EMPTY, "the document is empty")
        .hint("declare the desired state, for example 'interfaces:' with a list")
}

struct DuplicateKey {
    key: String,
    first: Range,
    second: Range,
}

impl UnfinishedMap {
    fn put(&mut self, value: Node) -> Option<DuplicateKey> {
        let key = self.key.take()?;
        if key.merge {
            self.merged.push(value);
            return None;
        }
        match self.seen.entry(key.text.clone()) {
            Slot::Occupied(first) => {
                Some(DuplicateKey { key: key.text, first: *first.get(), second: key.range })
            }
            Slot::Vacant(slot) => {
                slot.insert(key.range);
                self.entries.push(Entry { key: key.text, range: key.range, value });
                None
            }
        }
    }

    /// `<<: *alias` fills in what the mapping does not say itself.
    fn finish(mut self) -> Vec<Entry> {
        for node in std::mem::take(&mut self.merged) {
            self.merge(node);
        }
        self.entries
    }

    fn merge(&mut self, node: Node) {
        match node.content {
            Content::Map(entries) => {
                for entry in entries {
                    if let Slot::Vacant(slot) = self.seen.entry(entry.key.clone()) {
                        slot.insert(entry.range);
                        self.entries.push(entry);
                    }
                }
            }
            Content::List(nodes) => nodes.into_iter().for_each(|node| self.merge(node)),
            Content::Scalar(Value::Null) => {}
            Content::Scalar(_) => self.keep_as_key(node),
        }
    }

    /// Not a merge after all; the schema will say that no such key exists.
    fn keep_as_key(&mut self, node: Node) {
        let range = node.range;
        self.entries.push(Entry { key: "<<".to_owned(), range, value: node });
    }
}
