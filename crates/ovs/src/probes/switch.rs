//! ovs-vswitchd's control socket. Its main loop answers there, so whoever answers forwards.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::{DEADLINE, Places, ProbeFailure, Running, state_of};
use crate::units::observed::Unit;

pub async fn probe(places: &Places, running: &Running) -> Result<(), ProbeFailure> {
    running.invocation(Unit::OvsVswitchd)?;
    let pidfile = places.run_dir.join("ovs-vswitchd.pid");
    let pid = std::fs::read_to_string(&pidfile).ok().and_then(|pid| pid.trim().parse::<u32>().ok());
    let pid = pid.ok_or_else(|| ProbeFailure::Refused(format!("no process ID in {}", pidfile.display())))?;
    let socket = places.run_dir.join(format!("ovs-vswitchd.{pid}.ctl"));
    match tokio::time::timeout(DEADLINE, call(&socket)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(ProbeFailure::Refused(format!("{}: {error}", socket.display()))),
        Err(_) => Err(ProbeFailure::Silent { state: state_of(&places.proc, pid) }),
    }
}

async fn call(socket: &std::path::Path) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket).await?;
    let request = json!({"id": 0, "method": "version", "params": []});
    stream.write_all(request.to_string().as_bytes()).await?;
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    while serde_json::from_slice::<Value>(&answer).is_err() {
        match stream.read(&mut part).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => answer.extend_from_slice(&part[..count]),
        }
    }
    Ok(())
}
