//! A host as it is declared: how to recognise it, what it is for, what its network looks like.

use std::collections::BTreeMap;

use linesman_core::codes::day1::{BAD_HOST_NAME, BAD_ROLE};
use linesman_core::codes::{BAD_MAC, MISSING_FIELD};
use linesman_core::mac_address::MacAddress;
use linesman_core::state::{interfaces, text};

use crate::configuration::Configuration;
use crate::cursor::Cursor;
use crate::fault::{Fault, OrNote};
use crate::host_file::CLUSTER_WIDE;
use crate::host_name::{BadHostName, HostName};
use crate::place::{Place, Written};

#[derive(Debug, Clone)]
pub struct Host {
    /// A host without a name is known by its MAC addresses.
    pub name: Option<Written<HostName>>,
    pub macs: Vec<Written<MacAddress>>,
    /// What the document calls NICs whose MAC addresses are declared.
    pub nics: BTreeMap<String, MacAddress>,
    pub role: Option<Written<String>>,
    pub network: Network,
    pub place: Place,
}

#[derive(Debug, Clone)]
pub enum Network {
    Missing,
    /// It is there, and was complained about.
    Unreadable,
    Declared(Box<Configuration>),
}

impl Network {
    pub fn read(cursor: Option<Cursor<'_>>, faults: &mut Vec<Fault>) -> Self {
        let Some(cursor) = cursor else { return Self::Missing };
        match Configuration::read(&cursor) {
            Ok(configuration) => Self::Declared(Box::new(configuration)),
            Err(found) => {
                faults.extend(found);
                Self::Unreadable
            }
        }
    }

    pub fn configuration(&self) -> Option<&Configuration> {
        match self {
            Self::Declared(configuration) => Some(configuration),
            Self::Missing | Self::Unreadable => None,
        }
    }
}

/// What files say of a host, each under keys of its own.
#[derive(Debug)]
pub struct Fields<'a> {
    pub name: Option<Cursor<'a>>,
    pub macs: Vec<Cursor<'a>>,
    pub nics: BTreeMap<String, MacAddress>,
    /// What to do if it has neither.
    pub hint: &'static str,
}

impl Host {
    pub fn read(item: &Cursor<'_>, fields: &Fields<'_>, network: Network, faults: &mut Vec<Fault>) -> Self {
        if fields.name.is_none() && fields.macs.is_empty() {
            let message = "this host has neither a name nor MAC addresses";
            faults.push(item.place().fault(MISSING_FIELD, message, fields.hint));
        }
        Self {
            name: fields.name.as_ref().and_then(|name| host_name(name).or_note(faults)),
            macs: fields.macs.iter().filter_map(|mac| mac_address(mac).or_note(faults)).collect(),
            nics: fields.nics.clone(),
            role: item.get("role").and_then(|written| role(&written).or_note(faults)),
            network,
            place: item.place(),
        }
    }

    /// How people call it in messages.
    pub fn title(&self) -> String {
        self.name.as_ref().map_or_else(|| self.stem(), |name| name.value.to_string())
    }

    /// The name of its file, without the extension. A host looks for its short name.
    pub fn stem(&self) -> String {
        match (&self.name, self.macs.first()) {
            // What is called `cluster` is for every host.
            (Some(name), _) if name.value.short() == CLUSTER_WIDE => name.value.to_string(),
            (Some(name), _) => name.value.short().to_owned(),
            (None, Some(mac)) => {
                format!("mac-{}", mac.value.to_string().replace(':', "").to_lowercase())
            }
            (None, None) => "unnamed".to_owned(),
        }
    }

    /// All MAC addresses that only this host has: those listed, and those by which its document finds NICs.
    pub fn own_macs(&self) -> Vec<MacAddress> {
        let listed = self.macs.iter().map(|mac| mac.value.clone());
        let state = self.network.configuration().map(Configuration::state);
        let found_by = state.into_iter().flat_map(interfaces).filter_map(|interface| {
            text(interface, "identifier").filter(|identifier| *identifier == "mac-address")?;
            text(interface, "mac-address")?.parse().ok()
        });
        let mut all: Vec<MacAddress> = listed.chain(found_by).collect();
        all.sort();
        all.dedup();
        all
    }
}

pub fn host_name(cursor: &Cursor<'_>) -> Result<Written<HostName>, Fault> {
    let text = cursor.as_text()?;
    named(text, cursor.place())
}

/// A name that is written, or that a file has.
pub fn named(text: &str, place: Place) -> Result<Written<HostName>, Fault> {
    match text.parse() {
        Ok(value) => Ok(Written { value, text: text.to_owned(), place }),
        Err(bad) => {
            let hint = match bad {
                BadHostName::Localhost(_) => "give the host a name of its own, or list its MAC addresses",
                _ => "use lower-case letters, digits and '-', with dots between the parts",
            };
            Err(place.fault(BAD_HOST_NAME, format!("not the name of a host: {bad}"), hint))
        }
    }
}

pub fn mac_address(cursor: &Cursor<'_>) -> Result<Written<MacAddress>, Fault> {
    let text = cursor.as_text()?;
    let hint = "write the six bytes of a NIC, like 52:54:00:12:34:56";
    let refuse = |why: &str| Err(cursor.place().fault(BAD_MAC, format!("'{text}' {why}"), hint));
    match text.parse::<MacAddress>() {
        Err(_) => refuse("is not a MAC address"),
        Ok(mac) if !mac.is_ethernet() && !mac.is_infiniband() => refuse("is not a MAC address"),
        Ok(mac) if mac.is_zero() => refuse("is all zeros"),
        Ok(mac) if mac.is_group() => refuse("is a multicast MAC address"),
        Ok(value) => Ok(Written { value, text: text.to_owned(), place: cursor.place() }),
    }
}

/// The name of a machine config pool, of which a role is the default.
pub fn role(cursor: &Cursor<'_>) -> Result<Written<String>, Fault> {
    let text = cursor.as_text()?;
    if is_role(text) {
        return Ok(Written { value: text.to_owned(), text: text.to_owned(), place: cursor.place() });
    }
    let hint = "use master, worker, arbiter, or the name of a machine config pool";
    Err(cursor.place().fault(BAD_ROLE, format!("'{text}' is not a role"), hint))
}

/// Control-plane hosts have the role master: a MachineConfig for `control-plane` would reach nobody.
pub fn is_role(text: &str) -> bool {
    let is_label = text.parse::<HostName>().is_ok() && !text.contains('.');
    is_label && !matches!(text, "control-plane" | "controlplane")
}
