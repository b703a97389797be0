//! The control sockets of Open vSwitch's and OVN's daemons: what `ovs-appctl` talks to.
//!
//! ```no_run
//! use std::time::Duration;
//! use linesman_ovsdb::unixctl::Daemon;
//!
//! # async fn example() -> Result<(), linesman_ovsdb::unixctl::Error> {
//! let vswitchd = Daemon::new("/run/openvswitch", "ovs-vswitchd");
//! println!("{}", vswitchd.call("version", &[], Duration::from_secs(1)).await?);
//! # Ok(()) }
//! ```

mod daemon;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

pub use daemon::Daemon;

use crate::frame::Frames;
use crate::message::{self, Message};

/// Dumps of flows are large.
const LONGEST: usize = 256 << 20;
const PIECE: usize = 16 << 10;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{daemon} has no pidfile {}: it is not running, or keeps it elsewhere", path.display())]
    NoPidfile { daemon: String, path: PathBuf },
    #[error("cannot read the pidfile {}: {what}", path.display())]
    BadPidfile { path: PathBuf, what: String },
    #[error("{daemon} is not running: {} says process {pid}, which does not exist", path.display())]
    StalePidfile { daemon: String, path: PathBuf, pid: u32 },
    #[error("nobody listens on {}: its daemon ended without removing it", path.display())]
    StaleSocket { path: PathBuf },
    #[error("cannot connect to {}: {source}", path.display())]
    Connect { path: PathBuf, source: io::Error },
    #[error("no answer to {command} on {} within {limit:?}; the daemon may hang", path.display())]
    NoAnswer { path: PathBuf, command: String, limit: Duration },
    #[error("the daemon at {} refused {command}: {message}", path.display())]
    Refused { path: PathBuf, command: String, message: String },
    #[error("the connection to {} broke: {source}", path.display())]
    Broken { path: PathBuf, source: io::Error },
    #[error("{} sent something that is no answer: {what}", path.display())]
    NotUnixctl { path: PathBuf, what: String },
    #[error("the connection to {} was given up after an earlier failure; connect again", path.display())]
    GivenUp { path: PathBuf },
}

/// A connection to one daemon.
#[derive(Debug)]
pub struct Unixctl {
    path: PathBuf,
    limit: Duration,
    /// Absent after a failure: an answer that comes too late must not be taken for the next one.
    stream: Option<UnixStream>,
    last_id: u64,
}

impl Unixctl {
    /// `limit`: of the connection and, later, of each call.
    pub async fn connect(path: impl AsRef<Path>, limit: Duration) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        match timeout(limit, UnixStream::connect(&path)).await {
            Ok(Ok(stream)) => Ok(Unixctl { path, limit, stream: Some(stream), last_id: 0 }),
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Err(Error::StaleSocket { path })
            }
            Ok(Err(source)) => Err(Error::Connect { path, source }),
            Err(_) => Err(Error::NoAnswer { path, command: "the connection".to_owned(), limit }),
        }
    }

    /// Runs a command, such as `coverage/show`, and returns what it prints.
    pub async fn call(&mut self, command: &str, arguments: &[&str]) -> Result<String, Error> {
        let mut stream = self.stream.take().ok_or_else(|| Error::GivenUp { path: self.path.clone() })?;
        self.last_id += 1;
        let request = message::request(command, &json!(arguments), &json!(self.last_id));
        let answer = match timeout(self.limit, self.exchange(&mut stream, &request)).await {
            Ok(answer) => answer?,
            Err(_) => {
                let (path, command) = (self.path.clone(), command.to_owned());
                return Err(Error::NoAnswer { path, command, limit: self.limit });
            }
        };
        self.stream = Some(stream);
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        answer.map(text).map_err(|error| Error::Refused {
            path: self.path.clone(),
            command: command.to_owned(),
            message: text(error).trim_end().to_owned(),
        })
    }

    async fn exchange(
        &self,
        stream: &mut UnixStream,
        request: &Value,
    ) -> Result<Result<Value, Value>, Error> {
        let broken = |source| Error::Broken { path: self.path.clone(), source };
        let odd = |what: String| Error::NotUnixctl { path: self.path.clone(), what };
        stream.write_all(request.to_string().as_bytes()).await.map_err(broken)?;
        let (mut frames, mut piece) = (Frames::new(LONGEST), vec![0; PIECE]);
        loop {
            if let Some(bytes) = frames.next_message().map_err(|error| odd(error.to_string()))? {
                match Message::parse(bytes).map_err(odd)? {
                    Message::Answer { id, result } if id.as_u64() == Some(self.last_id) => return Ok(result),
                    _ => continue,
                }
            }
            let read = stream.read(&mut piece).await.map_err(broken)?;
            if read == 0 {
                return Err(broken(io::ErrorKind::UnexpectedEof.into()));
            }
            frames.push(piece.get(..read).unwrap_or_default()).map_err(|error| odd(error.to_string()))?;
        }
    }
}
