//! Cuts a stream of bytes into JSON texts. OVSDB puts nothing between two messages, so their end is where the braces close.

/// More than any answer to the selects made here; a peer that sends more is not an OVSDB server.
const LIMIT: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    scanned: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.bytes.len() + bytes.len() > LIMIT {
            return Err(TooLong);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The next complete message, if it has arrived.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        while self.scanned < self.bytes.len() {
            let byte = self.bytes[self.scanned];
            self.scanned += 1;
            if self.ends_with(byte) {
                let rest = self.bytes.split_off(self.scanned);
                self.scanned = 0;
                return Some(std::mem::replace(&mut self.bytes, rest));
            }
        }
        None
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(stream: &[u8], piece: usize) -> Vec<String> {
        let mut frames = Frames::default();
        let mut found = vec![];
        for part in stream.chunks(piece) {
            frames.push(part).unwrap();
            while let Some(message) = frames.next() {
                found.push(String::from_utf8(message).unwrap());
            }
        }
        found
    }

    #[test]
    fn messages_come_out_whole_however_they_arrive() {
        let one = r#"{"a":["}",{"b":"\"}]"}]}"#;
        let two = r#"{"c":"\\"}"#;
        let stream = format!("{one}{two}{{\"unfinished\":1");
        for piece in [1, 2, 7, 1000] {
            assert_eq!(cut(stream.as_bytes(), piece), [one, two], "in pieces of {piece}");
        }
    }

    #[test]
    fn a_message_without_end_is_refused() {
        let mut frames = Frames::default();
        let piece = vec![b'['; 1 << 20];
        let refused = (0..65).any(|_| frames.push(&piece).is_err());
        assert!(refused);
    }
}
