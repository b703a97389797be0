//! Cuts a stream of bytes into JSON texts. OVSDB puts nothing between two messages, so their end is where the braces close.

/// What is kept of the buffer when a large message has been taken out of it.
const KEPT: usize = 1 << 20;

/// Bytes go in as they arrive, messages come out whole.
#[derive(Debug)]
pub struct Frames {
    limit: usize,
    bytes: Vec<u8>,
    /// Where the message begins that is not complete yet.
    start: usize,
    scanned: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("a message of more than {0} bytes")]
    TooLong(usize),
    #[error("{0:?} where a message should begin")]
    NoMessage(char),
}

impl Frames {
    /// `limit`: of one message, in bytes.
    pub fn new(limit: usize) -> Self {
        Frames { limit, bytes: Vec::new(), start: 0, scanned: 0, depth: 0, in_string: false, escaped: false }
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<(), FrameError> {
        self.bytes.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        if self.bytes.is_empty() {
            self.bytes.shrink_to(KEPT);
        }
        // What follows the message in the same piece is small; only the message itself is held against it.
        if self.bytes.len() > self.limit {
            return Err(FrameError::TooLong(self.limit));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The next complete message, if it has arrived.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, FrameError> {
        while let Some(byte) = self.bytes.get(self.scanned) {
            let byte = *byte;
            self.scanned += 1;
            if self.depth == 0 {
                match byte {
                    b'{' => (self.depth, self.start) = (1, self.scanned - 1),
                    b' ' | b'\t' | b'\r' | b'\n' => self.start = self.scanned,
                    other => return Err(FrameError::NoMessage(char::from(other))),
                }
            } else if self.closes(byte) {
                let message = self.start..self.scanned;
                self.start = self.scanned;
                return Ok(self.bytes.get(message));
            }
        }
        Ok(None)
    }

    fn closes(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(stream: &[u8], piece: usize) -> Vec<String> {
        let mut frames = Frames::new(1 << 20);
        let mut found = vec![];
        for part in stream.chunks(piece) {
            frames.push(part).unwrap();
            while let Some(message) = frames.next_message().unwrap() {
                found.push(String::from_utf8(message.to_owned()).unwrap());
            }
        }
        found
    }

    #[test]
    fn messages_come_out_whole_however_they_arrive() {
        let one = r#"{"a":["}",{"b":"\"}]"}]}"#;
        let two = r#"{"c":"\\"}"#;
        let stream = format!("{one}{two}\n {one}{{\"unfinished\":1");
        for piece in [1, 2, 7, 1000] {
            assert_eq!(cut(stream.as_bytes(), piece), [one, two, one], "in pieces of {piece}");
        }
    }

    #[test]
    fn a_message_without_end_is_refused() {
        let mut frames = Frames::new(3 << 20);
        frames.push(b"{").unwrap();
        let piece = vec![b'['; 1 << 20];
        let mut pieces = 0;
        while frames.push(&piece).is_ok() {
            assert_eq!(frames.next_message(), Ok(None));
            pieces += 1;
        }
        assert_eq!(pieces, 3);
    }

    #[test]
    fn what_is_no_object_is_refused_at_once() {
        for stream in [&b"HTTP/1.1 400"[..], b"[1]", b"}"] {
            let mut frames = Frames::new(1 << 20);
            frames.push(stream).unwrap();
            assert!(frames.next_message().is_err());
        }
    }

    #[test]
    fn a_large_message_leaves_no_large_buffer() {
        let mut frames = Frames::new(16 << 20);
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(8 << 20));
        frames.push(large.as_bytes()).unwrap();
        assert_eq!(frames.next_message().unwrap().map(<[u8]>::len), Some(large.len()));
        frames.push(b"{}").unwrap();
        assert!(frames.bytes.capacity() <= KEPT);
        assert_eq!(frames.next_message().unwrap(), Some(&b"{}"[..]));
    }
}
