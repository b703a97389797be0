//! How the rows of others must look after a rollback. Pure.
//!
//! Somebody else may have written into the database while the change was on. What the change wrote is put back, what
//! others wrote since the snapshot stays. A row that NetworkManager made anew lost what others had in it, and has it back.

use std::collections::{BTreeMap, BTreeSet};

use super::keys::{BridgeKeys, InterfaceKeys, OvsKeys, RowKeys};
use super::plan::{KeyPath, is_kept_by_its_owner, keys_of};
use super::table::{Column, Table};
use super::written::Written;

/// OVN keeps all of its mappings in one value.
pub const MAPPINGS: &str = "ovn-bridge-mappings";

/// `before` with what others wrote until `later`.
pub fn merge(before: &OvsKeys, later: &OvsKeys, written: &Written) -> OvsKeys {
    let row = |table, name: &str, was: &RowKeys, is: &RowKeys| merge_row(table, name, was, is, written);
    let mut merged =
        OvsKeys { global: row(Table::OpenVSwitch, "", &before.global, &later.global), ..before.clone() };
    for (name, is) in &later.bridges {
        match merged.bridges.get_mut(name) {
            Some(was) => merge_bridge(name, was, is, before, written),
            None if is.row.is_networkmanagers() => {}
            None => drop(merged.bridges.insert(name.clone(), is.clone())),
        }
    }
    for (name, is) in &later.ports {
        match merged.ports.get_mut(name) {
            Some(was) => *was = row(Table::Port, name, was, is),
            None if is.is_networkmanagers() => {}
            None => drop(merged.ports.insert(name.clone(), is.clone())),
        }
    }
    for (name, is) in &later.interfaces {
        match merged.interfaces.get_mut(name) {
            Some(was) => {
                let ofport =
                    if was.row.is_same_row(&is.row) { is.ofport_request } else { was.ofport_request };
                let row = row(Table::Interface, name, &was.row, &is.row);
                *was = InterfaceKeys { row, ofport_request: ofport, ofport: was.ofport };
            }
            None if is.row.is_networkmanagers() => {}
            None => drop(merged.interfaces.insert(name.clone(), is.clone())),
        }
    }
    merged
}

fn merge_bridge(name: &str, was: &mut BridgeKeys, is: &BridgeKeys, before: &OvsKeys, written: &Written) {
    let same = was.row.is_same_row(&is.row);
    let mut members = is.row.members.clone();
    // Who takes a port out of a bridge that stays is its owner, unless the plan says so.
    let lost = was.row.members.iter().filter(|port| !same || written.expels(port));
    members.extend(lost.filter(|port| is_foreign_port(before, port)).cloned());
    let row = RowKeys { members, ..merge_row(Table::Bridge, name, &was.row, &is.row, written) };
    *was = if same { BridgeKeys { row, ..is.clone() } } else { BridgeKeys { row, ..was.clone() } };
}

/// Made by somebody else than NetworkManager, as far as the database says.
pub(super) fn is_foreign_port(keys: &OvsKeys, port: &str) -> bool {
    let Some(row) = keys.ports.get(port) else { return false };
    let managed =
        |interface: &String| keys.interfaces.get(interface).is_some_and(|i| i.row.is_networkmanagers());
    !row.is_networkmanagers() && !row.members.iter().any(managed)
}

fn merge_row(table: Table, name: &str, was: &RowKeys, is: &RowKeys, written: &Written) -> RowKeys {
    let same = was.is_same_row(is);
    let column = |column| merge_keys(table, name, column, was, is, written);
    RowKeys {
        // Of the row that had all of this: one made anew has lost it at a later look, too, and nobody took it away.
        uuid: was.uuid.clone(),
        external_ids: column(Column::ExternalIds),
        other_config: column(Column::OtherConfig),
        // In a row of NetworkManager's they follow from its profile, which is the former one again.
        columns: if same && !is.is_networkmanagers() { is.columns.clone() } else { was.columns.clone() },
        members: if same { is.members.clone() } else { was.members.clone() },
    }
}

fn merge_keys(
    table: Table,
    name: &str,
    column: Column,
    was: &RowKeys,
    is: &RowKeys,
    written: &Written,
) -> BTreeMap<String, String> {
    let same = was.is_same_row(is);
    let (was, is) = (keys_of(was, column), keys_of(is, column));
    let all: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let merged = all.into_iter().filter_map(|key| {
        let path = KeyPath { table, row: name.to_owned(), column, key: key.clone() };
        let value = match (was.get(key), is.get(key)) {
            (_, is) if is_kept_by_its_owner(column, key) => is.cloned(),
            (was, is) if table == Table::OpenVSwitch && key == MAPPINGS => mappings(was, is, written),
            (Some(was), Some(is)) if written.sets(&path, is) => Some(was.clone()),
            (None, Some(is)) if written.sets(&path, is) => None,
            (Some(was), None) if !same || written.removes(&path) => Some(was.clone()),
            (_, is) => is.cloned(),
        };
        Some((key.clone(), value?))
    });
    merged.collect()
}

/// Entry by entry: each localnet has an owner of its own.
fn mappings(was: Option<&String>, is: Option<&String>, written: &Written) -> Option<String> {
    let entries = |text: Option<&String>| -> Vec<(String, String)> {
        let entries = text.map(String::as_str).unwrap_or_default().split(',');
        entries.filter_map(|entry| entry.split_once(':')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
    };
    let (had, has) = (entries(was), entries(is));
    let ours = had.iter().filter(|(localnet, _)| written.maps(localnet));
    let theirs = has.iter().filter(|(localnet, _)| !written.maps(localnet));
    let mut merged: Vec<&(String, String)> = ours.chain(theirs).collect();
    merged.sort();
    let mut sorted = had.iter().collect::<Vec<_>>();
    sorted.sort();
    if merged == sorted {
        // As it was written, whatever its order.
        return was.cloned();
    }
    let text: Vec<String> = merged.iter().map(|(localnet, bridge)| format!("{localnet}:{bridge}")).collect();
    (!text.is_empty()).then(|| text.join(","))
}

#[cfg(test)]
mod tests;
