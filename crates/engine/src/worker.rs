//! The worker process: the only one that lets nmstate change something.
//!
//! A thread cannot be stopped, and an apply that goes on after a rollback leaves its remains. A process
//! can: kill it, reap it, then roll back. It also gives its memory back.

use std::process::Stdio;
use std::time::Duration;

use nmstate::{ErrorKind, NetworkState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::{Error, Result, failpoint};

/// The hidden verb by which the binary becomes a worker.
pub const VERB: &str = "apply-worker";

/// How long a worker that was killed may take to be gone; shorter than NetworkManager's own timer.
const REAP: Duration = Duration::from_secs(3);

#[derive(Debug, Serialize, Deserialize)]
struct WorkerRequest {
    desired: Value,
    /// Until NetworkManager rolls back by itself; the parent keeps winding it.
    dead_man: u32,
    override_interface: bool,
    memory_only: bool,
    /// By nmstate: it waits nowhere else for virtual functions that a document makes and uses.
    #[serde(default)]
    verify: bool,
    parent: u32,
}

/// How nmstate's part of the change ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WorkerReply {
    pub error: Option<String>,
    /// The document itself was refused, before a checkpoint was made.
    pub refused: bool,
    pub peak_kib: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyOptions {
    pub override_interface: bool,
    pub memory_only: bool,
}

/// The living worker, seen from its parent. Dropping it kills it.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    /// What it has replied so far.
    reply: Vec<u8>,
}

impl Worker {
    pub async fn start(
        desired: &Value,
        dead_man: Duration,
        options: ApplyOptions,
        verify: bool,
        arguments: &[String],
    ) -> Result<Self> {
        let failed = |e: std::io::Error| Error::call("starting the worker", e);
        let request = WorkerRequest {
            desired: desired.clone(),
            dead_man: u32::try_from(dead_man.as_secs()).unwrap_or(u32::MAX),
            override_interface: options.override_interface,
            memory_only: options.memory_only,
            verify,
            parent: std::process::id(),
        };
        // /proc/self/exe, not the path: an upgrade may have replaced the file under us.
        let mut child = Command::new("/proc/self/exe")
            .arg0("linesman")
            .arg(VERB)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            // What a terminal says to its foreground (Ctrl-C, a hang-up) is for the parent to decide on.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let mut stdin =
            child.stdin.take().ok_or_else(|| Error::call("starting the worker", "no standard input"))?;
        let request = serde_json::to_vec(&request).map_err(|e| failed(e.into()))?;
        stdin.write_all(&request).await.map_err(failed)?;
        drop(stdin);
        Ok(Self { child, reply: Vec::new() })
    }

    /// Waits for its reply. Safe to abandon and call again.
    pub async fn reply(&mut self) -> WorkerReply {
        if let Some(stdout) = self.child.stdout.as_mut() {
            while matches!(stdout.read_buf(&mut self.reply).await, Ok(read) if read > 0) {}
        }
        let status = self.child.wait().await;
        serde_json::from_slice(&self.reply).unwrap_or_else(|_| WorkerReply {
            error: Some(format!(
                "the worker process ended without a reply ({})",
                status.map_or_else(|e| e.to_string(), |s| s.to_string())
            )),
            refused: false,
            peak_kib: 0,
        })
    }

    /// Ends it, unless it has ended, and waits until it is gone: only then can a rollback be trusted. Returns its
    /// number if it is not gone in time: a process in uninterruptible sleep dies when the kernel lets it go, which may
    /// be never, and the host must not stay cut off until then.
    pub async fn kill(mut self) -> Option<u32> {
        let process = self.child.id()?;
        self.child.start_kill().ok();
        let gone = tokio::time::timeout(REAP, self.child.wait()).await;
        gone.is_err().then_some(process)
    }
}

/// The worker's own main function.
pub async fn main() -> std::process::ExitCode {
    let mut text = Vec::new();
    if tokio::io::stdin().read_to_end(&mut text).await.is_err() {
        return std::process::ExitCode::FAILURE;
    }
    let Ok(request) = serde_json::from_slice::<WorkerRequest>(&text) else {
        eprintln!("linesman: {VERB} is for internal use only");
        return std::process::ExitCode::FAILURE;
    };
    if !die_with(request.parent) {
        return std::process::ExitCode::FAILURE;
    }
    // The parent outlives a hang-up, and so does its worker, whoever sends it.
    let _hangup = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
    failpoint::reach("worker-started").await;
    let reply = work(request).await;
    failpoint::reach("worker-done").await;
    println!("{}", serde_json::to_string(&reply).unwrap_or_default());
    std::process::ExitCode::SUCCESS
}

/// The kernel ends this process when its parent ends, however that happens.
fn die_with(parent: u32) -> bool {
    use nix::sys::{prctl, signal::Signal};
    prctl::set_pdeathsig(Signal::SIGKILL).is_ok()
        // It may have died before the line above.
        && u32::try_from(nix::unistd::getppid().as_raw()).is_ok_and(|p| p == parent)
}

async fn work(request: WorkerRequest) -> WorkerReply {
    let apply = move || -> Result<(), (String, bool)> {
        let mut state: NetworkState =
            serde_json::from_value(request.desired).map_err(|e| (e.to_string(), true))?;
        // nmstate's verification sleeps, and it winds the timer against us: ours replaces it, but where it is needed.
        state
            .set_verify_change(request.verify)
            .set_commit(false)
            .set_timeout(request.dead_man)
            .set_override_iface(request.override_interface)
            .set_memory_only(request.memory_only);
        state.apply().map_err(|e| (e.msg().to_string(), refused(e.kind())))
    };
    let result = tokio::task::spawn_blocking(apply).await.unwrap_or_else(|e| Err((e.to_string(), false)));
    let (error, refused) = match result {
        Ok(()) => (None, false),
        Err((message, refused)) => (Some(message), refused),
    };
    WorkerReply { error, refused, peak_kib: peak_kib() }
}

fn refused(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidArgument | ErrorKind::NotImplementedError | ErrorKind::NotSupportedError)
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reply_is_whole_though_waiting_for_it_was_abandoned() {
        let mut script = Command::new("sh");
        script.args(["-c", r#"printf '{"error":"first half '; read line; printf 'and second","refused":false,"peak-kib":0}'"#]);
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut worker = Worker { child, reply: Vec::new() };
        while worker.reply.is_empty() {
            tokio::time::timeout(Duration::from_millis(20), worker.reply()).await.unwrap_err();
        }
        stdin.write_all(b"\n").await.unwrap();
        assert_eq!(worker.reply().await.error.as_deref(), Some("first half and second"));
    }
}
