//! A copy of the database in memory that follows it.

mod mirror;
mod update;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::row::{Header, Row};
use crate::schema::Schema;
use crate::value::Uuid;
pub(crate) use mirror::Mirror;

/// What [`crate::Builder::monitor`] asks for, kept up to date in the background.
#[derive(Debug, Clone)]
pub struct Replica {
    current: Arc<Mutex<Snapshot>>,
    generation: watch::Receiver<u64>,
}

impl Replica {
    /// The database as it was between two transactions. Cheap: it shares its rows with the replica.
    pub fn snapshot(&self) -> Snapshot {
        lock(&self.current).clone()
    }

    /// Waits for a change since the last call. Several changes may be reported as one; none is missed, so that this never
    /// makes the connection wait for its consumer.
    pub async fn changed(&mut self) -> Result<()> {
        self.generation.changed().await.map_err(|_| Error::Stopped)
    }

    /// Waits until the replica is as `wanted`, which is asked at once and after each change.
    pub async fn wait_for(&mut self, mut wanted: impl FnMut(&Snapshot) -> bool) -> Result<Snapshot> {
        loop {
            self.generation.borrow_and_update();
            let snapshot = self.snapshot();
            if wanted(&snapshot) {
                return Ok(snapshot);
            }
            self.changed().await?;
        }
    }
}

/// Poisoned it still is consistent: what is done under the lock does not fail half way.
fn lock(current: &Mutex<Snapshot>) -> MutexGuard<'_, Snapshot> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A consistent state of the monitored tables.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    tables: BTreeMap<Arc<str>, Arc<Rows>>,
    schema: Option<Arc<Schema>>,
    transaction: Option<Uuid>,
    generation: u64,
    resumed: bool,
}

impl Snapshot {
    /// None: nothing has been received yet.
    pub fn schema(&self) -> Option<&Arc<Schema>> {
        self.schema.as_ref()
    }

    /// None: this table is not monitored, or this server's schema does not have it.
    pub fn table(&self, name: &str) -> Option<&Rows> {
        self.tables.get(name).map(AsRef::as_ref)
    }

    pub fn tables(&self) -> impl Iterator<Item = (&str, &Rows)> {
        self.tables.iter().map(|(name, rows)| (name.as_ref(), rows.as_ref()))
    }

    /// Grows with each change.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The last transaction that is in it; none where the server does not number them.
    pub fn transaction(&self) -> Option<Uuid> {
        self.transaction
    }

    /// The connection that it came over began with what had changed meanwhile, not with all rows.
    pub fn resumed(&self) -> bool {
        self.resumed
    }
}

/// The rows of one table.
#[derive(Debug, Clone)]
pub struct Rows {
    header: Arc<Header>,
    rows: BTreeMap<Uuid, Arc<Row>>,
}

impl Rows {
    fn empty(header: Arc<Header>) -> Self {
        Rows { header, rows: BTreeMap::new() }
    }

    pub fn get(&self, uuid: Uuid) -> Option<&Arc<Row>> {
        self.rows.get(&uuid)
    }

    /// In the order of their UUIDs. A row that did not change is the same `Arc` as in earlier snapshots.
    pub fn iter(&self) -> impl Iterator<Item = (Uuid, &Arc<Row>)> {
        self.rows.iter().map(|(uuid, row)| (*uuid, row))
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The first row whose column `name` says so.
    pub fn named(&self, name: &str) -> Option<(Uuid, &Arc<Row>)> {
        self.iter().find(|(_, row)| row.text("name").is_ok_and(|own| own == name))
    }
}

#[cfg(test)]
mod tests;
