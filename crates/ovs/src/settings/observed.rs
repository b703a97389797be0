//! What settings are compared with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::key::{Column, Daemon, Target, UnitProperty};
use super::version::Version;

pub type Keys = BTreeMap<String, String>;

/// Absent: could not be asked, so nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Observed {
    pub ovs_version: Option<Version>,
    pub database: Option<Database>,
    /// What systemd was told at run time lasts as long as this.
    pub boot: String,
    pub daemons: BTreeMap<Daemon, ObservedDaemon>,
}

/// The keys of the one row of Open_vSwitch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    pub other_config: Keys,
    pub external_ids: Keys,
}

impl Database {
    pub fn column(&self, column: Column) -> &Keys {
        match column {
            Column::OtherConfig => &self.other_config,
            Column::ExternalIds => &self.external_ids,
        }
    }
}

/// Levels of a module by destination: console, syslog, file.
pub type Levels = BTreeMap<String, [String; 3]>;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ObservedDaemon {
    /// Of the process: its invocation. What it was told lasts as long as this.
    pub run: String,
    pub levels: Option<Levels>,
    pub properties: Option<BTreeMap<UnitProperty, String>>,
    /// Bytes that it uses.
    pub memory: Option<u64>,
}

/// What a target holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holds {
    pub value: Option<String>,
    /// How long what is written there lasts; the same word, the same life. Empty: until somebody changes it.
    pub run: String,
}

impl Observed {
    /// None: cannot be known now.
    pub fn holds(&self, target: &Target) -> Option<Holds> {
        match target {
            Target::Database { column, name } => {
                let value = self.database.as_ref()?.column(*column).get(name).cloned();
                Some(Holds { value, run: String::new() })
            }
            Target::LogLevel { daemon, module, destination } => {
                let daemon = self.daemons.get(daemon)?;
                let levels = daemon.levels.as_ref()?.get(module)?;
                Some(Holds { value: Some(levels[*destination as usize].clone()), run: daemon.run.clone() })
            }
            Target::Unit { daemon, property } => {
                let value = self.daemons.get(daemon)?.properties.as_ref()?.get(property).cloned()?;
                Some(Holds { value: Some(value), run: self.boot.clone() })
            }
        }
    }

    /// A log level of a module that the daemon, which answers, does not have.
    pub fn lacks(&self, target: &Target) -> bool {
        let Target::LogLevel { daemon, module, .. } = target else { return false };
        let levels = self.daemons.get(daemon).and_then(|daemon| daemon.levels.as_ref());
        levels.is_some_and(|levels| !levels.contains_key(module))
    }

    /// The process that ovs-vswitchd is now.
    pub fn vswitchd(&self) -> Option<&str> {
        self.daemons.get(&Daemon::OvsVswitchd).map(|daemon| daemon.run.as_str()).filter(|run| !run.is_empty())
    }
}
