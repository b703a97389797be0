//! A node of a file, and the way to it: reads fields, and says what is wrong with them at their place.

use std::sync::Arc;

use linesman_core::check::nearest::nearest;
use linesman_core::codes::{UNKNOWN_KEY, WRONG_TYPE};
use linesman_core::document::{Entry, Node, Range, first_line};
use linesman_core::path::{Path, PathStep};

use crate::fault::Fault;
use crate::input::Input;
use crate::place::Place;

#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    pub file: usize,
    pub name: &'a str,
    pub text: &'a Arc<str>,
    pub node: &'a Node,
    pub path: Path,
    key: Option<Range>,
}

impl<'a> Cursor<'a> {
    pub fn root(file: usize, input: &'a Input, node: &'a Node) -> Self {
        Self { file, name: &input.name, text: &input.text, node, path: Path::root(), key: None }
    }

    /// The value of a key; an empty one counts as missing.
    pub fn get(&self, key: &str) -> Option<Self> {
        let entry = self.node.entry(key).filter(|entry| !entry.value.is_null())?;
        Some(Self { node: &entry.value, path: self.path.key(key), key: Some(entry.range), ..self.clone() })
    }

    pub fn find(&self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self.clone(), |cursor, key| cursor.get(key))
    }

    /// The items of a list, each called by its name if it has one.
    pub fn items(&self) -> Result<Vec<Self>, Fault> {
        let items = self.node.items().ok_or_else(|| self.wrong_type("a list"))?;
        let item = |(index, node): (usize, &'a Node)| {
            let name = ["name", "hostname"].iter().find_map(|key| node.get(key)?.as_str());
            let path = name.map_or_else(|| self.path.index(index), |name| self.path.item(name));
            Self { node, path, key: None, ..self.clone() }
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    pub fn as_text(&self) -> Result<&'a str, Fault> {
        self.node.as_str().ok_or_else(|| self.wrong_type("text"))
    }

    pub fn must_be_mapping(&self) -> Result<(), Fault> {
        self.node.entries().map(drop).ok_or_else(|| self.wrong_type("a mapping"))
    }

    /// A mapping or list is pointed at by its key.
    pub fn place(&self) -> Place {
        let is_shown = self.node.is_scalar() && !self.node.range.is_empty();
        let range = if is_shown { self.node.range } else { self.key.unwrap_or(self.node.range) };
        Place { file: self.file, span: Some(first_line(self.text, range)), path: self.path.clone() }
    }

    /// Keys beside those that are `known`: a slip there would silently leave something out.
    pub fn unknown_keys(&self, known: &[&str]) -> Vec<Fault> {
        self.keys_beside(known).map(|entry| self.unknown_key(entry, known)).collect()
    }

    /// The same in what others define and extend: only what looks like a slip.
    pub fn misspelt_keys(&self, known: &[&str]) -> Vec<Fault> {
        let slips = self.keys_beside(known).filter(|entry| nearest(&entry.key, known).is_some());
        slips.map(|entry| self.unknown_key(entry, known)).collect()
    }

    fn keys_beside(&self, known: &[&str]) -> impl Iterator<Item = &'a Entry> {
        let entries = self.node.entries().unwrap_or_default();
        entries.iter().filter(move |entry| !known.contains(&entry.key.as_str()))
    }

    fn unknown_key(&self, entry: &Entry, known: &[&str]) -> Fault {
        let span = Some(first_line(self.text, entry.range));
        let place = Place { file: self.file, span, path: self.path.key(&entry.key) };
        let hint = match nearest(&entry.key, known) {
            Some(meant) => format!("did you mean '{meant}'?"),
            None => format!("known keys: {}", known.join(", ")),
        };
        place.fault(UNKNOWN_KEY, format!("unknown key '{}' of a host", entry.key), &hint)
    }

    /// Its key, with the position below it in a list: `macs[3]`.
    fn called(&self) -> String {
        let steps = self.path.steps();
        let key = steps.iter().rposition(|step| matches!(step, PathStep::Key(_))).unwrap_or(0);
        steps[key..].iter().cloned().collect::<Path>().to_string()
    }

    fn wrong_type(&self, wanted: &str) -> Fault {
        let message = format!("'{}' should be {wanted}, but is {}", self.called(), self.node.kind());
        let hint = match wanted {
            "text" => "put it in quotes",
            "a list" => "start each item with '- '",
            _ => "write 'key: value' lines below it",
        };
        self.place().fault(WRONG_TYPE, message, hint)
    }
}
