//! One connection, from the first message to its end.

mod calls;
mod follow;
mod locks;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::client::Config;
use crate::cluster::Seen;
use crate::error::{Error, Result, Unsuitable};
use crate::lock::LockState;
use crate::message::{self, Message};
use crate::replica::Mirror;
use crate::status::{Member, State, Status};
use crate::wire::{Wire, not_ovsdb};
use calls::Calls;
pub(crate) use calls::{Call, refused};
use follow::Followed;
use locks::Ask;
pub(crate) use locks::Locks;

/// How soon calls that were given up are noticed.
const SWEEP: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::from_secs(3600);

/// What outlives a connection.
#[derive(Debug)]
pub(crate) struct Lasting {
    pub(crate) config: Config,
    pub(crate) calls: mpsc::Receiver<Call>,
    pub(crate) locks: Locks,
    pub(crate) replica: Option<Mirror>,
    pub(crate) seen: Seen,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) last_id: u64,
}

#[derive(Debug)]
pub(crate) struct Session<'a> {
    wire: Wire,
    lasting: &'a mut Lasting,
    calls: Calls,
    /// `_Server`; none where nothing is asked about it.
    server: Option<Mirror>,
    member: Option<Member>,
    /// The server ended the monitor: the database has another schema, or was replaced.
    canceled: bool,
    swept: Instant,
    /// When an echo was sent that nothing has come after.
    probed: Option<Instant>,
}

/// Every client is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unused;

impl<'a> Session<'a> {
    pub(crate) fn new(wire: Wire, lasting: &'a mut Lasting) -> Self {
        let calls = Calls::default();
        Session {
            wire,
            lasting,
            calls,
            server: None,
            member: None,
            canceled: false,
            swept: Instant::now(),
            probed: None,
        }
    }

    /// Until the server will do, and the replica is filled.
    pub(crate) async fn establish(&mut self) -> Result<()> {
        let limit = self.lasting.config.handshake_timeout;
        match timeout(limit, self.follow_all()).await {
            Ok(established) => established?,
            Err(_) => {
                let what = "the first questions".to_owned();
                return Err(Error::NoAnswer { remote: self.wire.remote.clone(), what, limit });
            }
        }
        let asks = self.lasting.locks.all();
        self.ask(asks);
        self.publish();
        Ok(())
    }

    /// Serves calls until the connection ends, which is an error, or nobody is left to serve.
    pub(crate) async fn serve(&mut self) -> Result<Unused> {
        loop {
            if self.canceled {
                self.canceled = false;
                self.follow_replica().await?;
                self.publish();
            }
            let room = self.calls.has_room() && self.wire.has_room();
            let due = self.next_tick();
            tokio::select! {
                message = self.wire.next() => self.receive(message?)?,
                call = self.lasting.calls.recv(), if room => match call {
                    Some(call) => self.take(call),
                    None => return Ok(Unused),
                },
                Some(request) = self.lasting.locks.next() => {
                    let asks = self.lasting.locks.take(request);
                    self.ask(asks);
                }
                () = sleep_until(due) => self.tick()?,
            }
        }
    }

    fn take(&mut self, Call { method, params, reply }: Call) {
        if !reply.is_closed() {
            let id = self.send(&method, &params);
            self.calls.call(id, method, reply);
        }
    }

    fn ask(&mut self, asks: Vec<Ask>) {
        for ask in asks {
            let id = self.send(ask.method, &json!([ask.lock]));
            self.lasting.locks.asked(&ask, id);
            self.calls.lock(id, ask.lock);
        }
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.lasting.last_id += 1;
        let id = self.lasting.last_id;
        self.wire.send(&message::request(method, params, &json!(id)));
        id
    }

    /// A call of the connection itself. Whatever arrives before its answer is received as always.
    async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, &params);
        loop {
            match self.wire.next().await? {
                Message::Answer { id: answered, result } if answered.as_u64() == Some(id) => {
                    return result.map_err(|error| refused(method, &error));
                }
                other => self.receive(other)?,
            }
        }
    }

    fn receive(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Request { method, params, id } if method == "echo" => {
                self.wire.send(&message::answer(&params, &id));
            }
            Message::Request { method, id, .. } => {
                self.wire
                    .send(&json!({"result": null, "error": format!("no method {method} here"), "id": id}));
            }
            Message::Notification { method, params } => self.notified(&method, &params)?,
            Message::Answer { id, result } => {
                let Some(id) = id.as_u64() else { return Ok(()) };
                if let Some(answer) = self.calls.answered(id, result) {
                    self.lasting.locks.answered(&answer.lock, id, &answer.answer);
                }
            }
        }
        Ok(())
    }

    fn notified(&mut self, method: &str, params: &Value) -> Result<()> {
        let lock = || params.get(0).and_then(Value::as_str).unwrap_or_default();
        match method {
            "update3" => self.updated(params.get(0), params.get(2), params.get(1)),
            "update2" => self.updated(params.get(0), params.get(1), None),
            "locked" => {
                self.lasting.locks.notified(lock(), LockState::Held);
                Ok(())
            }
            "stolen" => {
                self.lasting.locks.notified(lock(), LockState::Stolen);
                Ok(())
            }
            "monitor_canceled" => self.monitor_canceled(params.get(0)),
            _ => Ok(()),
        }
    }

    fn monitor_canceled(&mut self, id: Option<&Value>) -> Result<()> {
        match id.and_then(Followed::of) {
            Some(Followed::Replica) => {
                self.canceled = true;
                Ok(())
            }
            Some(Followed::Server) => {
                Err(not_ovsdb(&self.wire.remote, "the end of its own database".to_owned()))
            }
            None => Ok(()),
        }
    }

    fn unsuitable(&self, reason: Unsuitable) -> Error {
        Error::Unsuitable { remote: self.wire.remote.clone(), reason }
    }

    fn publish(&self) {
        let state = State::Connected { remote: self.wire.remote.clone(), member: self.member.clone() };
        self.lasting.status.send_if_modified(|status| {
            let changed = status.state != state || status.failures != 0;
            *status = Status { state, failures: 0, error: status.error.take() };
            changed
        });
    }

    fn next_tick(&self) -> Instant {
        let now = Instant::now();
        let sweep = if self.calls.is_empty() { now + IDLE } else { self.swept + SWEEP };
        match (self.lasting.config.probe_interval, self.probed) {
            (None, _) => sweep,
            (Some(interval), Some(probed)) => sweep.min(probed + interval),
            (Some(interval), None) => sweep.min(self.wire.heard + interval),
        }
    }

    fn tick(&mut self) -> Result<()> {
        self.swept = Instant::now();
        for id in self.calls.abandoned() {
            self.wire.send(&json!({"method": "cancel", "params": [id], "id": null}));
        }
        let Some(interval) = self.lasting.config.probe_interval else { return Ok(()) };
        let now = Instant::now();
        match self.probed {
            Some(probed) if self.wire.heard > probed => self.probed = None,
            Some(probed) if now >= probed + interval => {
                let silence = now - self.wire.heard;
                return Err(Error::Dead { remote: self.wire.remote.clone(), silence });
            }
            None if now >= self.wire.heard + interval => {
                self.wire.send(&message::request("echo", &json!([]), &json!("echo")));
                self.probed = Some(now);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.lasting.locks.disconnected();
    }
}
