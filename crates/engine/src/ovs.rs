//! Keys in Open vSwitch's database that NetworkManager neither knows nor keeps.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::ovsdb::{self, KeyPath, OvsKeys, Ovsdb, Scope};

/// Where nmstate, and everybody else, expects it.
pub const SOCKET: &str = "/run/openvswitch/db.sock";

const LIMIT: Duration = Duration::from_secs(5);

pub async fn running() -> bool {
    Path::new(SOCKET).exists() && Ovsdb::connect_within(SOCKET, Duration::from_secs(2)).await.is_ok()
}

pub async fn read_keys() -> Result<OvsKeys, ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    OvsKeys::read(&mut db).await
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
pub async fn restore(before: &OvsKeys, touched: &BTreeSet<String>) -> Result<(), ovsdb::Error> {
    let scope = Scope { names: touched.clone(), global: true };
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let now = OvsKeys::read(&mut db).await?;
    let ops = ovsdb::restore_plan(before, &now, &scope);
    if !ops.is_empty() {
        db.apply(&ops).await?;
    }
    Ok(())
}

/// How many bridges and ports NetworkManager made since the snapshot.
pub async fn made(before: &OvsKeys, touched: &BTreeSet<String>) -> Result<usize, ovsdb::Error> {
    Ok(ovsdb::remove_plan(before, &read_keys().await?, touched).len())
}

/// Takes away what NetworkManager made since the snapshot and could not remove itself.
pub async fn remove_made(before: &OvsKeys, touched: &BTreeSet<String>) -> Result<(), ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let now = OvsKeys::read(&mut db).await?;
    db.apply(&ovsdb::remove_plan(before, &now, touched)).await?;
    Ok(())
}

/// After a change: foreign keys on rows that were made anew come along.
pub async fn carry(
    before: &OvsKeys,
    touched: &BTreeSet<String>,
    declared: &BTreeSet<KeyPath>,
) -> Result<(), ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let now = OvsKeys::read(&mut db).await?;
    let ops = ovsdb::carry_plan(before, &now, touched, declared);
    if !ops.is_empty() {
        db.apply(&ops).await?;
    }
    Ok(())
}
