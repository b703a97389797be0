//! What the lab asks of a guest.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::list;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A process with just this environment; its input follows, its streams come back.
    Run { words: Vec<OsString>, variables: Vec<(OsString, OsString)> },
    /// The file's contents follow as input; its folders are made.
    Write { path: PathBuf, mode: u32 },
    /// Comes back as standard output.
    Read { path: PathBuf },
    /// Ends with status 0 or 1.
    Exists { path: PathBuf },
}

impl Request {
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Run { words, variables } => {
                let count = u32::try_from(words.len()).unwrap_or(u32::MAX).to_be_bytes();
                let words = words.iter().map(|word| word.as_bytes());
                let variables =
                    variables.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
                list::encode([b"run".as_slice(), &count].into_iter().chain(words).chain(variables))
            }
            Self::Write { path, mode } => list::encode([b"write".as_slice(), raw(path), &mode.to_be_bytes()]),
            Self::Read { path } => list::encode([b"read".as_slice(), raw(path)]),
            Self::Exists { path } => list::encode([b"exists".as_slice(), raw(path)]),
        }
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let items = list::decode(bytes)?;
        let (verb, items) = items.split_first()?;
        match (verb.as_slice(), items) {
            (b"run", [count, rest @ ..]) => {
                let (words, variables) = rest.split_at_checked(parse(count)? as usize)?;
                let words = words.iter().map(|word| text(word)).collect();
                let pairs = variables.chunks_exact(2).map(|pair| (text(&pair[0]), text(&pair[1])));
                Some(Self::Run { words, variables: pairs.collect() })
            }
            (b"write", [path, mode]) => Some(Self::Write { path: text(path).into(), mode: parse(mode)? }),
            (b"read", [path]) => Some(Self::Read { path: text(path).into() }),
            (b"exists", [path]) => Some(Self::Exists { path: text(path).into() }),
            _ => None,
        }
    }
}

fn raw(path: &Path) -> &[u8] {
    OsStr::as_bytes(path.as_os_str())
}

fn text(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.into())
}

fn parse(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_out_as_they_went_in() {
        let requests = [
            Request::Run {
                words: vec!["sh".into(), "-c".into(), "".into()],
                variables: vec![("A".into(), "1".into()), ("B".into(), "".into())],
            },
            Request::Write { path: "/a b".into(), mode: 0o644 },
            Request::Read { path: "/".into() },
            Request::Exists { path: "/x".into() },
        ];
        for request in requests {
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        assert_eq!(Request::decode(b"nonsense"), None);
    }
}
