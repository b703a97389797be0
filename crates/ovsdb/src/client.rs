use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

use super::{
    Error, Result,
    frame::Frames,
    op::{Condition, Mutation, Op, Row, Table},
};

pub const DEFAULT_SOCKET: &str = "/run/openvswitch/db.sock";

const DATABASE: &str = "Open_vSwitch";
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to ovsdb-server over its unix socket. It speaks `transact` and answers the server's `echo`.
#[derive(Debug)]
pub struct Ovsdb {
    path: PathBuf,
    limit: Duration,
    /// Absent after a failure: an answer that was half read, or that comes too late, must not be taken for the next one.
    stream: Option<UnixStream>,
    frames: Frames,
    last_id: u64,
}

/// How many rows a list of changes met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applied {
    pub changed: usize,
    /// Operations whose row was no longer there.
    pub vanished: usize,
}

impl Ovsdb {
    pub async fn connect(path: impl AsRef<Path>) -> Result<Self> {
        Self::connect_within(path, PATIENCE).await
    }

    /// `limit` bounds the connection and, later, every single call.
    pub async fn connect_within(path: impl AsRef<Path>, limit: Duration) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let stream = match timeout(limit, UnixStream::connect(&path)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(source)) => return Err(Error::Connect { path, source }),
            Err(_) => return Err(Error::NoAnswer { path, limit }),
        };
        Ok(Self { path, limit, stream: Some(stream), frames: Frames::default(), last_id: 0 })
    }

    pub async fn select_all(&mut self, table: Table, columns: &[&'static str]) -> Result<Vec<Row>> {
        let answers = self.transact(&[Op::select(table, columns)]).await?;
        self.rows(table, answers.first())
    }

    /// Runs the operations as one transaction: all of them, or none.
    pub async fn transact(&mut self, ops: &[Op]) -> Result<Vec<Value>> {
        let mut stream = self.stream.take().ok_or_else(|| Error::GivenUp { path: self.path.clone() })?;
        let answer = match timeout(self.limit, self.call(&mut stream, ops)).await {
            Ok(answer) => answer?,
            Err(_) => return Err(Error::NoAnswer { path: self.path.clone(), limit: self.limit }),
        };
        self.stream = Some(stream);
        self.results(answer)
    }

    pub async fn apply(&mut self, ops: &[Op]) -> Result<Applied> {
        if ops.is_empty() {
            return Ok(Applied::default());
        }
        let counts = self.transact(ops).await?;
        let met = |answer: &Value| {
            answer.get("count").and_then(Value::as_u64).unwrap_or(0) > 0 || answer.get("uuid").is_some()
        };
        let changed = counts.iter().filter(|answer| met(answer)).count();
        Ok(Applied { changed, vanished: ops.len().saturating_sub(changed) })
    }

    /// Raises `next_cfg` and returns it.
    pub async fn ask_to_follow(&mut self) -> Result<i64> {
        let ask = Op::Mutate {
            table: Table::OpenVSwitch.as_str(),
            condition: Condition::all(),
            mutations: vec![Mutation::add_one("next_cfg")],
        };
        let answers = self.transact(&[ask, Op::select(Table::OpenVSwitch, &["next_cfg"])]).await?;
        self.rows(Table::OpenVSwitch, answers.get(1))?.first().map_or(Ok(0), |row| row.number("next_cfg"))
    }

    /// How far ovs-vswitchd has followed.
    pub async fn followed_to(&mut self) -> Result<i64> {
        let rows = self.select_all(Table::OpenVSwitch, &["cur_cfg"]).await?;
        rows.first().map_or(Ok(0), |row| row.number("cur_cfg"))
    }

    pub fn rows(&self, table: Table, answer: Option<&Value>) -> Result<Vec<Row>> {
        let rows = answer.and_then(|answer| answer.get("rows")).and_then(Value::as_array);
        let rows = rows.ok_or_else(|| self.not_ovsdb(format!("no rows for table {}", table.as_str())))?;
        let row = |row: &Value| Some(Row { table: table.as_str(), columns: row.as_object()?.clone() });
        let rows: Option<Vec<Row>> = rows.iter().map(row).collect();
        rows.ok_or_else(|| self.not_ovsdb(format!("a row of table {} is no object", table.as_str())))
    }

    async fn call(&mut self, stream: &mut UnixStream, ops: &[Op]) -> Result<Value> {
        self.last_id += 1;
        let id = json!(self.last_id);
        let mut params = vec![json!(DATABASE)];
        for op in ops {
            params.push(serde_json::to_value(op).map_err(|error| self.not_ovsdb(error.to_string()))?);
        }
        self.send(stream, &json!({"method": "transact", "params": params, "id": id})).await?;
        loop {
            let message = self.receive(stream).await?;
            if message.get("method").and_then(Value::as_str) == Some("echo") {
                let echo = json!({"result": message.get("params"), "error": null, "id": message.get("id")});
                self.send(stream, &echo).await?;
            } else if message.get("id") == Some(&id) {
                return Ok(message);
            }
        }
    }

    async fn send(&self, stream: &mut UnixStream, message: &Value) -> Result<()> {
        stream.write_all(message.to_string().as_bytes()).await.map_err(|source| self.broken(source))
    }

    async fn receive(&mut self, stream: &mut UnixStream) -> Result<Value> {
        let mut piece = vec![0; 16 << 10];
        loop {
            if let Some(message) = self.frames.next() {
                return serde_json::from_slice(&message).map_err(|error| self.not_ovsdb(error.to_string()));
            }
            let read = stream.read(&mut piece).await.map_err(|source| self.broken(source))?;
            if read == 0 {
                return Err(self.broken(io::ErrorKind::UnexpectedEof.into()));
            }
            self.frames.push(&piece[..read]).map_err(|_| self.not_ovsdb("an endless message".to_owned()))?;
        }
    }

    fn results(&self, answer: Value) -> Result<Vec<Value>> {
        refusal(&answer)?;
        let results = answer.get("result").and_then(Value::as_array);
        let results = results.ok_or_else(|| self.not_ovsdb("an answer without result".to_owned()))?;
        results.iter().try_for_each(refusal)?;
        Ok(results.clone())
    }

    fn broken(&self, source: io::Error) -> Error {
        Error::Broken { path: self.path.clone(), source }
    }

    fn not_ovsdb(&self, what: String) -> Error {
        Error::NotOvsdb { path: self.path.clone(), what }
    }
}

/// Both the whole answer and each operation's own result say `error` when they failed.
fn refusal(answer: &Value) -> Result<()> {
    match answer.get("error") {
        None | Some(Value::Null) => Ok(()),
        Some(error) => {
            let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let details = answer.get("details").map(|details| format!(" ({})", plain(details)));
            Err(Error::Refused { error: plain(error), details: details.unwrap_or_default() })
        }
    }
}

#[cfg(test)]
mod tests;
