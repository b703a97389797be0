//! Whether ovs-vswitchd has made of an interface in the database a port of a real bridge.

use std::collections::BTreeMap;

use linesman_ovsdb as ovsdb;

use super::{LIMIT, Ovsdb, Row, SOCKET, Table};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// It has its OpenFlow port.
    Done,
    /// With the switch's own words, where it has any.
    Missing { error: Option<String> },
}

/// By name. Patch ports may wait for their other end, and are left out.
pub async fn attachments() -> Result<BTreeMap<String, Attachment>, ovsdb::Error> {
    let mut db = Ovsdb::connect_within(SOCKET, LIMIT).await?;
    let rows = db.select_all(Table::Interface, &["name", "type", "ofport", "error"]).await?;
    let mut all = BTreeMap::new();
    for row in rows {
        if row.text("type")? != "patch" {
            all.insert(row.text("name")?, attachment(&row)?);
        }
    }
    Ok(all)
}

fn attachment(row: &Row) -> Result<Attachment, ovsdb::Error> {
    // Empty until ovs-vswitchd has looked at it, and -1 where it failed.
    Ok(match row.optional_integer("ofport")? {
        Some(port) if port >= 0 => Attachment::Done,
        _ => Attachment::Missing { error: row.optional_text("error")? },
    })
}
