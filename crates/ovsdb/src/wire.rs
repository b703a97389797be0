//! A connection that carries messages, whatever it runs over.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

use crate::error::{Error, Result};
use crate::frame::Frames;
use crate::message::Message;
use crate::remote::Remote;
use crate::tls::{Tls, TlsError, server_name};

/// More than this unsent, and no further calls are taken.
const UNSENT: usize = 4 << 20;
const PIECE: usize = 64 << 10;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(crate) struct Wire {
    pub(crate) remote: Remote,
    reader: ReadHalf<Box<dyn Stream>>,
    writer: WriteHalf<Box<dyn Stream>>,
    frames: Frames,
    piece: Box<[u8]>,
    unsent: Vec<u8>,
    sent: usize,
    /// TLS keeps records back until it is told to send them.
    unflushed: bool,
    /// When the peer last sent a byte.
    pub(crate) heard: Instant,
}

impl Wire {
    /// With an established connection, and TLS on it where the remote asks for it.
    pub(crate) async fn open(
        remote: &Remote,
        tls: Option<&Arc<Tls>>,
        limit: Duration,
        max: usize,
    ) -> Result<Self> {
        match timeout(limit, stream(remote, tls)).await {
            Ok(stream) => Ok(Self::over(remote.clone(), stream?, max)),
            Err(_) => {
                Err(Error::NoAnswer { remote: remote.clone(), what: "the connection".to_owned(), limit })
            }
        }
    }

    fn over(remote: Remote, stream: Box<dyn Stream>, max: usize) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let piece = vec![0; PIECE].into_boxed_slice();
        Wire {
            remote,
            reader,
            writer,
            frames: Frames::new(max),
            piece,
            unsent: Vec::new(),
            sent: 0,
            unflushed: false,
            heard: Instant::now(),
        }
    }

    /// Goes out while [`Wire::next`] is awaited.
    pub(crate) fn send(&mut self, message: &Value) {
        self.unsent.drain(..self.sent);
        self.sent = 0;
        self.unsent.extend_from_slice(message.to_string().as_bytes());
    }

    pub(crate) fn has_room(&self) -> bool {
        self.unsent.len() - self.sent < UNSENT
    }

    /// The next message. Nothing is lost when it is dropped before it is ready.
    pub(crate) async fn next(&mut self) -> Result<Message> {
        loop {
            match self.frames.next_message() {
                Ok(Some(message)) => {
                    return Message::parse(message).map_err(|what| not_ovsdb(&self.remote, what));
                }
                Ok(None) => {}
                Err(error) => return Err(not_ovsdb(&self.remote, error.to_string())),
            }
            let due = self.unsent.get(self.sent..).unwrap_or_default();
            tokio::select! {
                written = pushed(&mut self.writer, due), if !due.is_empty() || self.unflushed => {
                    let written = written.map_err(|error| broken(&self.remote, error))?;
                    self.unflushed = written > 0;
                    self.sent += written;
                    if self.sent == self.unsent.len() {
                        self.sent = 0;
                        self.unsent = Vec::new();
                    }
                }
                read = self.reader.read(&mut self.piece) => {
                    let read = read.map_err(|error| broken(&self.remote, error))?;
                    if read == 0 {
                        return Err(broken(&self.remote, io::ErrorKind::UnexpectedEof.into()));
                    }
                    self.heard = Instant::now();
                    let bytes = self.piece.get(..read).unwrap_or_default();
                    self.frames.push(bytes).map_err(|error| not_ovsdb(&self.remote, error.to_string()))?;
                }
            }
        }
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Wire").field("remote", &self.remote).finish_non_exhaustive()
    }
}

/// Some of what is due, or, if nothing is, what TLS still keeps back. Nothing is lost when it is dropped.
async fn pushed(writer: &mut WriteHalf<Box<dyn Stream>>, due: &[u8]) -> io::Result<usize> {
    if due.is_empty() {
        writer.flush().await?;
        return Ok(0);
    }
    match writer.write(due).await? {
        0 => Err(io::ErrorKind::WriteZero.into()),
        written => Ok(written),
    }
}

async fn stream(remote: &Remote, tls: Option<&Arc<Tls>>) -> Result<Box<dyn Stream>> {
    let connect = |source: io::Error| Error::Connect { remote: remote.clone(), source: source.into() };
    Ok(match remote {
        Remote::Unix(path) => Box::new(UnixStream::connect(path).await.map_err(connect)?),
        Remote::Tcp(host, port) => Box::new(tcp(host, *port).await.map_err(connect)?),
        Remote::Ssl(host, port) => {
            let failed = |source| Error::Tls { remote: remote.clone(), source };
            let config = tls.ok_or(TlsError::NotConfigured).and_then(|tls| tls.config()).map_err(failed)?;
            let name = server_name(host).map_err(failed)?;
            let stream = tcp(host, *port).await.map_err(connect)?;
            let secure = TlsConnector::from(config).connect(name, stream).await;
            Box::new(secure.map_err(|error| failed(TlsError::Handshake(error.to_string())))?)
        }
    })
}

async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub(crate) fn broken(remote: &Remote, source: io::Error) -> Error {
    Error::Broken { remote: remote.clone(), source: source.into() }
}

pub(crate) fn not_ovsdb(remote: &Remote, what: String) -> Error {
    Error::NotOvsdb { remote: remote.clone(), what }
}
