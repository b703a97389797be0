//! Commands on a VM for processes that do not own its lab.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use linesman_lab_guest::PORTS;

use super::guest::Guest;
use super::hardware::visitors_socket;
use crate::error::{Doing, Error, Result};
use crate::lock;

const PATIENCE: Duration = Duration::from_secs(10);

/// On the first line that nobody else uses; it is free again when this is dropped.
pub(crate) fn visit(folder: &Path, node: &str) -> Result<Arc<Guest>> {
    let directory = File::open(folder).doing_to("open", folder)?;
    for port in 1..PORTS {
        let Some(own) = lock::try_take(&folder.join(format!("visitor{port}.lock")))? else { continue };
        // Not by the folder's own path, which may be too long for a socket.
        let path = format!("/proc/self/fd/{}/{}", directory.as_raw_fd(), visitors_socket(port));
        let stream = UnixStream::connect(path).doing(|| format!("connect to node {node}"))?;
        let guest = Guest::over(stream)?.holding(own);
        if guest.wait_ready(None, PATIENCE) {
            return Ok(Arc::new(guest));
        }
        return Err(Error::Waited { what: format!("node {node} to answer"), after: PATIENCE });
    }
    Err(Error::refused(format!(
        "{} commands run on node {node} from other processes already: end one of them",
        PORTS - 1
    )))
}
