//! The connection to systemd, made again when it breaks.

use std::future::pending;
use std::time::Duration;

use linesman_daemon::backoff::Backoff;

use crate::units::Finding;
use crate::units::events::Events;
use crate::units::observe::Systemd;
use crate::units::observed::ObservedUnit;

/// systemd answers within milliseconds, unless it is busy with a reload of all units.
const DEADLINE: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Systemd(#[from] zbus::Error),
    #[error("no answer within {} s", DEADLINE.as_secs())]
    Late,
}

#[derive(Debug)]
pub struct Connection {
    open: Option<(Systemd, Events)>,
    backoff: Backoff,
}

impl Default for Connection {
    fn default() -> Self {
        Self { open: None, backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(30)) }
    }
}

impl Connection {
    pub fn systemd(&self) -> Option<Systemd> {
        self.open.as_ref().map(|(systemd, _)| systemd.clone())
    }

    /// The units, and whether the host is shutting down.
    pub async fn units(&mut self) -> Result<(Vec<ObservedUnit>, bool), Error> {
        let read = tokio::time::timeout(DEADLINE, self.read()).await.map_err(|_| Error::Late)??;
        self.backoff.reset();
        Ok(read)
    }

    async fn read(&mut self) -> zbus::Result<(Vec<ObservedUnit>, bool)> {
        let systemd = match &self.open {
            Some((systemd, _)) => systemd.clone(),
            None => {
                let systemd = Systemd::connect().await?;
                // Before the first look, so that no change is missed in between.
                let events = Events::subscribe(&systemd).await?;
                self.open = Some((systemd.clone(), events));
                systemd
            }
        };
        Ok((systemd.units().await?, systemd.is_stopping().await?))
    }

    /// What to report, and in how many seconds to try again.
    pub fn failed(&mut self, error: &Error) -> (Finding, u64) {
        self.open = None;
        (Finding::SystemdUnreachable { error: error.to_string() }, self.backoff.failed().as_secs())
    }

    /// A unit may have changed, or the connection is gone.
    pub async fn changed(&mut self) {
        match &mut self.open {
            Some((_, events)) => {
                if !events.changed().await {
                    self.open = None;
                }
            }
            None => pending().await,
        }
    }
}
