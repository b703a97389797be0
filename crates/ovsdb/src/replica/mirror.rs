//! The side of the replica that writes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::watch;

use super::update::{self, Changes, Malformed};
use super::{Replica, Rows, Snapshot, lock};
use crate::monitor::{Monitor, Plan};
use crate::row::Header;
use crate::schema::Schema;
use crate::value::Uuid;

#[derive(Debug)]
pub(crate) struct Mirror {
    monitor: Monitor,
    current: Arc<Mutex<Snapshot>>,
    generation: watch::Sender<u64>,
    schema: Arc<Schema>,
    headers: BTreeMap<Arc<str>, Arc<Header>>,
    /// Where to go on after a reconnect.
    last: Option<Uuid>,
}

impl Mirror {
    pub(crate) fn new(monitor: Monitor) -> Self {
        Mirror {
            monitor,
            current: Arc::default(),
            generation: watch::Sender::new(0),
            schema: Arc::default(),
            headers: BTreeMap::new(),
            last: None,
        }
    }

    pub(crate) fn replica(&self) -> Replica {
        Replica { current: self.current.clone(), generation: self.generation.subscribe() }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        lock(&self.current).clone()
    }

    /// Before a new monitor: what to ask for, and from which transaction on. Another schema means from the beginning.
    pub(crate) fn begin(&mut self, schema: Schema) -> (Value, Uuid) {
        let Plan { headers, request } = self.monitor.plan(&schema);
        if *self.schema != schema {
            self.last = None;
            self.schema = Arc::new(schema);
        }
        self.headers = headers;
        (Value::Object(request), self.last.unwrap_or(Uuid::ZERO))
    }

    /// All rows. The former ones are replaced in one step.
    pub(crate) fn replace(&mut self, updates: &Value, last: Option<Uuid>) -> Result<(), Malformed> {
        let empty =
            |(name, header): (&Arc<str>, &Arc<Header>)| (name.clone(), Arc::new(Rows::empty(header.clone())));
        let tables = self.headers.iter().map(empty).collect();
        let mut next = Snapshot { tables, ..Snapshot::default() };
        let changes = update::read(&self.schema, &next, updates)?;
        next.commit(changes);
        self.publish(last, |current| {
            current.tables = next.tables;
            current.resumed = false;
        });
        Ok(())
    }

    /// What changed while the connection was away.
    pub(crate) fn resume(&mut self, updates: &Value, last: Option<Uuid>) -> Result<(), Malformed> {
        let changes = self.read(updates)?;
        self.publish(last, |current| {
            current.commit(changes);
            current.resumed = true;
        });
        Ok(())
    }

    /// One transaction.
    pub(crate) fn update(&mut self, updates: &Value, last: Option<Uuid>) -> Result<(), Malformed> {
        let changes = self.read(updates)?;
        self.publish(last, |current| current.commit(changes));
        Ok(())
    }

    /// An update that cannot be read leaves no state to go on from.
    fn read(&mut self, updates: &Value) -> Result<Changes, Malformed> {
        let changes = update::read(&self.schema, &self.snapshot(), updates);
        if changes.is_err() {
            self.last = None;
        }
        changes
    }

    fn publish(&mut self, last: Option<Uuid>, change: impl FnOnce(&mut Snapshot)) {
        self.last = last.filter(|last| !last.is_zero());
        let mut current = lock(&self.current);
        change(&mut current);
        current.schema = Some(self.schema.clone());
        current.transaction = self.last;
        current.generation += 1;
        let generation = current.generation;
        drop(current);
        self.generation.send_replace(generation);
    }
}
