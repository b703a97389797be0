//! Between a client and a server: what the server says can be cut off.

use std::path::{Path, PathBuf};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::AbortHandle;

pub struct Proxy {
    pub socket: PathBuf,
    task: AbortHandle,
}

impl Proxy {
    /// The connections one after the other: how much of what the server says comes through before the connection is cut.
    /// Further ones are left alone.
    pub fn start(server: &Path, cuts: Vec<u64>) -> Self {
        let socket = server.with_file_name("proxy.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let server = server.to_owned();
        let mut cuts = cuts.into_iter();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, server.clone(), cuts.next().unwrap_or(u64::MAX)));
            }
        });
        Self { socket, task: task.abort_handle() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(client: UnixStream, server: PathBuf, cut: u64) {
    let Ok(server) = UnixStream::connect(server).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    let mut limited = from_server.take(cut);
    tokio::select! {
        _ = copy(&mut from_client, &mut to_server) => {}
        _ = copy(&mut limited, &mut to_client) => {}
    }
    let _ = to_client.shutdown().await;
}
