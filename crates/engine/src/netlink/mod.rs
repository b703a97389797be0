//! The kernel's own view of the network, read and altered over rtnetlink, and watched for changes.

mod change;
mod events;
mod facts;
mod families;
mod kinds;
mod read;
mod routes;
mod rules;

use std::io;

pub use events::{Event, EventKind, LinkEvents};
pub use facts::{AddressFact, DefaultRoute, LinkFact, NextHop, NicFact};
pub use families::has_family;
pub use routes::RouteFact;
use rtnetlink::Handle;
pub use rules::RuleFact;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot open a netlink socket: {0}")]
    Open(#[source] io::Error),
    #[error("the kernel refused to {what}: {source}")]
    Refused { what: String, source: io::Error },
    #[error("the kernel's answer was not understood while trying to {what}: {source}")]
    Answer { what: String, source: rtnetlink::Error },
    #[error("there is no interface {name}")]
    NoInterface { name: String },
    #[error("the snapshot of the route to {destination} is damaged")]
    NotARoute { destination: String },
    #[error("the netlink socket broke: {0}")]
    Broken(#[source] io::Error),
}

impl Error {
    fn of(what: impl Into<String>, error: rtnetlink::Error) -> Self {
        match error {
            rtnetlink::Error::NetlinkError(message) => {
                Error::Refused { what: what.into(), source: message.to_io() }
            }
            other => Error::Answer { what: what.into(), source: other },
        }
    }

    fn errno(&self) -> Option<nix::errno::Errno> {
        match self {
            Error::Refused { source, .. } => source.raw_os_error().map(nix::errno::Errno::from_raw),
            _ => None,
        }
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// A connection for questions and changes, in the network namespace of the thread that opened it. Must be opened inside
/// a tokio runtime; it closes when the last clone goes.
#[derive(Debug, Clone)]
pub struct Netlink {
    handle: Handle,
}

impl Netlink {
    pub fn open() -> Result<Self> {
        let (connection, handle, _) = rtnetlink::new_connection().map_err(Error::Open)?;
        tokio::spawn(connection);
        Ok(Self { handle })
    }
}
