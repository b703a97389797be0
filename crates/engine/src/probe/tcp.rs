use std::net::SocketAddr;

use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};

use super::{failure::ProbeFailure, race::first_success, resolve::resolve, run::Finding};

pub(super) async fn check(host: &str, port: u16, deadline: Instant) -> Finding {
    reachable(host, port, deadline).await?;
    Ok(None)
}

/// The address of the host that answers first.
pub(super) async fn reachable(host: &str, port: u16, deadline: Instant) -> Result<SocketAddr, ProbeFailure> {
    let addresses = resolve(host, port, deadline).await?;
    first_success(addresses.into_iter().map(|address| connect(address, deadline))).await
}

async fn connect(address: SocketAddr, deadline: Instant) -> Result<SocketAddr, ProbeFailure> {
    match timeout_at(deadline, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Ok(address),
        Ok(Err(source)) => Err(ProbeFailure::Io { peer: address.to_string(), source }),
        Err(_) => Err(ProbeFailure::NoAnswer { peer: address.to_string() }),
    }
}
