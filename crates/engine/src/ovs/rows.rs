//! Rows of others that went with a bridge, made again. Pure.
//!
//! NetworkManager makes a bridge anew with its own ports only; a tunnel, a tap device or a pod's port that somebody else
//! put there is gone, and so are the bridge's controllers.

use std::collections::BTreeSet;

use linesman_core::interface_name::InterfaceName;
use linesman_ovsdb::{Condition, Op};
use serde_json::{Map, Value, json};

use super::keys::{BridgeKeys, OvsKeys, RowKeys};
use super::merge::is_foreign_port;
use super::plan::{is_kept_by_its_owner, kept_number, keys_of};
use super::table::{Column, Table, add_inserted, inserted};
use super::written::Written;

/// One thing to make again; each is a transaction of its own, so that one that is refused hinders no other.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// What people call it.
    pub what: String,
    pub repair: Repair,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Repair {
    Make(Vec<Op>),
    /// The device that was the port is gone with its owner: nothing to make, nothing to report.
    Departed,
    /// Not by us.
    Impossible(String),
}

/// Ports, controllers and bridges of others that `goal` has and that are not there `now`. `links` are the kernel's.
pub fn lost(
    goal: &OvsKeys,
    now: &OvsKeys,
    touched: &BTreeSet<InterfaceName>,
    links: &BTreeSet<String>,
) -> Vec<Lost> {
    let mut all = Vec::new();
    for (name, was) in goal.bridges.iter().filter(|(name, _)| touched.contains(name.as_str())) {
        match now.bridges.get(name) {
            Some(is) => {
                let ports = was
                    .row
                    .members
                    .iter()
                    .filter(|port| is_foreign_port(goal, port) && !is.row.members.contains(*port));
                all.extend(ports.map(|port| lost_port(goal, now, name, port, links)));
                all.extend(lost_dependents(name, was, is));
            }
            // NetworkManager makes its own.
            None if was.row.is_networkmanagers() => {}
            None => all.push(lost_bridge(goal, name, was, links)),
        }
    }
    all
}

/// The same after a change that was made: only what went with a bridge, and what the plan does not take away.
pub fn uncarried(
    before: &OvsKeys,
    now: &OvsKeys,
    touched: &BTreeSet<InterfaceName>,
    written: &Written,
    links: &BTreeSet<String>,
) -> Vec<Lost> {
    let mut all = Vec::new();
    for (name, was) in before.bridges.iter().filter(|(name, _)| touched.contains(name.as_str())) {
        let Some(is) = now.bridges.get(name).filter(|is| !is.row.is_same_row(&was.row)) else { continue };
        let ports = was.row.members.iter().filter(|port| {
            is_foreign_port(before, port) && !written.expels(port) && !now.ports.contains_key(*port)
        });
        all.extend(ports.map(|port| lost_port(before, now, name, port, links)));
        all.extend(lost_dependents(name, was, is));
    }
    all
}

/// Ports of others that `goal` has on these bridges.
pub fn foreign_ports(goal: &OvsKeys, touched: &BTreeSet<InterfaceName>) -> BTreeSet<String> {
    let bridges = goal.bridges.iter().filter(|(name, _)| touched.contains(name.as_str()));
    let ports = bridges.flat_map(|(_, bridge)| &bridge.row.members);
    ports.filter(|port| is_foreign_port(goal, port)).cloned().collect()
}

/// The names of a port's rows: its own and its interfaces'.
pub fn names_of(keys: &OvsKeys, port: &str) -> BTreeSet<InterfaceName> {
    let members = keys.ports.get(port).map(|row| row.members.clone()).unwrap_or_default();
    members.iter().map(String::as_str).chain([port]).map(InterfaceName::from).collect()
}

fn lost_port(goal: &OvsKeys, now: &OvsKeys, bridge: &str, port: &str, links: &BTreeSet<String>) -> Lost {
    let what = format!("port {port} of {bridge}");
    if let Some((other, _)) = now.bridges.iter().find(|(_, row)| row.row.members.contains(port)) {
        return Lost { what, repair: Repair::Impossible(format!("it is a port of {other} now")) };
    }
    if departed(goal, port, links) {
        return Lost { what, repair: Repair::Departed };
    }
    let mut ops = make_port(goal, port);
    let reference = add_inserted("ports", &label("port", port));
    ops.push(Op::mutate(Table::Bridge, Condition::named(bridge), [reference]));
    Lost { what, repair: Repair::Make(ops) }
}

/// Open vSwitch makes tunnels, internal ports and taps itself; a port of the type `system` is somebody's device.
fn departed(goal: &OvsKeys, port: &str, links: &BTreeSet<String>) -> bool {
    let Some(row) = goal.ports.get(port) else { return true };
    let is_device = |name: &String| {
        let kind = goal.interfaces.get(name).and_then(|i| i.row.columns.get("type")).and_then(Value::as_str);
        matches!(kind, Some("" | "system"))
    };
    row.members.iter().all(|name| is_device(name) && !links.contains(name))
}

fn make_port(goal: &OvsKeys, port: &str) -> Vec<Op> {
    let empty = RowKeys::default();
    let row = goal.ports.get(port).unwrap_or(&empty);
    let mut ops = Vec::new();
    for name in &row.members {
        let Some(interface) = goal.interfaces.get(name) else { continue };
        let mut columns = columns(name, &interface.row);
        if let Some(ofport) = kept_number(interface) {
            columns.insert("ofport_request".to_owned(), ofport.into());
        }
        ops.push(insert(Table::Interface, columns, label("interface", name)));
    }
    let mut columns = columns(port, row);
    let members: Vec<Value> = row.members.iter().map(|name| inserted(&label("interface", name))).collect();
    columns.insert("interfaces".to_owned(), json!(["set", members]));
    ops.push(insert(Table::Port, columns, label("port", port)));
    ops
}

fn lost_bridge(goal: &OvsKeys, name: &str, was: &BridgeKeys, links: &BTreeSet<String>) -> Lost {
    let ports: Vec<&String> = was.row.members.iter().filter(|port| !departed(goal, port, links)).collect();
    let mut ops: Vec<Op> = ports.iter().flat_map(|port| make_port(goal, port)).collect();
    let mut columns = columns(name, &was.row);
    let members: Vec<Value> = ports.iter().map(|port| inserted(&label("port", port))).collect();
    columns.insert("ports".to_owned(), json!(["set", members]));
    columns.insert("protocols".to_owned(), json!(["set", was.protocols]));
    for (number, dependent) in was.dependents.iter().enumerate() {
        ops.push(insert(dependent.table, dependent.row.clone(), format!("attached_{number}")));
        let entry = columns.entry(dependent.column.clone()).or_insert_with(|| json!(["set", []]));
        if let Some(members) = entry[1].as_array_mut() {
            members.push(inserted(&format!("attached_{number}")));
        }
    }
    ops.push(insert(Table::Bridge, columns, label("bridge", name)));
    let reference = add_inserted("bridges", &label("bridge", name));
    ops.push(Op::mutate(Table::OpenVSwitch, Condition::all(), [reference]));
    Lost { what: format!("bridge {name}"), repair: Repair::Make(ops) }
}

fn lost_dependents(bridge: &str, was: &BridgeKeys, is: &BridgeKeys) -> Vec<Lost> {
    let gone = was.dependents.iter().filter(|dependent| !is.dependents.contains(dependent));
    let mut all: Vec<Lost> = gone
        .map(|dependent| {
            let insertion = insert(dependent.table, dependent.row.clone(), "attached".to_owned());
            let reference = add_inserted(&dependent.column, "attached");
            let reference = Op::mutate(Table::Bridge, Condition::named(bridge), [reference]);
            let what = format!("{} of {bridge}", dependent.column);
            Lost { what, repair: Repair::Make(vec![insertion, reference]) }
        })
        .collect();
    all.extend(was.irreplaceable.difference(&is.irreplaceable).map(|column| Lost {
        what: format!("{column} of {bridge}"),
        repair: Repair::Impossible("they went with the bridge; their owner must set them again".to_owned()),
    }));
    all
}

fn insert(table: Table, row: Map<String, Value>, name: String) -> Op {
    Op::insert(table, row.into()).named(name)
}

fn columns(name: &str, row: &RowKeys) -> Map<String, Value> {
    // What ovn-controller reported about the former row does not hold for the new one.
    let pairs = |column| {
        let kept = keys_of(row, column).iter().filter(|(key, _)| !is_kept_by_its_owner(column, key));
        json!(["map", kept.map(|(key, value)| [key, value]).collect::<Vec<_>>()])
    };
    let mut columns: Map<String, Value> =
        row.columns.iter().map(|(column, value)| (column.clone(), value.clone())).collect();
    columns.insert("name".to_owned(), name.into());
    columns.insert("external_ids".to_owned(), pairs(Column::ExternalIds));
    columns.insert("other_config".to_owned(), pairs(Column::OtherConfig));
    columns
}

/// The names of insertions are identifiers; those of devices are not.
fn label(kind: &str, name: &str) -> String {
    let hex: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{kind}_{hex}")
}

#[cfg(test)]
mod tests;
