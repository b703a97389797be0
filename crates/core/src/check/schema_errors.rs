//! What the typed parse says, in words for people.

use serde_json::Value;

use super::nearest::nearest;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::path::{Path, PathStep};
use crate::secrets::{is_secret, without};

/// How many known words a hint lists at most.
const LISTED: usize = 24;

pub(super) fn explain(error: &str, path: &Path, state: &Value) -> Diagnostic {
    let value = path.find(state).unwrap_or(&Value::Null);
    let said = [unknown_field, missing_field, unknown_variant, wrong_type, wrong_value, wrong_scalar];
    let diagnostic = said.iter().find_map(|say| say(error, value));
    let mut diagnostic = diagnostic.unwrap_or_else(|| Diagnostic::new(codes::WRONG_TYPE, error.to_owned()));
    if path.steps().iter().any(|step| matches!(step, PathStep::Key(key) if is_secret(key))) {
        diagnostic.message = without(&diagnostic.message, &plain(value));
    }
    diagnostic.at(path.clone())
}

fn unknown_field(error: &str, _: &Value) -> Option<Diagnostic> {
    let (word, known) = quoted_after(error, "unknown field ")?;
    let diagnostic = Diagnostic::new(codes::UNKNOWN_FIELD, format!("unknown field '{word}'"));
    Some(match hint_for(word, &known) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    })
}

fn missing_field(error: &str, _: &Value) -> Option<Diagnostic> {
    let (word, _) = quoted_after(error, "missing field ")?;
    Some(
        Diagnostic::new(codes::MISSING_FIELD, format!("'{word}' is missing here"))
            .hint(format!("add '{word}: ...'")),
    )
}

fn unknown_variant(error: &str, _: &Value) -> Option<Diagnostic> {
    let (word, known) = quoted_after(error, "unknown variant ")?;
    let diagnostic = Diagnostic::new(codes::WRONG_TYPE, format!("'{word}' is not a valid value here"));
    Some(match hint_for(word, &known) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    })
}

/// `invalid type: integer `5`, expected a string`
fn wrong_type(error: &str, value: &Value) -> Option<Diagnostic> {
    let (_, expected) = error.strip_prefix("invalid type: ")?.rsplit_once(", expected ")?;
    let expected = in_words(expected);
    if expected == "a whole number" && value.is_i64() {
        return Some(Diagnostic::new(codes::WRONG_TYPE, format!("{value} is out of range here")));
    }
    let message = format!("expected {expected}, but this is {}", described(value));
    let diagnostic = Diagnostic::new(codes::WRONG_TYPE, message);
    let is_scalar = !matches!(value, Value::Null | Value::Array(_) | Value::Object(_));
    Some(match expected {
        "text" if is_scalar => diagnostic.hint("put it in quotes"),
        "a list" => diagnostic.hint("start each item on a line of its own with '- '"),
        _ => diagnostic,
    })
}

/// `invalid value: integer `300`, expected u8`
fn wrong_value(error: &str, value: &Value) -> Option<Diagnostic> {
    let (_, expected) = error.strip_prefix("invalid value: ")?.rsplit_once(", expected ")?;
    let expected = in_words(expected);
    let message = match expected {
        "a whole number" => format!("{} is out of range here", plain(value)),
        _ => format!("expected {expected}, but this is {}", described(value)),
    };
    Some(Diagnostic::new(codes::WRONG_TYPE, message))
}

fn wrong_scalar(error: &str, value: &Value) -> Option<Diagnostic> {
    const SAID: &[(&str, &str)] = &[
        ("invalid digit found", "is not a whole number"),
        ("cannot parse integer", "is not a whole number"),
        ("number too large", "is out of range here"),
        ("number too small", "is out of range here"),
        ("out of range integral", "is out of range here"),
        ("invalid IP address", "is not an IP address"),
        ("boolean", "is neither true nor false"),
    ];
    let (_, meaning) = SAID.iter().find(|(words, _)| error.contains(words))?;
    if matches!(value, Value::Array(_) | Value::Object(_) | Value::Null) {
        return None;
    }
    Some(Diagnostic::new(codes::WRONG_TYPE, format!("'{}' {meaning}", plain(value))))
}

/// The word after `prefix`, and those that are expected instead.
fn quoted_after<'e>(error: &'e str, prefix: &str) -> Option<(&'e str, Vec<&'e str>)> {
    let mut quoted = error.strip_prefix(prefix)?.split('`').skip(1).step_by(2);
    Some((quoted.next()?, quoted.collect()))
}

pub(super) fn hint_for(word: &str, known: &[&str]) -> Option<String> {
    if let Some(near) = nearest(word, known) {
        return Some(format!("did you mean '{near}'?"));
    }
    let rest = if known.len() > LISTED { ", ..." } else { "" };
    (!known.is_empty()).then(|| format!("known here: {}{rest}", known[..known.len().min(LISTED)].join(", ")))
}

fn in_words(expected: &str) -> &str {
    match expected {
        "a string" => "text",
        "a sequence" => "a list",
        "a map" => "a mapping",
        "a boolean" => "true or false",
        "unsigned integer or string" | "signed integer or string" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" => "a whole number",
        other if other.starts_with("struct ") => "a mapping",
        other if other.starts_with("Need to be boolean") => "true or false",
        other if other.contains("Vec") => "a list",
        other => other,
    }
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(truth) => format!("the boolean {truth}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text '{text}'"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schema_errors_are_reworded() {
        let cases = [
            (
                "unknown field `mut`, expected one of `mtu`, `name`",
                json!(1),
                "unknown field 'mut'",
                "did you mean 'mtu'?",
            ),
            (
                "unknown field `x`, expected `running` or `config`",
                json!(1),
                "unknown field 'x'",
                "known here: running, config",
            ),
            ("unknown field `x`, there are no fields", json!(1), "unknown field 'x'", ""),
            ("missing field `peer`", json!({}), "'peer' is missing here", "add 'peer: ...'"),
            (
                "invalid type: integer `5`, expected a string",
                json!(5),
                "expected text, but this is the number 5",
                "put it in quotes",
            ),
            (
                "invalid type: map, expected a sequence",
                json!({}),
                "expected a list, but this is a mapping",
                "start each item on a line of its own with '- '",
            ),
            ("invalid value: integer `300`, expected u8", json!(300), "300 is out of range here", ""),
            ("invalid digit found in string", json!("abc"), "'abc' is not a whole number", ""),
            ("something new", json!("abc"), "something new", ""),
        ];
        for (error, value, message, hint) in cases {
            let said = explain(error, &Path::root(), &value);
            assert_eq!(
                (said.message.as_str(), said.hint.as_deref().unwrap_or("")),
                (message, hint),
                "{error}"
            );
        }
    }
}
