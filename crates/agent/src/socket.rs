//! How the command line talks to the agent: one line of JSON each way on a unix socket.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linesman_daemon::connections::Connections;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot, watch};

use crate::status::Status;
use crate::{Error, Result};

/// How long somebody may take to ask, or to read an answer.
const LIMIT: Duration = Duration::from_secs(10);
const CONNECTIONS: usize = 64;
/// No question is longer than this, in bytes.
const LONGEST: u64 = 64 * 1024;

pub fn path(run_dir: &Path) -> PathBuf {
    run_dir.join("agent.sock")
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    Status,
    /// The status now, and again whenever it changes.
    Watch,
    /// Try again what was rolled back or gave up: this policy, or all.
    Retry(Option<String>),
    /// Something on disk has changed (frozen, unfrozen): look again.
    Look,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    Status(Box<Status>),
    /// The policies that are tried again.
    Retried(Vec<String>),
    Looked,
    Wrong(String),
}

/// What only the agent itself can answer.
#[derive(Debug)]
pub enum Command {
    Retry(Option<String>, oneshot::Sender<Vec<String>>),
    Look(oneshot::Sender<()>),
}

pub async fn serve(
    run_dir: &Path,
    status: watch::Receiver<Status>,
    commands: mpsc::Sender<Command>,
) -> Result<PathBuf> {
    let path = path(run_dir);
    let failed = |e: std::io::Error| Error::Socket { path: path.display().to_string(), source: e };
    std::fs::create_dir_all(run_dir).map_err(failed)?;
    if UnixStream::connect(&path).await.is_ok() {
        return Err(Error::Another { path: path.display().to_string() });
    }
    std::fs::remove_file(&path).ok();
    let listener = UnixListener::bind(&path).map_err(failed)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    tokio::task::spawn_local(async move {
        let mut connections = Connections::new(CONNECTIONS);
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            };
            connections.serve(converse(stream, status.clone(), commands.clone())).await;
        }
    });
    Ok(path)
}

async fn converse(stream: UnixStream, mut status: watch::Receiver<Status>, commands: mpsc::Sender<Command>) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    let mut question = (&mut stream).take(LONGEST);
    if !matches!(tokio::time::timeout(LIMIT, question.read_line(&mut line)).await, Ok(Ok(_))) {
        return;
    }
    match serde_json::from_str(&line) {
        Ok(Question::Watch) => loop {
            let now = status.borrow_and_update().clone();
            if reply(&mut stream, &Answer::Status(Box::new(now))).await.is_err()
                || status.changed().await.is_err()
            {
                return;
            }
        },
        Ok(Question::Status) => {
            let now = status.borrow().clone();
            reply(&mut stream, &Answer::Status(Box::new(now))).await.ok();
        }
        Ok(Question::Retry(policy)) => {
            let (answer, answered) = oneshot::channel();
            let sent = commands.send(Command::Retry(policy, answer)).await;
            let names = if sent.is_ok() { answered.await.unwrap_or_default() } else { Vec::new() };
            reply(&mut stream, &Answer::Retried(names)).await.ok();
        }
        Ok(Question::Look) => {
            let (answer, answered) = oneshot::channel();
            if commands.send(Command::Look(answer)).await.is_ok() {
                answered.await.ok();
            }
            reply(&mut stream, &Answer::Looked).await.ok();
        }
        Err(e) => {
            reply(&mut stream, &Answer::Wrong(e.to_string())).await.ok();
        }
    }
}

async fn reply(stream: &mut BufReader<UnixStream>, answer: &Answer) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    tokio::time::timeout(LIMIT, stream.write_all(&line)).await?
}

/// Why there is nobody to ask.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("no agent is running on this host")]
    NoAgent,
    /// One may be running: the kernel does not let us ask.
    #[error("the agent cannot be asked: {0}")]
    Refused(std::io::Error),
}

impl From<std::io::Error> for NoAnswer {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
        // A socket that nobody listens on was left by an agent that was killed.
        match error.kind() {
            NotFound | ConnectionRefused | BrokenPipe | ConnectionReset => Self::NoAgent,
            _ => Self::Refused(error),
        }
    }
}

/// The other end.
#[derive(Debug)]
pub struct Asking(Lines<BufReader<UnixStream>>);

impl Asking {
    pub async fn ask(run_dir: &Path, question: &Question) -> Result<Self, NoAnswer> {
        let mut stream = UnixStream::connect(path(run_dir)).await?;
        let mut line = serde_json::to_vec(question).map_err(std::io::Error::from)?;
        line.push(b'\n');
        stream.write_all(&line).await?;
        Ok(Self(BufReader::new(stream).lines()))
    }

    /// May be given up and asked for again.
    pub async fn answer(&mut self) -> Option<Answer> {
        let line = self.0.next_line().await.ok().flatten()?;
        serde_json::from_str(&line).ok()
    }
}
