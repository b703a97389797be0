//! Settings as people write them: lines of `key=value`, or YAML. Both say the same; nested YAML joins its keys with colons.

use std::fmt;

use linesman_core::document::{Content, Entry, Node, tree};
use serde_json::Value;

use super::refusal::{Cause, Refusal};

/// More than anybody writes; what is read is also compared, reported and kept in memory.
pub const LARGEST: usize = 256 << 10;
const MOST: usize = 1000;

/// Where something is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// A file, or ConfigMap NAMESPACE/NAME and the key in it.
    pub name: String,
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.line)
    }
}

/// A line of settings, not yet understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub key: String,
    pub value: String,
    pub place: Place,
}

/// A text of settings; the name ends with .yaml, .yml or .json, or the text tells what it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
pub struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    /// All lines that can be read, and what cannot.
    pub fn lines(&self) -> (Vec<Line>, Vec<Refusal>) {
        if self.text.len() > LARGEST {
            return (Vec::new(), vec![self.too_large(format!("it has {} KiB", self.text.len() >> 10))]);
        }
        let (lines, refusals) = match self.is_yaml() {
            true => self.yaml(),
            false => self.pairs(),
        };
        match lines.len() + refusals.len() {
            count if count > MOST => (Vec::new(), vec![self.too_large(format!("it has {count} settings"))]),
            _ => (lines, refusals),
        }
    }

    fn too_large(&self, how: String) -> Refusal {
        let remedy = format!("a document has at most {MOST} settings and {} KiB; divide it", LARGEST >> 10);
        Refusal::new("", Some(self.place(1)), Cause::Unreadable, how, remedy)
    }

    /// Some editors begin a file with a byte order mark.
    fn text(&self) -> &str {
        self.text.trim_start_matches('\u{feff}')
    }

    fn is_yaml(&self) -> bool {
        if [".yaml", ".yml", ".json"].iter().any(|end| self.name.ends_with(end)) {
            return true;
        }
        let first = self.text().lines().map(str::trim).find(|line| !is_empty(line));
        first.is_some_and(|line| {
            let colon = line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1));
            line.starts_with(['{', '-'])
                || colon.is_some_and(|at| line.find('=').is_none_or(|sign| at < sign))
        })
    }

    fn place(&self, line: usize) -> Place {
        Place { name: self.name.clone(), line }
    }

    fn pairs(&self) -> (Vec<Line>, Vec<Refusal>) {
        let (mut lines, mut refusals) = (Vec::new(), Vec::new());
        for (number, text) in (1..).zip(self.text().lines()).filter(|(_, text)| !is_empty(text.trim())) {
            let place = self.place(number);
            match text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some((key, value)) if !key.is_empty() => {
                    lines.push(Line { key: key.into(), value: unquoted(value).into(), place });
                }
                _ => refusals.push(Refusal::new(
                    text.trim(),
                    Some(place),
                    Cause::Unreadable,
                    "it is not KEY=VALUE".into(),
                    "write one setting in each line, such as other_config:max-idle=30000",
                )),
            }
        }
        (lines, refusals)
    }

    fn yaml(&self) -> (Vec<Line>, Vec<Refusal>) {
        let (mut lines, mut refusals) = (Vec::new(), Vec::new());
        if self.text().lines().all(|line| is_empty(line.trim())) {
            return (lines, refusals);
        }
        match tree(self.text()) {
            Ok(root) => self.walk("", &root, &mut lines, &mut refusals),
            Err(faults) => {
                for fault in faults {
                    let place = self.place(fault.span.map_or(1, |span| span.line));
                    let remedy = fault.hint.as_deref().unwrap_or("correct the YAML");
                    let message = fault.message.clone();
                    refusals.push(Refusal::new("", Some(place), Cause::Unreadable, message, remedy));
                }
            }
        }
        (lines, refusals)
    }

    fn walk(&self, prefix: &str, node: &Node, lines: &mut Vec<Line>, refusals: &mut Vec<Refusal>) {
        let Content::Map(entries) = &node.content else {
            let place = Some(self.place(node.range.start.line));
            let remedy = "write KEY: VALUE, such as other_config:max-idle: 30000";
            let message = "it is not a mapping of settings to values".into();
            return refusals.push(Refusal::new(prefix, place, Cause::Unreadable, message, remedy));
        };
        for Entry { key, range, value } in entries {
            let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}:{key}") };
            match text(value) {
                Some(value) => lines.push(Line { key, value, place: self.place(range.start.line) }),
                None => self.walk(&key, value, lines, refusals),
            }
        }
    }
}

fn is_empty(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

fn unquoted(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// Of a scalar, or of a list of them with spaces between.
fn text(node: &Node) -> Option<String> {
    match &node.content {
        Content::Scalar(Value::String(text)) => Some(text.clone()),
        Content::Scalar(Value::Null) => Some(String::new()),
        Content::Scalar(value) => Some(value.to_string()),
        Content::List(items) => {
            items.iter().map(text).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
        }
        Content::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> (Vec<String>, Vec<String>) {
        let (lines, refusals) = Source { name: name.into(), text: text.into() }.lines();
        let line = |line: &Line| format!("{} {}={}", line.place.line, line.key, line.value);
        (lines.iter().map(line).collect(), refusals.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn both_forms_say_the_same() {
        let pairs = "# a comment\nother_config:max-idle = 30000\n\nexternal_ids:rack=\"r 7\"\n";
        let want = vec!["2 other_config:max-idle=30000".to_owned(), "4 external_ids:rack=r 7".into()];
        assert_eq!(read("settings", pairs), (want.clone(), vec![]));
        let yaml = "# a comment\nother_config: {max-idle: 30000}\n\nexternal_ids:rack: r 7\n";
        assert_eq!(read("settings", yaml), (want.clone(), vec![]));
        let nested = "other_config:\n  max-idle: 30000\nexternal_ids:\n  rack: r 7\n";
        assert_eq!(read("a.yaml", nested), (want, vec![]));
        assert_eq!(read("a.yaml", "take-over: [a, b]").0, ["1 take-over=a b"]);
        assert_eq!(read("a.yaml", "# nothing yet\n"), (vec![], vec![]));
    }

    #[test]
    fn a_document_has_a_limit() {
        let (lines, refusals) = read("settings", &"other_config:max-idle=600\n".repeat(MOST + 1));
        assert!(lines.is_empty() && refusals.len() == 1, "{refusals:?}");
        assert!(refusals[0].contains("it has 1001 settings"), "{refusals:?}");
        let (_, refusals) = read("settings", &format!("a={}", "x".repeat(LARGEST)));
        assert!(refusals[0].contains("256 KiB"), "{refusals:?}");
        assert_eq!(read("settings", "\u{feff}a=1\n").0, ["1 a=1"], "a byte order mark");
    }

    #[test]
    fn what_cannot_be_read_says_where_and_what_to_do() {
        let (lines, refusals) = read("settings", "a=1\nmax-idle\n");
        assert_eq!(lines, ["1 a=1"]);
        assert_eq!(
            refusals,
            [
                "settings:2: max-idle: it is not KEY=VALUE; write one setting in each line, such as other_config:max-idle=30000"
            ]
        );
        let (_, refusals) = read("a.yaml", "a: [b\n");
        assert!(refusals[0].starts_with("a.yaml:"), "{refusals:?}");
    }
}
