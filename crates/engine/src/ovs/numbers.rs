//! OpenFlow port numbers: whose is which, and how a port is asked to keep its own.
//!
//! Open vSwitch gives a row that is made anew another number, unless it requests one. A request that changes while the port
//! is there moves it, and whoever has the number without a request gives way.

use std::collections::BTreeMap;

use linesman_core::facts::UplinkFact;
use linesman_core::plan::Uplink;
use linesman_ovsdb as ovsdb;

use super::keys::{InterfaceKeys, OvsKeys};
use super::plan::set_ofport;
use super::{FOLLOWS, connect, followed, read_keys};

/// The ports that lead outside, with their numbers; none where the database cannot be read.
pub async fn uplinks() -> Vec<UplinkFact> {
    read_keys().await.map(|keys| uplinks_of(&keys)).unwrap_or_default()
}

fn uplinks_of(keys: &OvsKeys) -> Vec<UplinkFact> {
    let mut all = Vec::new();
    for (bridge, row) in &keys.bridges {
        let ports = row.row.members.iter().filter_map(|port| Some((keys.ports.get(port)?, port)));
        for (port, _) in ports {
            for interface in &port.members {
                let Some(row) = keys.interfaces.get(interface).filter(|row| row.leads_outside()) else {
                    continue;
                };
                all.extend(row.wanted().map(|ofport| UplinkFact {
                    bridge: bridge.clone(),
                    interface: interface.clone(),
                    ofport,
                    managed: row.row.is_networkmanagers(),
                }));
            }
        }
    }
    all
}

/// Gives uplinks whose rows are new the numbers that they keep or take over. What somebody requested stays.
pub async fn renumber(uplinks: &[Uplink]) -> Result<(), ovsdb::Error> {
    if uplinks.is_empty() {
        return Ok(());
    }
    let (mut db, now) = connect().await?;
    let due = uplinks.iter().filter_map(|uplink| {
        let row = now.interfaces.get(uplink.interface.as_str())?;
        let wrong = row.ofport_request.is_none() && row.number() != uplink.ofport;
        uplink.ofport.filter(|_| wrong).map(|ofport| set_ofport(&uplink.interface, Some(ofport.into())))
    });
    db.apply(&due.collect::<Vec<_>>()).await.map(drop)
}

/// Makes every uplink request the number that it has, unless somebody requested one. Returns the numbers that were asked for,
/// by interface, and what did not come out as planned.
pub async fn request(uplinks: &[Uplink]) -> Result<(BTreeMap<String, u16>, Vec<String>), ovsdb::Error> {
    // A port that was moved a moment ago may not have its number yet.
    followed(FOLLOWS).await?;
    let (mut db, now) = connect().await?;
    let rows =
        uplinks.iter().filter_map(|uplink| Some((uplink, now.interfaces.get(uplink.interface.as_str())?)));
    let rows: Vec<(&Uplink, &InterfaceKeys)> = rows.collect();
    let silent = rows.iter().filter(|(_, row)| row.ofport_request.is_none());
    let ops =
        silent.filter_map(|(uplink, row)| Some(set_ofport(&uplink.interface, Some(row.number()?.into()))));
    db.apply(&ops.collect::<Vec<_>>()).await?;
    let numbers = rows.iter().filter_map(|(uplink, row)| Some((uplink.interface.to_string(), row.wanted()?)));
    Ok((numbers.collect(), rows.iter().filter_map(|(uplink, row)| renumbered(uplink, row)).collect()))
}

fn renumbered(Uplink { bridge, interface, ofport }: &Uplink, row: &InterfaceKeys) -> Option<String> {
    let (wanted, now) = ((*ofport)?, row.number()?);
    (wanted != now).then(|| {
        format!("{interface} has the OpenFlow port number {now} in {bridge}, not {wanted}: flows that match on it stop working")
    })
}

impl InterfaceKeys {
    /// The number that it has. `LOCAL` and other reserved ones cannot be requested.
    pub(super) fn number(&self) -> Option<u16> {
        self.ofport.and_then(requestable)
    }

    /// The number that somebody requested, else the one that it has.
    pub(super) fn wanted(&self) -> Option<u16> {
        self.ofport_request.or(self.ofport).and_then(requestable)
    }

    fn leads_outside(&self) -> bool {
        let kind = self.row.columns.get("type").and_then(|kind| kind.as_str());
        matches!(kind, Some("" | "system" | "dpdk"))
    }
}

fn requestable(number: i64) -> Option<u16> {
    u16::try_from(number).ok().filter(|number| (1..0xff00).contains(number))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::keys::{BridgeKeys, RowKeys};
    use super::*;

    fn interface(kind: &str, ofport: i64, ofport_request: Option<i64>) -> InterfaceKeys {
        let columns = BTreeMap::from([("type".to_owned(), json!(kind))]);
        let row = RowKeys { columns, ..RowKeys::default() };
        InterfaceKeys { row, ofport: Some(ofport), ofport_request }
    }

    fn keys(interfaces: &[(&str, InterfaceKeys)]) -> OvsKeys {
        let members: BTreeSet<String> = interfaces.iter().map(|(name, _)| (*name).to_owned()).collect();
        let port = |name: &String| RowKeys { members: [name.clone()].into(), ..RowKeys::default() };
        let ports = members.iter().map(|name| (name.clone(), port(name))).collect();
        let bridge = BridgeKeys { row: RowKeys { members, ..RowKeys::default() }, ..BridgeKeys::default() };
        OvsKeys {
            bridges: [("br-ex".to_owned(), bridge)].into(),
            ports,
            interfaces: interfaces.iter().map(|(name, keys)| ((*name).to_owned(), keys.clone())).collect(),
            ..OvsKeys::default()
        }
    }

    #[test]
    fn only_ports_that_lead_outside_and_have_a_number_are_uplinks() {
        let keys = keys(&[
            ("br-ex", interface("internal", 65534, None)),
            ("eth0", interface("", 5, None)),
            ("eth1", interface("system", -1, None)),
            ("eth2", interface("dpdk", 6, Some(9))),
            ("patch0", interface("patch", 7, None)),
        ]);
        let found: Vec<(String, u16)> =
            uplinks_of(&keys).into_iter().map(|uplink| (uplink.interface, uplink.ofport)).collect();
        assert_eq!(found, [("eth0".to_owned(), 5), ("eth2".to_owned(), 9)], "what is requested counts");
    }

    #[test]
    fn a_number_that_did_not_come_is_reported() {
        let uplink = |ofport| Uplink { bridge: "br-ex".into(), interface: "eth0".into(), ofport };
        let row = interface("", 7, Some(5));
        assert!(
            renumbered(&uplink(Some(5)), &row).is_some_and(|note| note.contains("number 7 in br-ex, not 5"))
        );
        assert_eq!(renumbered(&uplink(Some(7)), &row), None);
        assert_eq!(renumbered(&uplink(None), &row), None, "it had none before");
    }
}
