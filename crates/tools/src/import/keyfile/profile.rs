//! One profile, read.

use std::collections::HashMap;

use crate::import::Input;
use crate::import::fields::{At, Content, Field, Fields, Place};
use crate::import::report::Log;
use linesman_core::codes;
use linesman_core::diagnostic::{Diagnostic, Span};
use linesman_core::keyfile::{Line, lines};

#[derive(Debug)]
pub(super) struct Profile {
    /// Where its type is written.
    pub place: Place,
    pub id: String,
    pub uuid: Option<String>,
    pub kind: String,
    pub interface: Option<String>,
    /// The name or UUID of what this one is a port of.
    pub controller: Option<At<String>>,
    pub autoconnect: bool,
    pub priority: i32,
    sections: Vec<Fields>,
}

impl Profile {
    /// None when it was not a profile; the log says why.
    pub fn read(file: usize, input: &Input, log: &mut Log<'_>) -> Option<Self> {
        let mut sections = sections(file, input, log)?;
        let Some(connection) = sections.iter_mut().find(|section| section.path == "connection") else {
            log.broken(file, not_a_profile("the section [connection] is missing"));
            return None;
        };
        let Some(kind) = connection.text("type", log) else {
            log.broken(file, not_a_profile("[connection] does not say its type"));
            return None;
        };
        Some(Self {
            place: kind.place,
            id: connection.value("id", log).unwrap_or_else(|| input.name.clone()),
            uuid: connection.value("uuid", log),
            kind: plain_kind(&kind.value).to_owned(),
            interface: connection.value("interface-name", log),
            controller: connection.text("controller", log).or_else(|| connection.text("master", log)),
            autoconnect: connection.flag("autoconnect", log).unwrap_or(true),
            priority: connection.number("autoconnect-priority", log).unwrap_or(0),
            sections,
        })
    }

    /// A section to take settings from; empty if the profile has none of that name.
    pub fn section(&mut self, name: &str) -> &mut Fields {
        let at = match self.sections.iter().position(|section| section.path == name) {
            Some(at) => at,
            None => {
                self.sections.push(Fields { path: name.to_owned(), entries: Vec::new() });
                self.sections.len() - 1
            }
        };
        &mut self.sections[at]
    }

    /// The routing table that a VRF has.
    pub fn table(&self) -> Option<u32> {
        let vrf = self.sections.iter().find(|section| section.path == "vrf")?;
        vrf.peek("table")?.parse().ok()
    }

    /// One note has said it all; secrets of a profile that is left out are part of that.
    pub fn forget(&mut self) {
        self.sections.clear();
    }

    pub fn into_sections(self) -> Vec<Fields> {
        self.sections
    }
}

fn plain_kind(kind: &str) -> &str {
    match kind {
        "802-3-ethernet" => "ethernet",
        "802-11-wireless" => "wifi",
        "802-11-wireless-security" => "wifi-security",
        other => other,
    }
}

fn sections(file: usize, input: &Input, log: &mut Log<'_>) -> Option<Vec<Fields>> {
    let mut sections: Vec<Fields> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
    let mut wrong = false;
    for (number, (line, text)) in lines(&input.text).zip(input.text.lines()).enumerate() {
        let place = Place { file, span: span(number + 1, text) };
        match line {
            Line::Blank => {}
            Line::Wrong => {
                wrong = true;
                log.broken(file, bad_line(place));
            }
            Line::Section(name) => {
                known.entry(plain_kind(name)).or_insert_with(|| {
                    sections.push(Fields { path: plain_kind(name).to_owned(), entries: Vec::new() });
                    sections.len() - 1
                });
            }
            Line::Entry { section, key, value } => {
                let section = plain_kind(section);
                let Some(fields) = known.get(section).and_then(|at| sections.get_mut(*at)) else { continue };
                let content = Content::Text(unescaped(value));
                let field = Field { key: key.to_owned(), place, content };
                match seen.get(&(section, key)).and_then(|at| fields.entries.get_mut(*at)) {
                    // As in NetworkManager, the last of two equal keys counts.
                    Some(former) => {
                        let why = format!("ignored: set again on line {}", number + 1);
                        log.note(former.place, format!("{section}.{key}"), why);
                        *former = field;
                    }
                    None => {
                        seen.insert((section, key), fields.entries.len());
                        fields.entries.push(field);
                    }
                }
            }
        }
    }
    (!wrong).then_some(sections)
}

fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match (c, c == '\\') {
            (_, true) => match characters.next() {
                Some('s') => text.push(' '),
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (c, false) => text.push(c),
        }
    }
    text
}

fn span(line: usize, text: &str) -> Span {
    let indent = text.chars().take_while(|c| c.is_whitespace()).count();
    Span { line, column: indent + 1, len: text.trim().chars().count().max(1) }
}

fn bad_line(place: Place) -> Diagnostic {
    Diagnostic::new(codes::NOT_A_PROFILE, "this line is neither '[section]' nor 'key=value'")
        .spanning(Some(place.span))
        .hint("a comment starts with '#'")
}

fn not_a_profile(why: &str) -> Diagnostic {
    Diagnostic::new(codes::NOT_A_PROFILE, format!("not a NetworkManager profile: {why}"))
        .hint("profiles are the .nmconnection files in /etc/NetworkManager/system-connections")
}
