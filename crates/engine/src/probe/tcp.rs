use std::net::SocketAddr;

use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};

use super::{
    race::first_success,
    resolve::resolve,
    run::{Finding, Trouble},
};

pub(super) async fn check(host: &str, port: u16, deadline: Instant) -> Finding {
    reachable(host, port, deadline).await.map(|_| None).map_err(Trouble::Failed)
}

/// The address of the host that answers first.
pub(super) async fn reachable(host: &str, port: u16, deadline: Instant) -> Result<SocketAddr, String> {
    let addresses = resolve(host, port, deadline).await?;
    first_success(addresses.into_iter().map(|address| connect(address, deadline))).await
}

async fn connect(address: SocketAddr, deadline: Instant) -> Result<SocketAddr, String> {
    match timeout_at(deadline, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Ok(address),
        Ok(Err(error)) => Err(format!("{address}: {error}")),
        Err(_) => Err(format!("{address} does not answer")),
    }
}
