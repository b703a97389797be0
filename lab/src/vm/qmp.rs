//! qemu's control socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::{Doing, Error, Result};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Qmp {
    stream: BufReader<UnixStream>,
    /// What was received of a line that is not complete yet.
    partial: Vec<u8>,
    events: Vec<Value>,
}

impl Qmp {
    pub(crate) fn over(stream: UnixStream) -> Result<Self> {
        let mut qmp = Self { stream: BufReader::new(stream), partial: vec![], events: vec![] };
        qmp.message(Instant::now() + PATIENCE)?;
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    pub(crate) fn execute(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let text = format!("{}\n", json!({ "execute": command, "arguments": arguments }));
        self.stream.get_mut().write_all(text.as_bytes()).doing(|| format!("send {command} to qemu"))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut message = self.message(deadline)?;
            if let Some(answer) = message.get_mut("return") {
                return Ok(answer.take());
            }
            if let Some(error) = message.get("error") {
                return Err(Error::refused(format!("qemu refuses {command}: {}", error["desc"])));
            }
            self.events.push(message);
        }
    }

    /// Forgets what happened before: `wait_for` then sees only what a later command brings about.
    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    pub(crate) fn wait_for(&mut self, event: &str, key: &str, value: &str, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        let wanted = |message: &Value| message["event"] == event && message["data"][key] == value;
        while !self.events.iter().any(wanted) {
            let message = self.message(deadline)?;
            self.events.push(message);
        }
        Ok(())
    }

    /// A migration, to its end.
    pub(crate) fn wait_migrated(&mut self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            let state = self.execute("query-migrate", json!({}))?;
            match state["status"].as_str() {
                Some("completed") => return Ok(()),
                Some("failed" | "cancelled") => {
                    let why = state["error-desc"].as_str().unwrap_or("see its log");
                    return Err(Error::refused(format!("qemu could not save or restore a machine: {why}")));
                }
                _ if Instant::now() > deadline => {
                    return Err(Error::Waited {
                        what: "qemu to save or restore a machine".into(),
                        after: patience,
                    });
                }
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    fn message(&mut self, deadline: Instant) -> Result<Value> {
        let what = || "hear from qemu".to_owned();
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.stream.get_ref().set_read_timeout(Some(left)).doing(what)?;
        let count = self.stream.read_until(b'\n', &mut self.partial).doing(what)?;
        if count == 0 {
            return Err(Error::refused("qemu has ended"));
        }
        let line = std::mem::take(&mut self.partial);
        serde_json::from_slice(&line).map_err(std::io::Error::from).doing(what)
    }
}
