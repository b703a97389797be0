//! Checkpoints of other programs. What somebody has not committed yet may be rolled back any moment: nothing is changed on top of it.

use std::time::{Duration, Instant};

use crate::nm::Nm;
use crate::watch::Watch;
use crate::{Error, Result};

/// How long NetworkManager may take to bring the devices back.
const LIMIT: Duration = Duration::from_secs(15);

pub async fn refuse(nm: &Nm) -> Result<()> {
    match nm.checkpoints().await?.into_iter().next() {
        Some(checkpoint) => Err(Error::ForeignCheckpoint { checkpoint }),
        None => Ok(()),
    }
}

/// As kubernetes-nmstate does; returns when the devices have come to rest.
///
/// Only under the host's lock and after recovery: none of ours is open then.
pub async fn roll_back(nm: &Nm) -> Result<()> {
    let open = nm.checkpoints().await?;
    if open.is_empty() {
        return Ok(());
    }
    // The last one first: the one before it may cover the same devices.
    for checkpoint in open.iter().rev() {
        tracing::warn!(checkpoint, "rolling back a NetworkManager checkpoint of another program");
        match nm.rollback(checkpoint).await {
            Ok(failed) => {
                for (device, why) in failed {
                    tracing::warn!(device, why, "the rollback of another program's checkpoint is incomplete");
                }
            }
            // Its owner was faster.
            Err(_) if !nm.checkpoints().await?.contains(checkpoint) => {}
            Err(e) => return Err(e),
        }
    }
    let watch = Watch::start(Some(nm)).await;
    let end = Instant::now() + LIMIT;
    while Instant::now() < end && nm.view().await?.devices.iter().any(|device| device.coming_up()) {
        watch.next().await;
    }
    Ok(())
}
