//! A YAML document with the place of every node.

use saphyr_parser::{Marker, Span};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

impl Range {
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl From<Marker> for Position {
    fn from(marker: Marker) -> Self {
        Self { line: marker.line(), column: marker.col() + 1 }
    }
}

impl From<Span> for Range {
    fn from(span: Span) -> Self {
        Self { start: span.start.into(), end: span.end.into() }
    }
}

#[derive(Debug, Clone)]
pub struct Node {
    pub range: Range,
    pub content: Content,
    /// How many nodes this one holds, itself included.
    pub size: usize,
    /// How many levels this one holds, itself included.
    pub height: usize,
}

#[derive(Debug, Clone)]
pub enum Content {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub key: String,
    /// Where the key is written.
    pub range: Range,
    pub value: Node,
}

impl Node {
    pub fn scalar(range: Range, value: Value) -> Self {
        Self { range, content: Content::Scalar(value), size: 1, height: 1 }
    }

    pub fn list(range: Range, items: Vec<Node>) -> Self {
        let (size, height) = measure(items.iter());
        Self { range, content: Content::List(items), size, height }
    }

    pub fn map(range: Range, entries: Vec<Entry>) -> Self {
        let (size, height) = measure(entries.iter().map(|entry| &entry.value));
        Self { range, content: Content::Map(entries), size, height }
    }

    pub fn items(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn is_scalar(&self) -> bool {
        matches!(self.content, Content::Scalar(_))
    }

    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Takes the value of `key` out.
    pub fn take(self, key: &str) -> Option<Node> {
        match self.content {
            Content::Map(entries) => {
                entries.into_iter().find(|entry| entry.key == key).map(|entry| entry.value)
            }
            _ => None,
        }
    }

    /// What people call this item of a list; see [`crate::path::Path::named`].
    pub fn name(&self) -> Option<&str> {
        ["name", "destination"].iter().find_map(|key| self.get(key)?.as_str())
    }

    /// In words, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
            Content::Scalar(Value::Null) => "empty",
            Content::Scalar(Value::Bool(_)) => "a boolean",
            Content::Scalar(Value::Number(_)) => "a number",
            Content::Scalar(_) => "text",
        }
    }

    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => items.iter().map(Node::to_value).collect(),
            Content::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect()
            }
        }
    }
}

fn measure<'a>(children: impl Iterator<Item = &'a Node>) -> (usize, usize) {
    children.fold((1, 1), |(size, height), child| (size + child.size, height.max(child.height + 1)))
}
