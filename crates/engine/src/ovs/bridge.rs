//! One bridge as ovs-vswitchd has it, with its ports.

use std::collections::BTreeMap;

use linesman_core::doctor::br_ex::{OvsBridge, OvsInterface, OvsPort};
use linesman_ovsdb as ovsdb;

use super::table::select;
use super::{LIMIT, Ovsdb, Row, SOCKET, Table};

/// None: there is no such bridge.
pub async fn bridge(name: &str) -> Result<Option<OvsBridge>, ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let tables = [Table::Interface, Table::Port, Table::Bridge];
    // One transaction, so that they fit each other.
    let answers = db.transact(&tables.map(|table| select(table, &[]))).await?;
    let rows = |at: usize| Ovsdb::rows(tables[at], answers.get(at));
    let mut interfaces = BTreeMap::new();
    for row in rows(0) {
        interfaces.insert(row.uuid()?, interface(&row)?);
    }
    let mut ports = BTreeMap::new();
    for row in rows(1) {
        let members = row.references("interfaces")?;
        let members = members.iter().filter_map(|uuid| interfaces.get(uuid)).cloned().collect();
        ports.insert(row.uuid()?, OvsPort { name: row.text("name")?, interfaces: members });
    }
    for row in rows(2) {
        if row.text("name")? == name {
            return of(&row, &ports).map(Some);
        }
    }
    Ok(None)
}

fn of(row: &Row, ports: &BTreeMap<String, OvsPort>) -> Result<OvsBridge, ovsdb::Error> {
    let is_set = |column: &str| row.raw(column).and_then(serde_json::Value::as_bool) == Some(true);
    let mut own: Vec<OvsPort> =
        row.references("ports")?.iter().filter_map(|uuid| ports.get(uuid)).cloned().collect();
    own.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(OvsBridge {
        fail_mode: row.optional_text("fail_mode")?,
        stp: is_set("stp_enable"),
        rstp: is_set("rstp_enable"),
        ports: own,
    })
}

fn interface(row: &Row) -> Result<OvsInterface, ovsdb::Error> {
    Ok(OvsInterface {
        name: row.text("name")?,
        kind: row.text("type")?,
        ofport: row.optional_integer("ofport")?,
        error: row.optional_text("error")?.filter(|error| !error.is_empty()),
    })
}
