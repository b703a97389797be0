//! Values of settings: what is accepted, and the one form in which each is compared and written.

use std::fmt;

/// What a key accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueKind {
    Boolean,
    Integer {
        least: u64,
        most: u64,
    },
    Word(&'static [&'static str]),
    Text,
    /// A set of CPUs, in hexadecimal.
    CpuMask,
    LogLevel,
    /// At least so many, or `infinity`.
    Bytes {
        least: u64,
    },
    /// Of one CPU, or `infinity`.
    Percent,
    /// Or `infinity`.
    Count {
        least: u64,
        most: u64,
    },
}

/// As systemd says that there is no limit.
pub const INFINITY: &str = "infinity";

/// Text that is stored with every row that is read by everybody.
const LONGEST: usize = 4096;
/// With less, a daemon seems to hang.
const LEAST_PERCENT: u64 = 10;
const LEVELS: [&str; 6] = ["off", "emer", "err", "warn", "info", "dbg"];

impl ValueKind {
    /// The value in the form in which it is written; None: it is not of this kind.
    pub fn read(self, text: &str) -> Option<String> {
        let text = text.trim();
        let unlimited = || text.eq_ignore_ascii_case(INFINITY).then(|| INFINITY.to_owned());
        match self {
            Self::Boolean => ["true", "false"].contains(&text).then(|| text.to_owned()),
            Self::Integer { least, most } => {
                number(text).filter(|value| (least..=most).contains(value)).map(|value| value.to_string())
            }
            Self::Word(words) => words.contains(&text).then(|| text.to_owned()),
            Self::Text => (!text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_control))
                .then(|| text.to_owned()),
            Self::CpuMask => cpu_mask(text),
            Self::LogLevel => {
                let text = text.to_ascii_lowercase();
                LEVELS.contains(&text.as_str()).then_some(text)
            }
            Self::Bytes { least } => unlimited()
                .or_else(|| bytes(text).filter(|value| *value >= least).map(|value| value.to_string())),
            Self::Percent => unlimited().or_else(|| {
                let value = number(text.strip_suffix('%')?)?;
                (LEAST_PERCENT..=100_000).contains(&value).then(|| format!("{value}%"))
            }),
            Self::Count { least, most } => unlimited().or_else(|| {
                number(text).filter(|value| (least..=most).contains(value)).map(|value| value.to_string())
            }),
        }
    }
}

/// What is accepted, after "must be".
impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("true or false"),
            Self::Integer { least, most } => write!(f, "a whole number from {least} to {most}"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
            Self::Text => write!(f, "a text of 1 to {LONGEST} characters in one line"),
            Self::CpuMask => f.write_str("a CPU mask in hexadecimal, such as 0x3"),
            Self::LogLevel => write!(f, "one of {}", LEVELS.join(", ")),
            Self::Bytes { least } => {
                write!(f, "a size of at least {}, such as 512M or 2G, or infinity", size(*least))
            }
            Self::Percent => {
                write!(
                    f,
                    "a percentage of one CPU from {LEAST_PERCENT}% to 100000%, such as 150%, or infinity"
                )
            }
            Self::Count { least, most } => write!(f, "a whole number from {least} to {most}, or infinity"),
        }
    }
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn cpu_mask(text: &str) -> Option<String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let is_mask = (1..=256).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_mask.then(|| text.to_owned())
}

/// With systemd's suffixes, which are powers of 1024.
fn bytes(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        b'T' => (&text[..text.len() - 1], 1 << 40),
        _ => (text, 1),
    };
    number(digits)?.checked_mul(factor).filter(|value| *value < u64::MAX)
}

/// A number of bytes for people.
pub fn size(bytes: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.iter().find(|(factor, _)| bytes >= *factor && bytes.is_multiple_of(*factor));
    unit.map_or_else(|| bytes.to_string(), |(factor, letter)| format!("{}{letter}", bytes / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_form() {
        let bytes = ValueKind::Bytes { least: 1 << 20 };
        for (kind, text, form) in [
            (ValueKind::Boolean, "true", Some("true")),
            (ValueKind::Boolean, "yes", None),
            (ValueKind::Integer { least: 500, most: u64::MAX }, " 0500 ", Some("500")),
            (ValueKind::Integer { least: 500, most: u64::MAX }, "499", None),
            (ValueKind::Integer { least: 0, most: 10 }, "-1", None),
            (ValueKind::Integer { least: 0, most: 10 }, "abc", None),
            (ValueKind::Integer { least: 0, most: 10 }, "", None),
            (ValueKind::Word(&["none", "skip_sw"]), "skip_sw", Some("skip_sw")),
            (ValueKind::CpuMask, "0xff", Some("0xff")),
            (ValueKind::CpuMask, "0x", None),
            (ValueKind::LogLevel, "DBG", Some("dbg")),
            (ValueKind::LogLevel, "loud", None),
            (bytes, "512M", Some("536870912")),
            (bytes, "512K", None),
            (bytes, "infinity", Some("infinity")),
            (bytes, "99999999999999T", None),
            (ValueKind::Percent, "150%", Some("150%")),
            (ValueKind::Percent, "150", None),
            (ValueKind::Count { least: 1, most: 10_000 }, "0", None),
            (ValueKind::Text, "two\nlines", None),
        ] {
            assert_eq!(kind.read(text).as_deref(), form, "{kind:?} {text}");
        }
        assert_eq!((size(1 << 26), size(1500)), ("64M".into(), "1500".into()));
    }
}
