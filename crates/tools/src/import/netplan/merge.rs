//! Several files as netplan takes them: mappings are merged, lists grow, later plain values win.

use std::collections::HashMap;

use crate::import::Input;
use crate::import::fields::{Content, Field, Fields, Item, Place};
use crate::import::report::Log;
use linesman_core::codes;
use linesman_core::diagnostic::{Diagnostic, Span};
use linesman_core::document::{self, Node, Range};

/// What is under `network` in all files together.
pub(super) fn files(inputs: &[Input], log: &mut Log<'_>) -> Fields {
    let mut network = Fields::default();
    for (file, input) in inputs.iter().enumerate() {
        match document::tree(&input.text) {
            Ok(root) => merge(&mut network, below_network(file, &root, log)),
            Err(problems) => {
                for problem in problems {
                    let empty = problem.code == codes::EMPTY;
                    log.broken(file, if empty { nothing() } else { problem });
                }
            }
        }
    }
    network
}

fn nothing() -> Diagnostic {
    Diagnostic::new(codes::NOT_NETPLAN, "the file is empty").hint("a netplan file starts with 'network:'")
}

fn below_network(file: usize, root: &Node, log: &mut Log<'_>) -> Fields {
    let entries = root.entries().unwrap_or_default();
    if let Some(stranger) = entries.iter().find(|entry| entry.key != "network") {
        let message = format!("'{}' does not belong at the top of a netplan file", stranger.key);
        let at = place(file, stranger.range);
        log.broken(
            file,
            Diagnostic::new(codes::NOT_NETPLAN, message)
                .spanning(Some(at.span))
                .hint("all settings belong under 'network:'"),
        );
    }
    match root.get("network").map(|node| (node, content(file, node, ""))) {
        Some((_, Content::Map(fields))) => fields,
        Some((_, Content::Empty)) => Fields::default(),
        Some((node, _)) => {
            log.broken(file, not_a_mapping(place(file, node.range)));
            Fields::default()
        }
        None => {
            if entries.is_empty() {
                log.broken(file, not_a_mapping(place(file, root.range)));
            }
            Fields::default()
        }
    }
}

fn not_a_mapping(at: Place) -> Diagnostic {
    Diagnostic::new(codes::NOT_NETPLAN, "'network' with settings below it is missing")
        .spanning(Some(at.span))
        .hint("a netplan file starts with 'network:'")
}

fn content(file: usize, node: &Node, path: &str) -> Content {
    match &node.content {
        document::Content::Scalar(value) => match value {
            serde_json::Value::Null => Content::Empty,
            serde_json::Value::String(text) => Content::Text(text.clone()),
            other => Content::Text(other.to_string()),
        },
        document::Content::List(items) => Content::List(
            items
                .iter()
                .map(|item| Item { place: place(file, item.range), content: content(file, item, path) })
                .collect(),
        ),
        document::Content::Map(entries) => {
            let field = |entry: &document::Entry| {
                let below = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
                Field {
                    key: entry.key.clone(),
                    place: place(file, entry.range),
                    content: content(file, &entry.value, &below),
                }
            };
            Content::Map(Fields { path: path.to_owned(), entries: entries.iter().map(field).collect() })
        }
    }
}

fn place(file: usize, range: Range) -> Place {
    let len = if range.end.line == range.start.line {
        range.end.column.saturating_sub(range.start.column)
    } else {
        1
    };
    Place { file, span: Span { line: range.start.line, column: range.start.column, len: len.max(1) } }
}

fn merge(into: &mut Fields, from: Fields) {
    let mut known: HashMap<String, usize> =
        into.entries.iter().enumerate().map(|(at, field)| (field.key.clone(), at)).collect();
    for field in from.entries {
        let Some(former) = known.get(&field.key).and_then(|at| into.entries.get_mut(*at)) else {
            known.insert(field.key.clone(), into.entries.len());
            into.entries.push(field);
            continue;
        };
        match (&mut former.content, field.content) {
            (Content::Map(into), Content::Map(from)) => merge(into, from),
            (Content::List(into), Content::List(from)) => into.extend(from),
            (into, from) => {
                *into = from;
                former.place = field.place;
            }
        }
    }
}
