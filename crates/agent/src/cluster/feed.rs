//! A watch that is read all the time, also while a change is made: what came meanwhile is there at once.

use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub struct Feed<T> {
    items: mpsc::UnboundedReceiver<T>,
    reader: JoinHandle<()>,
}

impl<T: 'static> Feed<T> {
    pub fn read(stream: impl Stream<Item = T> + 'static) -> Self {
        let (send, items) = mpsc::unbounded_channel();
        let reader = tokio::task::spawn_local(async move {
            let mut stream = std::pin::pin!(stream);
            while let Some(item) = stream.next().await {
                if send.send(item).is_err() {
                    return;
                }
            }
        });
        Self { items, reader }
    }

    /// Waits for the next one, for ever if there will be none. Cancel safe.
    pub async fn next(&mut self) -> T {
        match self.items.recv().await {
            Some(item) => item,
            None => std::future::pending().await,
        }
    }

    /// The next one, if it is here already.
    pub fn next_now(&mut self) -> Option<T> {
        self.items.try_recv().ok()
    }
}

impl<T> Drop for Feed<T> {
    fn drop(&mut self) {
        self.reader.abort();
    }
}
