//! One frame: a mark, the session, the channel, what it is, and bytes.

use std::io::{self, Read};

const MARK: [u8; 4] = *b"\xfeLab";
const HEAD: usize = 17;

/// The kernel hands a write of up to 32 KiB to the host as one piece: a frame that fits is never torn by a reset.
pub const MOST_BYTES: usize = 32 * 1024 - HEAD;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Begins a session (to the guest), or confirms it (from there). In session 0: the guest has just booted.
    Hello,
    /// A request on a new channel.
    Start,
    /// The process runs; bytes: its PID in the guest.
    Started,
    Input,
    InputEnd,
    Stdout,
    Stderr,
    /// Bytes: the number of the signal.
    Signal,
    /// The end of a channel; bytes: the status as `wait` gives it.
    Ended,
    /// The end of a channel that came to nothing; bytes: the error number.
    Failed,
}

const KINDS: [Kind; 10] = [
    Kind::Hello,
    Kind::Start,
    Kind::Started,
    Kind::Input,
    Kind::InputEnd,
    Kind::Stdout,
    Kind::Stderr,
    Kind::Signal,
    Kind::Ended,
    Kind::Failed,
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub session: u32,
    pub channel: u32,
    pub kind: Kind,
    pub bytes: Vec<u8>,
}

impl Frame {
    pub fn encode(&self) -> Vec<u8> {
        let length = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let mut out = Vec::with_capacity(HEAD + self.bytes.len());
        out.extend_from_slice(&MARK);
        out.extend_from_slice(&self.session.to_be_bytes());
        out.extend_from_slice(&self.channel.to_be_bytes());
        out.push(self.kind as u8);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&self.bytes);
        out
    }

    /// The number that `Started`, `Signal`, `Ended` and `Failed` carry.
    pub fn number(&self) -> i32 {
        self.bytes.as_slice().try_into().map_or(0, i32::from_be_bytes)
    }
}

/// The next frame; what is none is skipped. None at the end of the stream.
pub fn read(stream: &mut impl Read) -> io::Result<Option<Frame>> {
    loop {
        let mut head = [0; HEAD];
        if !fill(stream, &mut head)? {
            return Ok(None);
        }
        while !plausible(&head) {
            head.rotate_left(1);
            let [.., last] = &mut head;
            if !fill(stream, std::slice::from_mut(last))? {
                return Ok(None);
            }
        }
        let Some(&kind) = KINDS.get(usize::from(head[12])) else { continue };
        let mut bytes = vec![0; length(&head)];
        if !fill(stream, &mut bytes)? {
            return Ok(None);
        }
        return Ok(Some(Frame { session: number(&head, 4), channel: number(&head, 8), kind, bytes }));
    }
}

fn number(head: &[u8; HEAD], at: usize) -> u32 {
    head[at..at + 4].try_into().map_or(0, u32::from_be_bytes)
}

fn length(head: &[u8; HEAD]) -> usize {
    number(head, 13) as usize
}

/// Sessions and channels are small numbers: a second mark in a head is the begin of the next frame, and this one was torn.
fn plausible(head: &[u8; HEAD]) -> bool {
    let torn = head[1..].windows(MARK.len()).any(|part| part == MARK);
    head.starts_with(&MARK) && !torn && usize::from(head[12]) < KINDS.len() && length(head) <= MOST_BYTES
}

/// False at the end of the stream.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match stream.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: Kind, bytes: &[u8]) -> Frame {
        Frame { session: 7, channel: 3, kind, bytes: bytes.into() }
    }

    #[test]
    fn frames_come_out_as_they_went_in() {
        let frames =
            [frame(Kind::Hello, b""), frame(Kind::Stdout, b"heard"), frame(Kind::Failed, b"\0\0\0\x02")];
        let stream: Vec<u8> = frames.iter().flat_map(Frame::encode).collect();
        let mut stream = stream.as_slice();
        for expected in &frames {
            assert_eq!(read(&mut stream).unwrap().as_ref(), Some(expected));
        }
        assert_eq!(read(&mut stream).unwrap(), None);
        assert_eq!(frames[2].number(), 2);
    }

    #[test]
    fn what_is_no_frame_is_skipped() {
        let good = frame(Kind::Ended, b"1234");
        let torn = frame(Kind::Stdout, b"half a frame").encode();
        for garbage in [&b"noise \xfeLa \xfeLab and more of it"[..], &torn[..9], &MARK] {
            let stream = [garbage, &good.encode()].concat();
            assert_eq!(read(&mut stream.as_slice()).unwrap(), Some(good.clone()), "{garbage:?}");
        }
    }
}
