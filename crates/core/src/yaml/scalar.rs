//! How one value is written: plain where that means the same to every reader, otherwise in quotes.

use serde_json::{Number, Value};

use crate::document::is_text;

/// `column` is where the lines of a text begin.
pub(super) fn leaf(value: &Value, column: usize) -> String {
    match value {
        Value::String(text) if can_be_literal(text) => literal(text, column.max(2)),
        Value::String(text) => key(text),
        Value::Number(number) => self::number(number),
        empty_or_word => empty_or_word.to_string(),
    }
}

/// On one line.
pub(super) fn key(text: &str) -> String {
    if !text.chars().all(is_printable) {
        return double_quoted(text);
    }
    if is_plain(text) && !is_ambiguous(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// YAML 1.1 wants a point and the sign of an exponent.
fn number(number: &Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Lines as they are, where neither the first line's indentation nor space at the end of a line matters.
fn can_be_literal(text: &str) -> bool {
    text.contains('\n')
        && text.chars().all(|c| c == '\n' || is_printable(c))
        && !text.starts_with([' ', '\n'])
        && !text.ends_with([' '])
        && !text.ends_with("\n\n")
        && !text.contains(" \n")
}

fn literal(text: &str, column: usize) -> String {
    let mut written = String::from(if text.ends_with('\n') { "|" } else { "|-" });
    for line in text.lines() {
        written.push('\n');
        if !line.is_empty() {
            written += &" ".repeat(column);
            written += line;
        }
    }
    written
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if is_printable(c) => quoted.push(c),
            c => quoted += &escaped(u32::from(c)),
        }
    }
    quoted.push('"');
    quoted
}

fn escaped(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02X}"),
        0x100..=0xffff => format!("\\u{code:04X}"),
        _ => format!("\\U{code:08X}"),
    }
}

/// On any line of YAML 1.1 and 1.2; some take U+2028 and its like for the end of the line, and U+FEFF for its start.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether these characters are one text without quotes.
fn is_plain(text: &str) -> bool {
    let first_alone = matches!(text.split(' ').next(), Some("" | "-" | "?" | ":"));
    !first_alone
        && !text.starts_with(|c| ",[]{}#&*!|>'\"%@`".contains(c))
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
}

/// Whether a reader may take this text for something else than text.
fn is_ambiguous(text: &str) -> bool {
    const WORDS: &[&str] =
        &["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<", ".inf", ".nan"];
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    WORDS.iter().any(|word| unsigned.eq_ignore_ascii_case(word))
        || is_number(unsigned)
        || is_base_60(unsigned)
        || is_date(text)
}

/// As our own reader reads it; and `1_000`, `0b1` and `017` of YAML 1.1.
fn is_number(text: &str) -> bool {
    let digits = text.replace('_', "");
    let of = |digits: &str, base: u32| !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    of(&digits, 10) || digits.strip_prefix("0b").is_some_and(|bits| of(bits, 2)) || !is_text(&digits)
}

/// `12:30:45`, also as the MAC address 52:54:00:12:34:56: a number in YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '_' | '.');
    text.contains(':') && text.split(':').all(|part| !part.is_empty() && part.chars().all(digit))
}

/// `2026-11-17`, alone or before a time.
fn is_date(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let mut parts = date.split('-');
    let mut next = |longest: usize| {
        parts
            .next()
            .is_some_and(|p| (1..=longest).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
    };
    next(4) && next(2) && next(2) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_that_yaml_1_1_reads_otherwise_are_quoted() {
        let words = [
            "off",
            "Yes",
            "NO",
            "y",
            "N",
            "on",
            "true",
            "~",
            "null",
            "",
            "=",
            "<<",
            ".inf",
            "-.INF",
            ".nan",
            "12",
            "-12",
            "+1",
            "0123",
            "1_000",
            "0x1F",
            "0o17",
            "0b11",
            "1.5",
            "1.",
            ".5",
            "1e3",
            "1E-3",
            "1_0.5",
            "12:30:45",
            "190:20:30.15",
            "52:54:00:12:34:56",
            "2026-11-17",
            "2026-11-17T08:15:00Z",
            "2026-1-7 8:15:00",
            "- a",
            "-",
            "?",
            ":",
            "a: b",
            "a:",
            "a #b",
            "#a",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "@a",
            "`a",
            "%a",
            "{a",
            "[a",
            "]",
            "}",
            ",",
            "'a'",
            "\"a\"",
            " a",
            "a ",
            "---",
            "--- a",
            "...",
        ];
        for word in words {
            let quoted = format!("'{}'", word.replace('\'', "''"));
            assert_eq!(leaf(&json!(word), 0), quoted);
        }
    }

    #[test]
    fn other_words_are_plain() {
        let words = [
            "eth0",
            "192.0.2.1",
            "10.0.0.0/24",
            "2001:db8::1",
            "::1",
            "::",
            "02:00:00:00:00:0A",
            "802.1x",
            "802.3ad",
            "linux-bridge",
            "offline",
            "a:b",
            "a#b",
            "it's",
            "-1a",
            "--",
            "v1",
            "0x",
            "1e",
            ".",
            "1.2.3",
            "é",
            "192.0.2.1-192.0.2.9",
            "3c4f2e9a-0b1d",
            "a, b",
            "x = 1",
        ];
        let plain = |word: &&str| leaf(&json!(word), 0) == **word;
        let quoted: Vec<&&str> = words.iter().filter(|word| !plain(word)).collect();
        // It ends with a colon.
        assert_eq!(quoted, [&"::"]);
    }

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        assert_eq!(leaf(&json!("\u{1b}[1m\t\u{2028}"), 0), r#""\x1B[1m\t\u2028""#);
        assert_eq!(leaf(&json!(" a\nb"), 0), r#"" a\nb""#);
    }

    #[test]
    fn numbers_are_numbers_to_all() {
        let cases = [
            (json!(1e100), "1.0e+100"),
            (json!(1.5e-9), "1.5e-9"),
            (json!(2.0), "2.0"),
            (json!(u64::MAX), "18446744073709551615"),
        ];
        for (value, text) in cases {
            assert_eq!(leaf(&value, 0), text);
        }
    }
}
