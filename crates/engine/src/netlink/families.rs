//! Generic netlink: what parts of the kernel can be talked to.

use std::io::ErrorKind;

use genetlink::{GenetlinkError, resolver::Resolver};
use rtnetlink::sys::TokioSocket;

use super::{Error, Result};

/// Whether the kernel has a family of that name; a module that brings it is loaded by the question.
pub async fn has_family(name: &'static str) -> Result<bool> {
    let (connection, handle, _) =
        genetlink::new_connection_with_socket::<TokioSocket>().map_err(Error::Open)?;
    let connection = tokio::spawn(connection);
    let answer = Resolver::new().query_family(&handle, name).await;
    connection.abort();
    match answer {
        Ok(_) => Ok(true),
        Err(GenetlinkError::NetlinkError(error)) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(GenetlinkError::NetlinkError(source)) => {
            Err(Error::Refused { what: format!("say whether it has {name}"), source })
        }
        Err(other) => Err(Error::Broken(std::io::Error::other(other))),
    }
}
