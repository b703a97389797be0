//! Manners towards systemd: ready, status, watchdog, reload, stop.

use sd_notify::NotifyState;

fn notify(states: &[NotifyState<'_>]) {
    if let Err(e) = sd_notify::notify(states) {
        tracing::debug!("systemd: {e}");
    }
}

pub fn ready() {
    notify(&[NotifyState::Ready]);
}

pub fn status(summary: &str) {
    notify(&[NotifyState::Status(summary)]);
}

pub fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// A sign of life twice as often as systemd asks for it, as long as this thread gets its turn.
pub fn watchdog() {
    let Some(interval) = sd_notify::watchdog_enabled() else { return };
    tokio::task::spawn_local(async move {
        let mut tick = tokio::time::interval(interval / 2);
        loop {
            tick.tick().await;
            notify(&[NotifyState::Watchdog]);
        }
    });
}
