//! What a plain word means: the core schema of YAML 1.2.

use saphyr_parser::{ScalarStyle, Tag};
use serde_json::{Number, Value};
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum ScalarError {
    #[error("'{0}' is not supported in a network state")]
    NotANumber(String),
    #[error("'{text}' is not a YAML {tag}")]
    Mismatch { text: String, tag: String },
    #[error("the YAML tag '{0}' is not supported")]
    Tag(String),
}

pub(super) fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, ScalarError> {
    match tag {
        Some(tag) => tagged(text, tag),
        None if style == ScalarStyle::Plain => plain(text),
        None => Ok(Value::String(text.to_owned())),
    }
}

fn tagged(text: &str, tag: &Tag) -> Result<Value, ScalarError> {
    // The lone `!` asks for text.
    if tag.handle.is_empty() && tag.suffix == "!" {
        return Ok(Value::String(text.to_owned()));
    }
    if !tag.is_yaml_core_schema() {
        return Err(ScalarError::Tag(tag.to_string()));
    }
    let wanted: fn(&Value) -> bool = match tag.suffix.as_str() {
        "str" => return Ok(Value::String(text.to_owned())),
        "int" => |value| value.is_i64() || value.is_u64(),
        "float" => Value::is_number,
        "bool" => Value::is_boolean,
        "null" => Value::is_null,
        other => return Err(ScalarError::Tag(format!("!!{other}"))),
    };
    let value = plain(text)?;
    if wanted(&value) {
        return Ok(value);
    }
    Err(ScalarError::Mismatch { text: text.to_owned(), tag: tag.suffix.clone() })
}

fn plain(text: &str) -> Result<Value, ScalarError> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_infinite_or_nan(text) => return Err(ScalarError::NotANumber(text.to_owned())),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    })
}

/// Whether this word is text without quotes.
pub(crate) fn is_text(word: &str) -> bool {
    plain(word).is_ok_and(|value| value.is_string())
}

fn is_infinite_or_nan(text: &str) -> bool {
    matches!(text.strip_prefix(['-', '+']).unwrap_or(text), ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return integer(text, digits);
    }
    if is_float(digits) { text.parse().ok().and_then(Number::from_f64) } else { None }
}

fn radix(digits: &str, radix: u32) -> Option<Number> {
    let pure = !digits.starts_with(['-', '+']);
    u64::from_str_radix(digits, radix).ok().filter(|_| pure).map(Number::from)
}

/// `0123` stays text: YAML 1.1 reads it as octal, 1.2 as decimal, and an identifier would lose its zero.
fn integer(text: &str, digits: &str) -> Option<Number> {
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let exact = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
    exact.ok().or_else(|| text.parse().ok().and_then(Number::from_f64))
}

/// `[0-9]+(\.[0-9]*)?` or `\.[0-9]+`, then an optional exponent.
fn is_float(digits: &str) -> bool {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => whole(fraction),
        Some((integer, fraction)) => whole(integer) && (fraction.is_empty() || whole(fraction)),
        None => whole(mantissa),
    };
    mantissa_ok
        && exponent.is_none_or(|exponent| whole(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_words_as_the_core_schema_does() {
        let cases = [
            ("", Value::Null),
            ("~", Value::Null),
            ("True", json!(true)),
            ("yes", json!("yes")),
            ("off", json!("off")),
            ("12", json!(12)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("18446744073709551615", json!(u64::MAX)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("0x", json!("0x")),
            ("0x-1", json!("0x-1")),
            ("0123", json!("0123")),
            ("1.5", json!(1.5)),
            ("1e3", json!(1000.0)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            (".", json!(".")),
            ("e3", json!("e3")),
            ("-", json!("-")),
            ("inf", json!("inf")),
            ("192.0.2.1", json!("192.0.2.1")),
            ("00:11:22:33:44:55", json!("00:11:22:33:44:55")),
            ("802.1q", json!("802.1q")),
        ];
        for (text, value) in cases {
            assert_eq!(plain(text), Ok(value), "{text}");
        }
        assert!(plain("-.inf").is_err());
        assert!(plain(".nan").is_err());
    }
}
