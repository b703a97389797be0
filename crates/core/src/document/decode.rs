//! Bytes of a file as text.

use thiserror::Error;

/// Why bytes are no text that a document can be written in.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NotText {
    #[error("is UTF-16 text; save it as UTF-8, for example with `iconv -f UTF-16 -t UTF-8`")]
    Utf16,
    #[error("is not UTF-8 text: the first invalid byte is on line {line}")]
    NotUtf8 { line: usize },
}

/// The text in `bytes`. Editors on other systems begin a file with a byte order mark; in UTF-8 it says nothing.
pub fn decode(bytes: Vec<u8>) -> Result<String, NotText> {
    if is_utf16(&bytes) {
        return Err(NotText::Utf16);
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let breaks = error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count();
        NotText::NotUtf8 { line: breaks + 1 }
    })?;
    let mark = text.len() - without_mark(&text).len();
    text.drain(..mark);
    Ok(text)
}

pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// By its mark; without one, by the zero beside a first character that every document can begin with.
fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=0x7f, ..] | [1..=0x7f, 0, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf_8_with_or_without_a_mark() {
        assert_eq!(decode(b"a: \xc3\xa4\n".to_vec()).unwrap(), "a: ä\n");
        assert_eq!(decode(b"\xef\xbb\xbfa: 1\r\n".to_vec()).unwrap(), "a: 1\r\n");
        assert_eq!(decode(Vec::new()).unwrap(), "");
    }

    #[test]
    fn other_encodings_are_named() {
        for bytes in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"a\0:\0", b"\0a\0:"] {
            assert_eq!(decode(bytes.to_vec()), Err(NotText::Utf16), "{bytes:?}");
        }
        assert_eq!(decode(b"a: 1\nb: \xe4\n".to_vec()), Err(NotText::NotUtf8 { line: 2 }));
    }
}
