//! How many labs on this machine may have running VMs at once: each VM keeps a core busy.

use std::time::Duration;

use crate::error::Result;
use crate::layer::create;
use crate::lock::{self, Lock};
use crate::places;

/// Waits for a free one; it is free again when the lab ends, however it ends.
pub(crate) fn take() -> Result<Lock> {
    let folder = places::vms();
    create(&folder)?;
    let seats = std::thread::available_parallelism().map_or(1, usize::from);
    loop {
        for seat in 0..seats {
            if let Some(taken) = lock::try_take(&folder.join(format!("seat{seat}.lock")))? {
                return Ok(taken);
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
