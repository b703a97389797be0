//! Signals to the agent.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// SIGTERM and SIGINT stop, SIGHUP reads everything again.
#[derive(Debug)]
pub struct Signals {
    stop: mpsc::Receiver<bool>,
}

impl Signals {
    pub fn listen() -> Self {
        let (send, stop) = mpsc::channel(4);
        for (kind, ends) in
            [(SignalKind::terminate(), true), (SignalKind::interrupt(), true), (SignalKind::hangup(), false)]
        {
            let send = send.clone();
            if let Ok(mut signals) = signal(kind) {
                tokio::task::spawn_local(async move {
                    while signals.recv().await.is_some() {
                        send.send(ends).await.ok();
                    }
                });
            }
        }
        Self { stop }
    }

    /// True: stop; false: read again.
    pub async fn received(&mut self) -> bool {
        match self.stop.recv().await {
            Some(ends) => ends,
            None => std::future::pending().await,
        }
    }
}
