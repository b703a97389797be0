//! `journalctl` as a child process. It ends with the keeper: it watches its standard output, and it is killed when it is
//! dropped.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tracing::warn;

use super::entry::JournalEntry;
use super::{Error, Position};
use crate::units::observed::Unit;

const FIELDS: &str = "MESSAGE,PRIORITY,_PID,_COMM,_SYSTEMD_UNIT,UNIT,SYSLOG_IDENTIFIER";
/// What it may say on standard error before it ends.
const COMPLAINT: u64 = 4096;

/// Where to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the first entry since the host booted: nothing has been written before.
    Boot,
    After(String),
    /// In microseconds since 1970, for a cursor that the journal does not know.
    Since(u64),
}

impl Start {
    pub fn after(position: Option<&Position>, is_unknown: bool) -> Self {
        match position {
            None => Self::Boot,
            Some(position) if is_unknown => Self::Since(position.realtime + 1),
            Some(position) => Self::After(position.cursor.clone()),
        }
    }

    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Boot => vec!["--boot".into()],
            Self::After(cursor) => vec![format!("--after-cursor={cursor}")],
            Self::Since(time) => {
                vec![format!("--since=@{}.{:06}", time / 1_000_000, time % 1_000_000)]
            }
        }
    }
}

pub struct Journalctl {
    child: Child,
    lines: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Journalctl {
    pub fn start(start: &Start) -> Result<Self, Error> {
        let mut child = Command::new("journalctl")
            .args(["--follow", "--no-tail", "--all", "--quiet", "--output=json"])
            .arg(format!("--output-fields={FIELDS}"))
            .args(Unit::ALL.map(|unit| format!("--unit={}", unit.name())))
            .args(start.arguments())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(Error::Start)?;
        let stdout = child.stdout.take().ok_or_else(|| Error::Ended("it has no output".into()))?;
        Ok(Self { child, lines: BufReader::with_capacity(64 * 1024, stdout), line: Vec::new() })
    }

    /// Waits for one entry, and takes what else is there already. Nothing is lost if it is dropped while it waits.
    pub async fn entries(&mut self, limit: usize) -> Result<Vec<JournalEntry>, Error> {
        let (mut entries, mut bytes) = (Vec::new(), 0);
        loop {
            // Keeps what it has read if it is dropped.
            if self.lines.read_until(b'\n', &mut self.line).await.map_err(Error::Read)? == 0 {
                return Err(self.ended().await);
            }
            if self.line.ends_with(b"\n") {
                bytes += self.line.len();
                match JournalEntry::parse(&self.line) {
                    Ok(entry) => entries.push(entry),
                    Err(error) => warn!("{error}; it is not shown"),
                }
                self.line.clear();
            }
            let has_more = self.lines.buffer().contains(&b'\n');
            if !entries.is_empty() && (!has_more || bytes >= limit) {
                return Ok(entries);
            }
        }
    }

    async fn ended(&mut self) -> Error {
        let mut complaint = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            stderr.take(COMPLAINT).read_to_string(&mut complaint).await.ok();
        }
        let status =
            self.child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string());
        let complaint = complaint.trim().replace('\n', "; ");
        Error::Ended(if complaint.is_empty() { status } else { format!("{status}: {complaint}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_after_the_cursor_and_after_the_time_if_the_cursor_is_unknown() {
        let position = Position { cursor: "s=1;i=2".into(), realtime: 1_763_540_100_000_042 };
        assert_eq!(Start::after(None, true).arguments(), ["--boot"]);
        assert_eq!(Start::after(Some(&position), false).arguments(), ["--after-cursor=s=1;i=2"]);
        assert_eq!(Start::after(Some(&position), true).arguments(), ["--since=@1763540100.000043"]);
    }
}
