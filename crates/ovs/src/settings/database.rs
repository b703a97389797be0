//! The keys of the row of Open_vSwitch: read and written through the database's own transactions.

use std::time::Duration;

use linesman_ovsdb::{Client, Columns, Condition, Datum, Mutation, Op, Until};

use super::decide::Change;
use super::key::{Column, Target};
use super::observed::{Database, Keys};
use super::version::Version;

const TABLE: &str = "Open_vSwitch";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Ovsdb(#[from] linesman_ovsdb::Error),
    #[error("{0}")]
    Schema(#[from] linesman_ovsdb::SchemaError),
    #[error("the database has no row of {TABLE}")]
    NoRow,
}

/// The keys, and the version that ovs-vswitchd has written there.
pub async fn read(client: &Client) -> Result<(Database, Option<Version>), Error> {
    let columns = ["other_config", "external_ids", "ovs_version"];
    let schema = client.schema().await?;
    let results = client.transact(&[Op::select(TABLE, Condition::all(), columns)]).await?;
    let result = results.into_iter().next().ok_or(Error::NoRow)?;
    let row = result.decode(schema.table(TABLE)?)?.into_iter().next().ok_or(Error::NoRow)?;
    let keys = |column: Column| -> Result<Keys, Error> {
        let map = row.text_map(column.as_str())?;
        Ok(map.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    };
    let database =
        Database { other_config: keys(Column::OtherConfig)?, external_ids: keys(Column::ExternalIds)? };
    Ok((database, row.optional_text("ovs_version")?.and_then(Version::parse)))
}

/// All of a column's changes, or none if somebody else changed that column since it was read: then the next round decides again.
pub async fn write(client: &Client, seen: &Database, changes: &[&Change]) -> Result<(), Error> {
    let mut operations = Vec::new();
    for column in Column::ALL {
        operations.extend(of_column(column, seen, changes));
    }
    client.transact(&operations).await.map(drop).map_err(Error::from)
}

fn of_column(column: Column, seen: &Database, changes: &[&Change]) -> Vec<Op> {
    let mine: Vec<(&str, Option<&str>)> = changes
        .iter()
        .filter_map(|change| match &change.target {
            Target::Database { column: of, name } if *of == column => {
                Some((name.as_str(), change.to.as_deref()))
            }
            _ => None,
        })
        .collect();
    if mine.is_empty() {
        return Vec::new();
    }
    let name = column.as_str();
    let there = Datum::map(seen.column(column).iter().map(|(key, value)| (key.as_str(), value.as_str())));
    // An insertion leaves a key that exists as it is.
    let mut mutations = vec![Mutation::delete_keys(name, mine.iter().map(|(key, _)| *key))];
    let pairs: Vec<(&str, &str)> = mine.iter().filter_map(|(key, value)| Some((*key, (*value)?))).collect();
    if !pairs.is_empty() {
        mutations.push(Mutation::insert_keys(name, pairs));
    }
    let unchanged = Op::wait(
        TABLE,
        Condition::all(),
        [name],
        Until::Equal,
        [Columns::new().with(name, there)],
        Duration::ZERO,
    );
    vec![unchanged, Op::mutate(TABLE, Condition::all(), mutations)]
}
