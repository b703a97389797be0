//! What to write into the database so that the keys of others are as they were. Pure.

use std::collections::{BTreeMap, BTreeSet};

use linesman_core::interface_name::InterfaceName;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use linesman_ovsdb::{Columns, Condition, Mutation, Op};

use super::keys::{InterfaceKeys, OvsKeys, RowKeys, is_empty};
use super::table::{Column, Table, drop_reference, refers};
use super::written::Written;

/// What a restoration may touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Names of bridges, ports and interfaces; a name means its row in each of the three tables.
    pub names: BTreeSet<InterfaceName>,
    /// The `Open_vSwitch` row too.
    pub global: bool,
}

/// One key of one row, as a document declares it. The row of `Open_vSwitch` has the empty name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeyPath {
    pub table: Table,
    pub row: String,
    pub column: Column,
    pub key: String,
}

pub(super) const NAMED: [Table; 3] = [Table::Bridge, Table::Port, Table::Interface];
pub(super) const COLUMNS: [Column; 2] = [Column::ExternalIds, Column::OtherConfig];

/// ovn-controller reports its progress in these. A value from before would claim flows that are not installed, and
/// taking a new one away would make it report again what it has done already.
const PROGRESS: [&str; 4] = ["ovn-installed", "ovn-nb-cfg", "ovn-startup-ts", "ct-zone-"];

/// Brings the rows in scope that exist then and now to what the snapshot holds; rows that are gone are made again
/// by [`super::rows`].
pub fn restore_plan(snapshot: &OvsKeys, now: &OvsKeys, scope: &Scope) -> Vec<Op> {
    let mut ops = vec![];
    if scope.global {
        ops.extend(restore_keys(Table::OpenVSwitch, "", &snapshot.global, &now.global));
    }
    for (table, name, was) in named_rows(snapshot, &scope.names) {
        if let Some(is) = now.row(table, name) {
            ops.extend(restore_keys(table, name, was, is));
            ops.extend(restore_columns(table, name, was, is));
        }
    }
    ops.extend(scope.names.iter().filter_map(|name| restore_ofport(snapshot, now, name)));
    ops.extend(scope.names.iter().filter_map(|name| restore_protocols(snapshot, now, name)));
    ops
}

/// Gives rows that a successful change made anew the keys that others had put into their predecessors. What is there
/// already, and what the document declares, stays as it is.
pub fn carry_plan(
    snapshot: &OvsKeys,
    now: &OvsKeys,
    touched: &BTreeSet<InterfaceName>,
    written: &Written,
) -> Vec<Op> {
    let mut ops = vec![];
    for (table, name, was) in named_rows(snapshot, touched) {
        if let Some(is) = now.row(table, name).filter(|is| is.uuid != was.uuid) {
            ops.extend(carry_keys(table, name, was, is, written));
            ops.extend(carry_columns(table, name, was, is));
        }
    }
    ops.extend(touched.iter().filter_map(|name| carry_ofport(snapshot, now, name)));
    ops.extend(touched.iter().filter_map(|name| carry_protocols(snapshot, now, name)));
    ops
}

/// Takes bridges and ports away that NetworkManager made since the snapshot. It removes them itself, unless the
/// database did not answer at that moment: it never tries again.
pub fn remove_plan(snapshot: &OvsKeys, now: &OvsKeys, names: &BTreeSet<InterfaceName>) -> Vec<Op> {
    let made = |table: Table| {
        let rows = now.rows(table).into_iter();
        rows.filter(move |(name, row)| {
            names.contains(*name) && snapshot.row(table, name).is_none() && row.is_networkmanagers()
        })
    };
    let drop = |parent: Table, column: &'static str, uuid: &str| {
        Op::mutate(parent, refers(column, uuid), [drop_reference(column, uuid)])
    };
    let bridges = made(Table::Bridge).map(|(_, row)| drop(Table::OpenVSwitch, "bridges", &row.uuid));
    let ports = made(Table::Port).map(|(_, row)| drop(Table::Bridge, "ports", &row.uuid));
    ports.chain(bridges).collect()
}

/// Rows of the snapshot that are gone: nothing can be restored into them until NetworkManager has made them again.
pub fn missing_rows(snapshot: &OvsKeys, now: &OvsKeys, scope: &Scope) -> Vec<(Table, String)> {
    let gone = |(table, name, _): &(Table, &str, &RowKeys)| now.row(*table, name).is_none();
    named_rows(snapshot, &scope.names).filter(gone).map(|(table, name, _)| (table, name.to_owned())).collect()
}

fn named_rows<'a>(
    snapshot: &'a OvsKeys,
    names: &'a BTreeSet<InterfaceName>,
) -> impl Iterator<Item = (Table, &'a str, &'a RowKeys)> {
    let rows = |table| snapshot.rows(table).into_iter().map(move |(name, keys)| (table, name, keys));
    NAMED.into_iter().flat_map(rows).filter(|(_, name, _)| names.contains(*name))
}

fn restore_keys(table: Table, name: &str, was: &RowKeys, is: &RowKeys) -> Option<Op> {
    let mutations = COLUMNS.iter().flat_map(|column| {
        let (was, is) = (foreign(*column, keys_of(was, *column)), foreign(*column, keys_of(is, *column)));
        let wrong = is.iter().filter(|(key, value)| was.get(*key) != Some(*value)).map(|(key, _)| *key);
        let due =
            was.iter().filter(|(key, value)| is.get(*key) != Some(*value)).map(|(key, value)| (*key, *value));
        let (wrong, due): (Vec<_>, Vec<_>) = (wrong.collect(), due.collect());
        let delete = (!wrong.is_empty()).then(|| Mutation::delete_keys(column.as_str(), wrong));
        let insert = (!due.is_empty()).then(|| Mutation::insert_keys(column.as_str(), due));
        delete.into_iter().chain(insert)
    });
    mutate(table, name, mutations.collect())
}

/// Columns that NetworkManager never writes.
const NOT_NETWORKMANAGERS: [&str; 13] = [
    "flood_vlans",
    "qos",
    "cvlans",
    "protected",
    "bond_fake_iface",
    "fake_bridge",
    "bfd",
    "lldp",
    "cfm_mpid",
    "ingress_policing_rate",
    "ingress_policing_burst",
    "ingress_policing_kpkts_rate",
    "ingress_policing_kpkts_burst",
];

fn restore_columns(table: Table, name: &str, was: &RowKeys, is: &RowKeys) -> Option<Op> {
    let differs = |column: &String, value: &Value| is.columns.get(column).is_some_and(|now| now != value);
    let due = was.columns.iter().filter(|(column, value)| differs(column, value));
    update_all(table, name, due.map(|(column, value)| (column.clone(), value.clone())).collect())
}

/// What NetworkManager writes follows from the document, or from what NMState found before.
fn carry_columns(table: Table, name: &str, was: &RowKeys, is: &RowKeys) -> Option<Op> {
    let lost = |column: &String, value: &Value| {
        NOT_NETWORKMANAGERS.contains(&column.as_str())
            && !is_empty(value)
            && is.columns.get(column).is_some_and(is_empty)
    };
    let lost = was.columns.iter().filter(|(column, value)| lost(column, value));
    update_all(table, name, lost.map(|(column, value)| (column.clone(), value.clone())).collect())
}

fn update_all(table: Table, name: &str, row: Map<String, Value>) -> Option<Op> {
    let condition = Condition::named(name);
    (!row.is_empty()).then(|| Op::update(table, condition, row.into()))
}

fn carry_keys(table: Table, name: &str, was: &RowKeys, is: &RowKeys, written: &Written) -> Option<Op> {
    let path = |column, key: &str| KeyPath { table, row: name.to_owned(), column, key: key.to_owned() };
    let mutations = COLUMNS.iter().filter_map(|column| {
        let present = keys_of(is, *column);
        let mut lost = foreign(*column, keys_of(was, *column));
        lost.retain(|key, _| !present.contains_key(*key) && !written.declares(&path(*column, key)));
        (!lost.is_empty()).then(|| Mutation::insert_keys(column.as_str(), lost))
    });
    mutate(table, name, mutations.collect())
}

fn mutate(table: Table, name: &str, mutations: Vec<Mutation>) -> Option<Op> {
    let condition = if table == Table::OpenVSwitch { Condition::all() } else { Condition::named(name) };
    (!mutations.is_empty()).then(|| Op::mutate(table, condition, mutations))
}

pub(super) fn keys_of(row: &RowKeys, column: Column) -> &BTreeMap<String, String> {
    match column {
        Column::ExternalIds => &row.external_ids,
        Column::OtherConfig => &row.other_config,
    }
}

fn foreign(column: Column, keys: &BTreeMap<String, String>) -> BTreeMap<&str, &str> {
    let pairs = keys.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    pairs.filter(|(key, _)| !is_kept_by_its_owner(column, key)).collect()
}

pub(super) fn is_kept_by_its_owner(column: Column, key: &str) -> bool {
    column == Column::ExternalIds
        && (key.starts_with("NM.") || PROGRESS.iter().any(|prefix| key.starts_with(prefix)))
}

fn restore_ofport(snapshot: &OvsKeys, now: &OvsKeys, name: &str) -> Option<Op> {
    let (was, is) = (snapshot.interfaces.get(name)?, now.interfaces.get(name)?);
    let wanted = if was.row.is_same_row(&is.row) { was.ofport_request } else { kept_number(was) };
    (wanted != is.ofport_request).then(|| set_ofport(name, wanted))
}

fn carry_ofport(snapshot: &OvsKeys, now: &OvsKeys, name: &str) -> Option<Op> {
    let (was, is) = (snapshot.interfaces.get(name)?, now.interfaces.get(name)?);
    // NetworkManager requests what the profile says, which may be less recent than what the row said.
    let lost = was.row.uuid != is.row.uuid && is.ofport_request != kept_number(was);
    kept_number(was).filter(|_| lost).map(|ofport| set_ofport(name, Some(ofport)))
}

/// A row that is made anew has another number, unless it requests the former one.
pub(super) fn kept_number(was: &InterfaceKeys) -> Option<i64> {
    was.ofport_request.or_else(|| was.number().map(i64::from))
}

fn restore_protocols(snapshot: &OvsKeys, now: &OvsKeys, name: &str) -> Option<Op> {
    let (was, is) = (snapshot.bridges.get(name)?, now.bridges.get(name)?);
    (was.protocols != is.protocols).then(|| set_protocols(name, &was.protocols))
}

fn carry_protocols(snapshot: &OvsKeys, now: &OvsKeys, name: &str) -> Option<Op> {
    let (was, is) = (snapshot.bridges.get(name)?, now.bridges.get(name)?);
    let lost = was.row.uuid != is.row.uuid && is.protocols.is_empty() && !was.protocols.is_empty();
    lost.then(|| set_protocols(name, &was.protocols))
}

pub(super) fn set_ofport(name: &str, ofport: Option<i64>) -> Op {
    update(Table::Interface, name, "ofport_request", json!(["set", Vec::from_iter(ofport)]))
}

fn set_protocols(name: &str, protocols: &BTreeSet<String>) -> Op {
    update(Table::Bridge, name, "protocols", json!(["set", protocols]))
}

fn update(table: Table, name: &str, column: &str, value: Value) -> Op {
    Op::update(table, Condition::named(name), Columns::new().with(column, value))
}

#[cfg(test)]
mod tests;
