//! The journal's entries of the units on standard output: nothing is lost over a restart of the keeper, and nothing is there
//! twice.

mod entry;
mod journalctl;

use std::path::PathBuf;
use std::time::Duration;

use linesman_daemon::backoff::Backoff;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tracing::warn;

use crate::state_file::StateFile;
pub use entry::{JournalEntry, LogStyle};
use journalctl::{Journalctl, Start};

/// What is written before the position is stored.
const BATCH: usize = 64 * 1024;
/// So many attempts to go on from a position without a single entry mean that the journal does not know it.
const FRUITLESS: u32 = 3;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot run journalctl: {0}; install it, or start linesman with --no-logs")]
    Start(std::io::Error),
    #[error("cannot read from journalctl: {0}")]
    Read(std::io::Error),
    #[error("journalctl ended: {0}")]
    Ended(String),
    #[error("cannot write to standard output: {0}")]
    Write(std::io::Error),
}

/// The last entry that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub cursor: String,
    /// Of that entry, in microseconds since 1970: the way on if the journal no longer knows the cursor.
    pub realtime: u64,
}

#[derive(Clone, Debug)]
pub struct Config {
    pub state_dir: PathBuf,
    pub style: LogStyle,
}

/// Follows until it is told to stop; a batch that has begun is written to its end. Ends early only if nobody reads.
pub async fn run(config: Config, output: impl AsyncWrite + Unpin, mut stop: watch::Receiver<bool>) {
    let mut writer = Writer {
        style: config.style,
        output,
        file: StateFile::journal_position(&config.state_dir),
        position: None,
        unstored: false,
    };
    writer.position = writer.file.take();
    let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
    let mut fruitless = 0;
    loop {
        let before = writer.position.clone();
        let start = Start::after(before.as_ref(), fruitless >= FRUITLESS);
        let error = match follow(&start, &mut writer, &mut stop).await {
            Ok(()) => return,
            Err(error) => error,
        };
        if matches!(error, Error::Write(_)) {
            warn!("{error}; the logs of Open vSwitch are not shown any more");
            return;
        }
        if writer.position == before {
            fruitless += 1;
        } else {
            fruitless = 0;
            backoff.reset();
        }
        let pause = backoff.failed();
        warn!(again_in = format!("{} s", pause.as_secs()), "{error}; the logs of Open vSwitch are late");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stopped(&mut stop) => return,
        }
    }
}

/// Ok: told to stop.
async fn follow<W: AsyncWrite + Unpin>(
    start: &Start,
    writer: &mut Writer<W>,
    stop: &mut watch::Receiver<bool>,
) -> Result<(), Error> {
    let mut journalctl = Journalctl::start(start)?;
    loop {
        let entries = tokio::select! {
            entries = journalctl.entries(BATCH) => entries?,
            () = stopped(stop) => return Ok(()),
        };
        writer.write(&entries).await?;
    }
}

pub async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone has stopped as well.
    stop.wait_for(|stop| *stop).await.ok();
}

struct Writer<W> {
    style: LogStyle,
    output: W,
    file: StateFile,
    position: Option<Position>,
    /// The disk did not take the last position; said once.
    unstored: bool,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    /// The position follows the output at once: only whoever is killed between the two writes a batch again.
    async fn write(&mut self, entries: &[JournalEntry]) -> Result<(), Error> {
        let Some(last) = entries.last() else { return Ok(()) };
        let text: String = entries.iter().map(|entry| entry.write(self.style)).collect();
        self.output.write_all(text.as_bytes()).await.map_err(Error::Write)?;
        self.output.flush().await.map_err(Error::Write)?;
        let position = Position { cursor: last.cursor.clone(), realtime: last.realtime };
        match self.file.replace(&position) {
            Ok(()) => self.unstored = false,
            Err(error) if !self.unstored => {
                warn!("{error}; after a restart of linesman, entries are shown again");
                self.unstored = true;
            }
            Err(_) => {}
        }
        self.position = Some(position);
        Ok(())
    }
}
