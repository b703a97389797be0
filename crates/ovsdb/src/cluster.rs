//! Whether a server will do, by what its `_Server` database says.

use crate::error::Unsuitable;
use crate::monitor::{Monitor, TableMonitor};
use crate::replica::Snapshot;
use crate::row::Row;
use crate::schema::SchemaError;
use crate::status::{Member, Membership, Model};
use crate::value::Uuid;

pub(crate) const DATABASE: &str = "_Server";

/// How far a cluster has been seen to be; it outlives connections.
#[derive(Debug, Default)]
pub(crate) struct Seen(Option<(Option<Uuid>, i64)>);

pub(crate) fn monitor() -> Monitor {
    let columns = ["name", "model", "connected", "leader", "index", "cid", "sid"];
    Monitor::new().table(TableMonitor::new("Database").columns(columns))
}

/// None: it has no such database.
pub(crate) fn member(server: &Snapshot, database: &str) -> Result<Option<Member>, SchemaError> {
    server.table("Database").and_then(|rows| rows.named(database)).map(|(_, row)| read(row)).transpose()
}

fn read(row: &Row) -> Result<Member, SchemaError> {
    let model = match row.text("model")? {
        "clustered" => Model::Clustered,
        "relay" => Model::Relay,
        _ => Model::Standalone,
    };
    Ok(Member {
        model,
        connected: row.boolean("connected")?,
        leader: row.boolean("leader")?,
        index: row.optional_integer("index")?,
        cluster: row.optional_uuid("cid")?,
        server: row.optional_uuid("sid")?,
    })
}

impl Seen {
    pub(crate) fn judge(&mut self, member: &Member, membership: Membership) -> Result<(), Unsuitable> {
        match member.model {
            Model::Standalone => return Ok(()),
            Model::Relay | Model::Clustered if !member.connected => return Err(Unsuitable::Disconnected),
            Model::Clustered if membership == Membership::LeaderOnly && !member.leader => {
                return Err(Unsuitable::NotLeader);
            }
            Model::Relay | Model::Clustered => {}
        }
        let Some(index) = member.index else { return Ok(()) };
        match self.0 {
            Some((cluster, seen)) if cluster == member.cluster && index < seen => {
                Err(Unsuitable::Stale { index, seen })
            }
            _ => {
                self.0 = Some((member.cluster, index));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clustered(connected: bool, leader: bool, index: i64) -> Member {
        let cluster = Some(Uuid::from_bytes([1; 16]));
        Member { model: Model::Clustered, connected, leader, index: Some(index), cluster, server: None }
    }

    #[test]
    fn members_are_judged() {
        let mut seen = Seen::default();
        assert_eq!(seen.judge(&clustered(true, false, 7), Membership::Any), Ok(()));
        assert_eq!(
            seen.judge(&clustered(true, false, 9), Membership::LeaderOnly),
            Err(Unsuitable::NotLeader)
        );
        assert_eq!(seen.judge(&clustered(false, true, 9), Membership::Any), Err(Unsuitable::Disconnected));
        let stale = Unsuitable::Stale { index: 6, seen: 7 };
        assert_eq!(seen.judge(&clustered(true, true, 6), Membership::Any), Err(stale));
        assert_eq!(seen.judge(&clustered(true, true, 7), Membership::LeaderOnly), Ok(()));
        let other = Member { cluster: Some(Uuid::ZERO), ..clustered(true, true, 1) };
        assert_eq!(seen.judge(&other, Membership::Any), Ok(()), "another cluster counts for itself");
        let alone = Member { model: Model::Standalone, ..clustered(false, false, 0) };
        assert_eq!(seen.judge(&alone, Membership::LeaderOnly), Ok(()));
    }
}
