//! How many labs on this machine may have running VMs at once: each VM keeps a core busy.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::layer::create;
use crate::lock::{self, Lock};
use crate::places;

/// Longer than all tests on virtual machines take.
const PATIENCE: Duration = Duration::from_secs(3600);

const SILENCE: Duration = Duration::from_secs(2);

/// Waits for a free one; it is free again when the lab ends, however it ends.
pub(crate) fn take() -> Result<Lock> {
    let folder = places::vms();
    create(&folder)?;
    let seats = std::thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    let mut said = false;
    loop {
        for seat in 0..seats {
            if let Some(taken) = lock::try_take(&folder.join(format!("seat{seat}.lock")))? {
                return Ok(taken);
            }
        }
        if !said && start.elapsed() > SILENCE {
            eprintln!(
                "waiting until another lab ends: {seats} of them with virtual machines are running already"
            );
            said = true;
        }
        if start.elapsed() > PATIENCE {
            return Err(Error::Waited {
                what: "other labs to end their virtual machines".into(),
                after: PATIENCE,
            });
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
