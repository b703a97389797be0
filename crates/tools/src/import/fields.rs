//! Settings with their places, taken out one by one: what is left at the end was not understood.

use std::fmt::Display;
use std::str::FromStr;

use super::report::Log;
use linesman_core::diagnostic::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub file: usize,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub key: String,
    pub place: Place,
    pub content: Content,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Empty,
    Text(String),
    List(Vec<Item>),
    Map(Fields),
}

#[derive(Debug, Clone)]
pub(super) struct Item {
    pub place: Place,
    pub content: Content,
}

/// A mapping, or a section of a profile.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    /// Where it is, as people say it: `ethernets.eth0`.
    pub path: String,
    pub entries: Vec<Field>,
}

/// A value with its place.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub value: T,
    pub place: Place,
}

impl Fields {
    pub fn named(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|field| field.key == key)
    }

    /// A plain value that stays where it is.
    pub fn peek(&self, key: &str) -> Option<&str> {
        match &self.entries.iter().find(|field| field.key == key)?.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn take(&mut self, key: &str) -> Option<Field> {
        let at = self.entries.iter().position(|field| field.key == key)?;
        Some(self.entries.remove(at))
    }

    /// Takes every key that `wanted` accepts, in order.
    pub fn take_all(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<Field> {
        let (taken, left) =
            std::mem::take(&mut self.entries).into_iter().partition(|field| wanted(&field.key));
        self.entries = left;
        taken
    }

    pub fn map(&mut self, key: &str, log: &mut Log<'_>) -> Option<Fields> {
        let Field { place, content, .. } = self.take(key)?;
        match content {
            Content::Map(fields) => return Some(fields),
            Content::Empty => {}
            _ => log.fault(
                place,
                format!("'{key}' should contain settings"),
                "write 'key: value' lines below it",
            ),
        }
        None
    }

    pub fn items(&mut self, key: &str, log: &mut Log<'_>) -> Vec<Item> {
        const HINT: &str = "write it in brackets, or each item after '- '";
        match self.take(key).map(|field| (field.place, field.content)) {
            Some((_, Content::List(items))) => return items,
            None | Some((_, Content::Empty)) => {}
            Some((place, _)) => log.fault(place, format!("'{key}' should be a list"), HINT),
        }
        Vec::new()
    }

    pub fn text(&mut self, key: &str, log: &mut Log<'_>) -> Option<At<String>> {
        let Field { place, content, .. } = self.take(key)?;
        match content {
            Content::Text(value) => return Some(At { value, place }),
            Content::Empty => {}
            _ => log.fault(
                place,
                format!("'{key}' should be a plain value"),
                "write one value after the colon",
            ),
        }
        None
    }

    /// A plain value whose place does not matter any more.
    pub fn value(&mut self, key: &str, log: &mut Log<'_>) -> Option<String> {
        self.text(key, log).map(|at| at.value)
    }

    /// A number for which 0 means the default.
    pub fn positive(&mut self, key: &str, log: &mut Log<'_>) -> Option<u32> {
        self.number(key, log).filter(|number| *number > 0)
    }

    /// The plain items of a list.
    pub fn texts(&mut self, key: &str, log: &mut Log<'_>) -> Vec<At<String>> {
        let plain = |item: Item, log: &mut Log<'_>| match item.content {
            Content::Text(value) => Some(At { value, place: item.place }),
            _ => {
                log.fault(
                    item.place,
                    format!("'{key}' should list plain values"),
                    "write one value per item",
                );
                None
            }
        };
        self.items(key, log).into_iter().filter_map(|item| plain(item, log)).collect()
    }

    pub fn number<T>(&mut self, key: &str, log: &mut Log<'_>) -> Option<T>
    where
        T: FromStr,
        T::Err: Display,
    {
        let At { value, place } = self.text(key, log)?;
        let number = value.trim().parse();
        if number.is_err() {
            log.fault(
                place,
                format!("'{value}' is not a number that '{key}' can have"),
                "write a whole number",
            );
        }
        number.ok()
    }

    pub fn flag(&mut self, key: &str, log: &mut Log<'_>) -> Option<bool> {
        let At { value, place } = self.text(key, log)?;
        let flag = flag(&value);
        if flag.is_none() {
            log.fault(place, format!("'{value}' is neither true nor false"), "write true or false");
        }
        flag
    }

    /// Notes everything that nobody took.
    pub fn leave(self, why: &str, log: &mut Log<'_>) {
        for field in &self.entries {
            log.note(field.place, self.named(&field.key), why);
        }
    }
}

impl Item {
    /// The fields of an item that is a mapping.
    pub fn fields(self, what: &str, log: &mut Log<'_>) -> Option<Fields> {
        match self.content {
            Content::Map(fields) => Some(fields),
            _ => {
                log.fault(self.place, format!("{what} should be a mapping"), "write 'key: value' pairs");
                None
            }
        }
    }
}

pub(super) fn flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" | "y" | "t" => Some(true),
        "false" | "no" | "off" | "0" | "n" | "f" => Some(false),
        _ => None,
    }
}
