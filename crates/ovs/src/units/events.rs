//! Signals of systemd: a unit may have changed.

use std::pin::Pin;
use std::time::Duration;

use futures_util::stream::{SelectAll, select_all};
use futures_util::{Stream, StreamExt};
use zbus::{MatchRule, MessageStream, message};

use super::observe::Systemd;

/// A start is a dozen signals.
const COALESCE: Duration = Duration::from_millis(50);
const QUEUE: usize = 64;

type Signals = Pin<Box<dyn Stream<Item = zbus::Result<zbus::Message>>>>;

/// Of the units that the keeper looks at, and of unit files.
pub struct Events {
    signals: SelectAll<Signals>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

impl Events {
    pub async fn subscribe(systemd: &Systemd) -> zbus::Result<Self> {
        let rule = || MatchRule::builder().msg_type(message::Type::Signal).sender("org.freedesktop.systemd1");
        let mut rules = Vec::new();
        for (_, path) in systemd.paths().await? {
            let changed =
                rule()?.interface("org.freedesktop.DBus.Properties")?.member("PropertiesChanged")?;
            rules.push(changed.path(path)?.build());
        }
        for member in ["UnitFilesChanged", "Reloading"] {
            rules.push(rule()?.interface("org.freedesktop.systemd1.Manager")?.member(member)?.build());
        }
        let mut streams: Vec<Signals> = Vec::new();
        for rule in rules {
            let stream = MessageStream::for_match_rule(rule, &systemd.connection, Some(QUEUE)).await?;
            streams.push(Box::pin(stream));
        }
        Ok(Self { signals: select_all(streams) })
    }

    /// Something may have changed. False: the connection is gone.
    pub async fn changed(&mut self) -> bool {
        if !matches!(self.signals.next().await, Some(Ok(_))) {
            return false;
        }
        let rest = async { while let Some(Ok(_)) = self.signals.next().await {} };
        tokio::time::timeout(COALESCE, rest).await.ok();
        true
    }
}
