//! Open vSwitch's database on this host.

use std::path::Path;
use std::time::Duration;

use linesman_ovsdb::{Client, Condition, Membership, Mutation, Op, OpResult, Remote, Result};

use super::row::Row;
use super::table::{Table, select};

pub const DEFAULT_SOCKET: &str = "/run/openvswitch/db.sock";

const DATABASE: &str = "Open_vSwitch";
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection that lasts as long as it is needed. Nothing is monitored.
#[derive(Debug)]
pub struct Ovsdb(Client);

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
        let builder = Client::builder([Remote::unix(path.as_ref())], DATABASE);
        let builder = builder.membership(Membership::Unchecked).connect_timeout(limit).call_timeout(limit);
        builder.connect().await.map(Ovsdb)
    }

    pub async fn select_all(&mut self, table: Table, columns: &[&'static str]) -> Result<Vec<Row>> {
        let answers = self.transact(&[select(table, columns)]).await?;
        Ok(Self::rows(table, answers.first()))
    }

    /// Runs the operations as one transaction: all of them, or none.
    pub async fn transact(&mut self, ops: &[Op]) -> Result<Vec<OpResult>> {
        self.0.transact(ops).await
    }

    pub async fn apply(&mut self, ops: &[Op]) -> Result<Applied> {
        if ops.is_empty() {
            return Ok(Applied::default());
        }
        let counts = self.transact(ops).await?;
        Ok(met(&counts))
    }

    /// Raises `next_cfg` and returns it.
    pub async fn ask_to_follow(&mut self) -> Result<i64> {
        let ask = Op::mutate(Table::OpenVSwitch, Condition::all(), [Mutation::add("next_cfg", 1)]);
        let answers = self.transact(&[ask, select(Table::OpenVSwitch, &["next_cfg"])]).await?;
        Self::rows(Table::OpenVSwitch, answers.get(1)).first().map_or(Ok(0), |row| row.number("next_cfg"))
    }

    /// How far ovs-vswitchd has followed.
    pub async fn followed_to(&mut self) -> Result<i64> {
        let rows = self.select_all(Table::OpenVSwitch, &["cur_cfg"]).await?;
        rows.first().map_or(Ok(0), |row| row.number("cur_cfg"))
    }

    pub fn rows(table: Table, answer: Option<&OpResult>) -> Vec<Row> {
        let rows = answer.map(OpResult::rows).unwrap_or_default();
        rows.iter().map(|columns| Row { table, columns: columns.clone() }).collect()
    }
}

fn met(counts: &[OpResult]) -> Applied {
    let met =
        |answer: &&OpResult| answer.count().is_some_and(|count| count > 0) || answer.inserted().is_some();
    let changed = counts.iter().filter(met).count();
    Applied { changed, vanished: counts.len().saturating_sub(changed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_to_rows_that_vanished_are_counted() {
        assert_eq!(met(&[OpResult::Count(1), OpResult::Count(0)]), Applied { changed: 1, vanished: 1 });
    }

    #[tokio::test]
    async fn a_missing_server_is_reported_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let error = Ovsdb::connect(folder.path().join("db.sock")).await.unwrap_err().to_string();
        assert!(error.contains("db.sock") && error.contains("ovsdb-server"), "{error}");
    }
}
