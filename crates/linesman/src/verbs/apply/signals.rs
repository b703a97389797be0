//! Ctrl-C and SIGTERM roll the change back. A terminal that hangs up does not: the change itself may have cut the
//! session, and the probes decide about that.

use std::io::IsTerminal;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::output;

/// Turns true when somebody wants to stop. What came of it is said when it is known.
pub fn stop() -> watch::Receiver<bool> {
    let (stopper, stop) = watch::channel(false);
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return stop;
    };
    tokio::task::spawn_local(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                _ = hangup.recv() => {}
            }
        }
        // Below what a terminal shows of the key.
        let below = if std::io::stderr().is_terminal() { "\n" } else { "" };
        output::error(format!("{below}linesman: interrupted; stopping"));
        stopper.send_replace(true);
        // Kept so that the receivers do not see the channel close.
        std::future::pending::<()>().await;
    });
    stop
}
