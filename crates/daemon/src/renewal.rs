//! Connections that are made anew on demand: an address that is gone takes those that began there with it, and nobody
//! says so.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::sync::watch;
use tower::Service;

/// Closes all connections of a client, so that the next request makes a new one.
#[derive(Clone, Debug, Default)]
pub struct Renewal(Arc<watch::Sender<()>>);

impl Renewal {
    pub fn renew(&self) {
        self.0.send_replace(());
    }

    /// Returns once the connections that are there now are closed.
    pub fn renewed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut renewals = self.0.subscribe();
        let known = self.0.clone();
        async move {
            // As long as `known` lives there is a sender.
            renewals.changed().await.ok();
            drop(known);
        }
    }
}

/// A connector whose connections end with the next renewal.
#[derive(Clone, Debug)]
pub(crate) struct RenewableConnector<C> {
    pub connector: C,
    pub renewal: Renewal,
}

type Renewed = Pin<Box<dyn Future<Output = ()> + Send>>;
type Connecting<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<C> Service<Uri> for RenewableConnector<C>
where
    C: Service<Uri, Future: Send + 'static>,
{
    type Response = RenewableConnection<C::Response>;
    type Error = C::Error;
    type Future = Connecting<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        // From before the connection is made: what is under way belongs to the old path.
        let renewed: Renewed = Box::pin(self.renewal.renewed());
        let connecting = self.connector.call(uri);
        Box::pin(
            async move { Ok(RenewableConnection { connection: connecting.await?, renewed: Some(renewed) }) },
        )
    }
}

pub(crate) struct RenewableConnection<T> {
    connection: T,
    /// None: it has ended.
    renewed: Option<Renewed>,
}

impl<T: Read + Unpin> Read for RenewableConnection<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // Somebody always reads, also while nothing is asked.
        if self.renewed.as_mut().is_none_or(|renewed| renewed.as_mut().poll(context).is_ready()) {
            self.renewed = None;
            let why = "the network of this host changed: the connection is made anew";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, why)));
        }
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<T: Write + Unpin> Write for RenewableConnection<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(context, bytes)
    }
}

impl<T: Connection> Connection for RenewableConnection<T> {
    fn connected(&self) -> Connected {
        self.connection.connected()
    }
}
