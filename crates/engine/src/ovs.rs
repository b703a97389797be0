//! What is in Open vSwitch's database that NetworkManager neither knows nor keeps: keys and ports of others.
//!
//! NetworkManager re-creates rows when it takes a port over, and its checkpoints do not cover what OVN, a CNI plugin or
//! an administrator wrote into them. [`OvsKeys`] remembers it; [`merge()`] says whose is what, [`restore_plan`],
//! [`carry_plan`] and `rows` bring it back.

mod attachment;
mod bridge;
mod database;
mod datapath;
mod keys;
mod merge;
mod numbers;
mod plan;
mod row;
mod rows;
mod table;
mod written;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use linesman_core::interface_name::InterfaceName;
use linesman_ovsdb::{self as ovsdb, Op};

pub use attachment::{Attachment, attachments};
pub use bridge::bridge;
pub use database::{Applied, DEFAULT_SOCKET, Ovsdb};
pub use datapath::{has_datapath, has_dpdk, has_kernel_datapath, kernel_bridges};
pub use keys::{BridgeKeys, InterfaceKeys, OvsKeys, RowKeys};
pub use merge::merge;
pub use numbers::{renumber, request, uplinks};
pub use plan::{KeyPath, Scope, carry_plan, missing_rows, remove_plan, restore_plan};
pub use row::Row;
use rows::{Lost, Repair};
pub use rows::{foreign_ports, names_of};
pub use table::{Column, Table};
pub use written::Written;

use crate::netlink::Netlink;

/// Where nmstate, and everybody else, expects it.
pub const SOCKET: &str = DEFAULT_SOCKET;

/// The key by which NetworkManager knows its own rows.
const NM_MARK: &str = "NM.connection.uuid";
const LIMIT: Duration = Duration::from_secs(5);
/// How long ovs-vswitchd may take to have done what the database says.
const FOLLOWS: Duration = Duration::from_secs(5);
/// NetworkManager may still be taking a port out of another bridge.
const ROUNDS: usize = 8;
const PAUSE: Duration = Duration::from_millis(250);

pub async fn running() -> bool {
    Path::new(SOCKET).exists() && Ovsdb::connect_within(SOCKET, Duration::from_secs(2)).await.is_ok()
}

pub async fn read_keys() -> Result<OvsKeys, ovsdb::Error> {
    Ok(connect().await?.1)
}

/// Bridges that NetworkManager did not make; none where the database cannot be read. It marks its own rows.
pub async fn bridges_of_others() -> BTreeSet<String> {
    let Ok(keys) = read_keys().await else { return BTreeSet::new() };
    let of_others =
        keys.bridges.into_iter().filter(|(_, bridge)| !bridge.row.external_ids.contains_key(NM_MARK));
    of_others.map(|(name, _)| name).collect()
}

/// The database, and the keys that are in it now.
async fn connect() -> Result<(Ovsdb, OvsKeys), ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let now = OvsKeys::read(&mut db).await?;
    Ok((db, now))
}

/// Whether ovs-vswitchd follows its database: it counts `cur_cfg` up to what `next_cfg` asks for.
///
/// One that hangs, or that has not found a restarted ovsdb-server again (it tries every eight seconds at
/// worst), would leave a change of a bridge half made.
pub async fn followed(limit: Duration) -> Result<bool, ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let asked = db.ask_to_follow().await?;
    let deadline = tokio::time::Instant::now() + limit;
    while db.followed_to().await? < asked {
        if tokio::time::Instant::now() > deadline {
            return Ok(false);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(true)
}

/// What is known about the rows of others when a change is rolled back.
#[derive(Debug)]
pub struct Others<'a> {
    pub before: &'a OvsKeys,
    /// Read when the rollback began: what others wrote while the change was on. None: the database did not answer.
    pub during: Option<OvsKeys>,
    pub touched: &'a BTreeSet<InterfaceName>,
    pub written: Written,
}

impl Others<'_> {
    /// Makes what is lost again and brings the keys back, until there is nothing to do. Returns what is not as it must
    /// be; an error: the database does not answer.
    pub async fn restore(&self) -> Result<Vec<String>, ovsdb::Error> {
        let mut left = Vec::new();
        for round in 0..ROUNDS {
            if round > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            left = self.attempt().await?;
            if left.is_empty() {
                break;
            }
        }
        Ok(left)
    }

    /// What this attempt had to do: done or not, only the next one sees it in place.
    async fn attempt(&self) -> Result<Vec<String>, ovsdb::Error> {
        let (mut db, now) = connect().await?;
        let goal = self.goal(&now);
        let mut due = Vec::new();
        for Lost { what, repair } in rows::lost(&goal, &now, self.touched, &links().await) {
            match repair {
                Repair::Departed => {}
                Repair::Impossible(why) => due.push(format!("{what}: {why}")),
                Repair::Make(ops) => match db.apply(&ops).await {
                    Ok(_) => due.push(what),
                    Err(refused) if refused.is_refusal() => due.push(format!("{what}: {refused}")),
                    Err(other) => return Err(other),
                },
            }
        }
        let scope = Scope { names: self.names(&goal), global: true };
        let ops = restore_plan(&goal, &now, &scope);
        match db.apply(&ops).await {
            Ok(_) if ops.is_empty() => {}
            Ok(_) => due.push("keys in the Open vSwitch database".to_string()),
            Err(refused) if refused.is_refusal() => {
                due.push(format!("keys in the Open vSwitch database: {refused}"));
            }
            Err(other) => return Err(other),
        }
        Ok(due)
    }

    fn goal(&self, now: &OvsKeys) -> OvsKeys {
        let during = self.during.as_ref().map(|during| merge(self.before, during, &self.written));
        merge(during.as_ref().unwrap_or(self.before), now, &self.written)
    }

    /// Ports of others on the touched bridges, then and since.
    pub fn ports(&self) -> BTreeSet<String> {
        let of = |keys: &OvsKeys| {
            let ports = foreign_ports(keys, self.touched);
            let names = ports.iter().flat_map(|port| names_of(keys, port));
            names.map(|name| name.to_string()).collect::<BTreeSet<_>>()
        };
        of(self.before).into_iter().chain(self.during.iter().flat_map(of)).collect()
    }

    fn names(&self, goal: &OvsKeys) -> BTreeSet<InterfaceName> {
        let ports = foreign_ports(goal, self.touched);
        let mut names: BTreeSet<_> = ports.iter().flat_map(|port| names_of(goal, port)).collect();
        names.extend(self.touched.iter().cloned());
        names
    }
}

async fn links() -> BTreeSet<String> {
    let Ok(netlink) = Netlink::open() else { return BTreeSet::new() };
    netlink.links().await.unwrap_or_default().into_iter().map(|link| link.name).collect()
}

/// How many bridges and ports NetworkManager made since the snapshot.
pub async fn made(before: &OvsKeys, touched: &BTreeSet<InterfaceName>) -> Result<usize, ovsdb::Error> {
    Ok(remove_plan(before, &read_keys().await?, touched).len())
}

/// Takes away what NetworkManager made since the snapshot and could not remove itself.
pub async fn remove_made(before: &OvsKeys, touched: &BTreeSet<InterfaceName>) -> Result<(), ovsdb::Error> {
    let (mut db, now) = connect().await?;
    db.apply(&remove_plan(before, &now, touched)).await.map(drop)
}

/// Takes ports from their bridges that NetworkManager does not know.
pub async fn remove_ports(names: &BTreeSet<String>) -> Result<(), ovsdb::Error> {
    let (mut db, now) = connect().await?;
    let release = |uuid: &str| {
        Op::mutate(Table::Bridge, table::refers("ports", uuid), [table::drop_reference("ports", uuid)])
    };
    let ports = names.iter().filter_map(|name| now.ports.get(name));
    db.apply(&ports.map(|port| release(&port.uuid)).collect::<Vec<_>>()).await?;
    Ok(())
}

/// After a change: keys and ports of others on rows that were made anew come along. Returns what did not.
pub async fn carry(
    before: &OvsKeys,
    touched: &BTreeSet<InterfaceName>,
    written: &Written,
) -> Result<Vec<String>, ovsdb::Error> {
    let (mut db, now) = connect().await?;
    db.apply(&carry_plan(before, &now, touched, written)).await?;
    let mut left = Vec::new();
    for Lost { what, repair } in rows::uncarried(before, &now, touched, written, &links().await) {
        match repair {
            Repair::Departed => {}
            Repair::Impossible(why) => left.push(format!("{what}: {why}")),
            Repair::Make(ops) => match db.apply(&ops).await {
                Ok(_) => {}
                Err(refused) if refused.is_refusal() => left.push(format!("{what}: {refused}")),
                Err(other) => return Err(other),
            },
        }
    }
    Ok(left)
}
