//! One process at a time follows the documents: the unit of the boot, the one for changed files, or somebody at a shell.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use tokio::sync::watch;

use super::Progress;
use crate::{Error, Result};

const PAUSE: Duration = Duration::from_millis(250);

/// The kernel lets go of it when the process ends, however it ends.
pub async fn wait(
    run_dir: &Path,
    stop: &mut watch::Receiver<bool>,
    say: &mut dyn FnMut(Progress),
) -> Result<Flock<File>> {
    let path = run_dir.join("first-boot.lock");
    let failed = |source| Error::StateFile { path: path.display().to_string(), source };
    fs::create_dir_all(run_dir).map_err(failed)?;
    let open = || File::options().create(true).truncate(false).write(true).open(&path).map_err(failed);
    let (mut file, mut is_said) = (open()?, false);
    loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((file, _)) => file,
        };
        if !std::mem::replace(&mut is_said, true) {
            say(Progress::Line("waiting for another 'linesman firstboot' to end".to_owned()));
        }
        if tokio::time::timeout(PAUSE, stop.wait_for(|stop| *stop)).await.is_ok() {
            return Err(linesman_engine::Error::Interrupted.into());
        }
    }
}
