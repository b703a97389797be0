//! How a host finds its document: by its name, short or full, or by the MAC address of a NIC, whatever the NIC is
//! called. The choice explains itself, since nobody was there to see it.

use std::fmt;

use linesman_core::mac_address::MacAddress;

use crate::host_name::{is_localhost, short};
use crate::index::{Index, IndexedHost};

/// What a host knows of itself at first boot.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    pub hostname: String,
    pub nics: Vec<Nic>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    pub name: String,
    /// The one burnt in, if the NIC has one: a bond gives its ports another.
    pub mac: MacAddress,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The document in this file.
    File { file: String, why: Match },
    /// No document is for this host.
    None { reason: String },
    /// Documents of several hosts match; applying either may be wrong.
    Ambiguous { reason: String },
}

/// Why a document was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// The files were made for this host alone.
    Assigned,
    FullName(String),
    /// One of the two names has no domain.
    ShortName {
        host: String,
        entry: String,
    },
    Mac {
        nic: String,
        mac: MacAddress,
    },
    /// Nothing is known for this host by name or MAC address.
    ClusterWide {
        reason: String,
    },
}

pub fn select(index: &Index, identity: &Identity) -> Choice {
    if let Some(file) = &index.assigned {
        return Choice::File { file: file.clone(), why: Match::Assigned };
    }
    let by_name = by_name(index, &identity.hostname);
    let by_mac = by_mac(index, &identity.nics);
    let mut matches: Vec<(&IndexedHost, Match)> = Vec::new();
    for (host, why) in by_name.into_iter().chain(by_mac) {
        if matches.iter().all(|(known, _)| known.file != host.file) {
            matches.push((host, why));
        }
    }
    match matches.as_slice() {
        [] => without_match(index, identity),
        [(host, why)] => Choice::File { file: host.file.clone(), why: why.clone() },
        several => {
            let all: Vec<String> =
                several.iter().map(|(host, why)| format!("{} ({why})", host.file)).collect();
            Choice::Ambiguous { reason: format!("several documents match this host: {}", all.join(", ")) }
        }
    }
}

/// A full name beats short ones: hosts of two domains may share those.
fn by_name<'a>(index: &'a Index, hostname: &str) -> Vec<(&'a IndexedHost, Match)> {
    let hostname = hostname.trim_end_matches('.').to_lowercase();
    if is_localhost(&hostname) {
        return Vec::new();
    }
    let named = || index.hosts.iter().filter_map(|host| Some((host, host.name.as_deref()?)));
    let full: Vec<_> = named()
        .filter(|(_, name)| *name == hostname)
        .map(|(host, name)| (host, Match::FullName(name.to_owned())))
        .collect();
    if !full.is_empty() {
        return full;
    }
    let lacks_domain = |name: &str| !name.contains('.');
    let same = named().filter(|(_, name)| {
        short(name) == short(&hostname) && (lacks_domain(name) || lacks_domain(&hostname))
    });
    same.map(|(host, name)| (host, Match::ShortName { host: hostname.clone(), entry: name.to_owned() }))
        .collect()
}

fn by_mac<'a>(index: &'a Index, nics: &[Nic]) -> Vec<(&'a IndexedHost, Match)> {
    let of_nic = |nic: &Nic| {
        let host = index.hosts.iter().find(|host| host.macs.contains(&nic.mac))?;
        Some((host, Match::Mac { nic: nic.name.clone(), mac: nic.mac.clone() }))
    };
    nics.iter().filter_map(of_nic).collect()
}

fn without_match(index: &Index, identity: &Identity) -> Choice {
    let name = match is_localhost(&identity.hostname) {
        true => "this host has no name yet".to_owned(),
        false => format!("no document is for a host called {}", identity.hostname),
    };
    let macs: Vec<String> = identity.nics.iter().map(|nic| format!("{} {}", nic.name, nic.mac)).collect();
    let macs = match macs.is_empty() {
        true => "it has no NICs".to_owned(),
        false => format!("none lists a MAC address of its NICs ({})", macs.join(", ")),
    };
    let reason = format!("{name}, and {macs}");
    match &index.cluster_wide {
        Some(file) => Choice::File { file: file.clone(), why: Match::ClusterWide { reason } },
        None => Choice::None { reason },
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assigned => write!(f, "these files were made for this host alone"),
            Self::FullName(name) => write!(f, "this host is called {name}"),
            Self::ShortName { host, entry } => {
                write!(
                    f,
                    "this host is called {host}, the document is for {entry}, and one of them has no domain"
                )
            }
            Self::Mac { nic, mac } => write!(f, "the NIC {nic} has the MAC address {mac}"),
            Self::ClusterWide { reason } => write!(f, "cluster-wide: {reason}"),
        }
    }
}

/// As the journal and the console show it.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, why } => write!(f, "chose {file}: {why}"),
            Self::None { reason } => write!(f, "no document for this host: {reason}"),
            Self::Ambiguous { reason } => {
                write!(
                    f,
                    "chose none: {reason}; correct the names or MAC addresses and generate the files again"
                )
            }
        }
    }
}
