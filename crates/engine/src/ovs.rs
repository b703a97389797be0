//! Keys in Open vSwitch's database that NetworkManager neither knows nor keeps.
//!
//! NetworkManager re-creates rows when it takes a port over, and its checkpoints do not cover what OVN, a CNI plugin or
//! an administrator wrote into them. [`OvsKeys`] remembers those keys; [`restore_plan`] and [`carry_plan`] bring them back.

mod keys;
mod plan;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use linesman_core::interface_name::InterfaceName;
use linesman_ovsdb::{self as ovsdb, Ovsdb};

pub use keys::{BridgeKeys, InterfaceKeys, OvsKeys, RowKeys};
pub use plan::{KeyPath, Scope, carry_plan, missing_rows, remove_plan, restore_plan};

/// Where nmstate, and everybody else, expects it.
pub const SOCKET: &str = ovsdb::DEFAULT_SOCKET;

const LIMIT: Duration = Duration::from_secs(5);

pub async fn running() -> bool {
    Path::new(SOCKET).exists() && Ovsdb::connect_within(SOCKET, Duration::from_secs(2)).await.is_ok()
}

pub async fn read_keys() -> Result<OvsKeys, ovsdb::Error> {
    Ok(connect().await?.1)
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

/// Brings the keys of the touched rows, and the global ones, back to the snapshot's.
pub async fn restore(before: &OvsKeys, touched: &BTreeSet<InterfaceName>) -> Result<(), ovsdb::Error> {
    let scope = Scope { names: touched.clone(), global: true };
    let (mut db, now) = connect().await?;
    db.apply(&restore_plan(before, &now, &scope)).await.map(drop)
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

/// After a change: foreign keys on rows that were made anew come along.
pub async fn carry(
    before: &OvsKeys,
    touched: &BTreeSet<InterfaceName>,
    declared: &BTreeSet<KeyPath>,
) -> Result<(), ovsdb::Error> {
    let (mut db, now) = connect().await?;
    db.apply(&carry_plan(before, &now, touched, declared)).await.map(drop)
}
