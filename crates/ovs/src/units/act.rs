//! Does what was decided, through systemd.

use std::fmt;
use std::time::Duration;

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::observe::Systemd;
use super::observed::Unit;

/// The units of Open vSwitch give themselves five minutes.
const JOB_LIMIT: Duration = Duration::from_secs(330);
const SIGKILL: i32 = 9;

/// Nothing else is ever done to a unit, and to no other unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Enable(Unit),
    Start(Unit),
    /// Kills a main process that hangs. The flows in the kernel stay, as they would not after an orderly stop; systemd starts
    /// the unit again, or else the keeper does.
    Kill(Unit),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enable(unit) => write!(f, "enable {unit}"),
            Self::Start(unit) => write!(f, "start {unit}"),
            Self::Kill(unit) => write!(f, "kill the main process of {unit}"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Systemd(#[from] zbus::Error),
    #[error("the job of systemd ended with `{0}`")]
    Job(String),
    #[error("systemd did not finish the job within {} s", JOB_LIMIT.as_secs())]
    Late,
    #[error("the connection to systemd broke")]
    Gone,
}

impl Action {
    pub async fn perform(self, systemd: &Systemd) -> Result<(), Error> {
        let manager = systemd.manager().await?;
        match self {
            Self::Enable(unit) => {
                manager.enable_unit_files(&[unit.name()], false, false).await?;
                manager.reload().await?;
            }
            Self::Kill(unit) => manager.kill_unit(unit.name(), "main", SIGKILL).await?,
            Self::Start(unit) => {
                // Whoever has failed too often is otherwise refused for a while; the keeper has a back-off of its own.
                manager.reset_failed_unit(unit.name()).await.ok();
                let mut removed = manager.receive_job_removed().await?;
                // `fail`: a job of somebody else, such as a stop, is not canceled.
                let job = manager.start_unit(unit.name(), "fail").await?;
                let result = async {
                    while let Some(signal) = removed.next().await {
                        let ended = signal.args()?;
                        if ended.job == *job {
                            return Ok(ended.result.to_owned());
                        }
                    }
                    Err(Error::Gone)
                };
                let result = tokio::time::timeout(JOB_LIMIT, result).await.map_err(|_| Error::Late)??;
                if result != "done" {
                    return Err(Error::Job(result));
                }
            }
        }
        Ok(())
    }
}
