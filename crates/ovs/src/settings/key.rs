//! What a setting is about: its key as people write it, and the one place that it sets in the end.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The two daemons of Open vSwitch, and so the units that run them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Daemon {
    OvsdbServer,
    OvsVswitchd,
}

impl Daemon {
    pub const ALL: [Self; 2] = [Self::OvsdbServer, Self::OvsVswitchd];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::OvsdbServer => "ovsdb-server",
            Self::OvsVswitchd => "ovs-vswitchd",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::OvsdbServer => "ovsdb-server.service",
            Self::OvsVswitchd => "ovs-vswitchd.service",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|daemon| daemon.as_str() == text)
    }
}

/// The columns of the table Open_vSwitch that hold keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    OtherConfig,
    ExternalIds,
}

impl Column {
    pub const ALL: [Self; 2] = [Self::OtherConfig, Self::ExternalIds];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::OtherConfig => "other_config",
            Self::ExternalIds => "external_ids",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Destination {
    Console,
    Syslog,
    File,
}

impl Destination {
    /// In the order in which the daemons list them.
    pub const ALL: [Self; 3] = [Self::Console, Self::Syslog, Self::File];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Syslog => "syslog",
            Self::File => "file",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|destination| destination.as_str() == text)
    }
}

/// Resources of a unit, as systemd limits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitProperty {
    CpuQuota,
    CpuWeight,
    MemoryHigh,
    MemoryLow,
    MemoryMax,
    MemorySwapMax,
    TasksMax,
}

impl UnitProperty {
    pub const ALL: [Self; 7] = [
        Self::CpuQuota,
        Self::CpuWeight,
        Self::MemoryHigh,
        Self::MemoryLow,
        Self::MemoryMax,
        Self::MemorySwapMax,
        Self::TasksMax,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::CpuQuota => "cpu-quota",
            Self::CpuWeight => "cpu-weight",
            Self::MemoryHigh => "memory-high",
            Self::MemoryLow => "memory-low",
            Self::MemoryMax => "memory-max",
            Self::MemorySwapMax => "memory-swap-max",
            Self::TasksMax => "tasks-max",
        }
    }

    /// As systemd calls it on D-Bus.
    pub fn on_the_bus(self) -> &'static str {
        match self {
            Self::CpuQuota => "CPUQuotaPerSecUSec",
            Self::CpuWeight => "CPUWeight",
            Self::MemoryHigh => "MemoryHigh",
            Self::MemoryLow => "MemoryLow",
            Self::MemoryMax => "MemoryMax",
            Self::MemorySwapMax => "MemorySwapMax",
            Self::TasksMax => "TasksMax",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.as_str() == text)
    }
}

/// Of a key of the database.
const LONGEST: usize = 255;

/// Of a log level: all modules.
pub const ANY: &str = "ANY";

/// The key of a setting. One that names no daemon is about both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Database { column: Column, name: String },
    LogLevel { daemon: Option<Daemon>, module: String, destination: Option<Destination> },
    Unit { daemon: Option<Daemon>, property: UnitProperty },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("it names no setting")]
    Unknown,
    #[error("it lacks a name after the colon")]
    Nameless,
    #[error("its name is longer than {LONGEST} characters, or has control characters, or blanks around it")]
    Name,
    #[error("console, syslog and file are the destinations of a log")]
    Destination,
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (first, rest) = text.split_once(':').map_or((text, None), |(first, rest)| (first, Some(rest)));
        if let Some(column) = Column::parse(first) {
            let name = rest.filter(|name| !name.is_empty()).ok_or(KeyError::Nameless)?;
            // One such name would make the database refuse what is written together with it, or break the connection.
            if name.len() > LONGEST || name.contains(char::is_control) || name.trim() != name {
                return Err(KeyError::Name);
            }
            return Ok(Self::Database { column, name: name.to_owned() });
        }
        match (Daemon::parse(first), rest) {
            (Some(daemon), Some(rest)) => of_daemon(Some(daemon), rest),
            (Some(_), None) => Err(KeyError::Nameless),
            (None, _) => of_daemon(None, text),
        }
    }
}

fn of_daemon(daemon: Option<Daemon>, text: &str) -> Result<Key, KeyError> {
    if let Some(property) = UnitProperty::parse(text) {
        return Ok(Key::Unit { daemon, property });
    }
    let rest = text.strip_prefix("log-level").ok_or(KeyError::Unknown)?;
    let rest = rest.strip_prefix(':').ok_or(KeyError::Nameless)?;
    let (module, destination) = match rest.split_once(':') {
        None => (rest, None),
        Some((module, "any")) => (module, None),
        Some((module, name)) => (module, Some(Destination::parse(name).ok_or(KeyError::Destination)?)),
    };
    if module.is_empty() {
        return Err(KeyError::Nameless);
    }
    let module = if module.eq_ignore_ascii_case(ANY) { ANY.to_owned() } else { module.to_owned() };
    Ok(Key::LogLevel { daemon, module, destination })
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |daemon: &Option<Daemon>| daemon.map(|it| format!("{}:", it.as_str())).unwrap_or_default();
        match self {
            Self::Database { column, name } => write!(f, "{}:{name}", column.as_str()),
            Self::LogLevel { daemon, module, destination } => {
                write!(f, "{}log-level:{module}", of(daemon))?;
                destination.map_or(Ok(()), |destination| write!(f, ":{}", destination.as_str()))
            }
            Self::Unit { daemon, property } => write!(f, "{}{}", of(daemon), property.as_str()),
        }
    }
}

/// One value somewhere on the host: what is compared, written and remembered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Database { column: Column, name: String },
    LogLevel { daemon: Daemon, module: String, destination: Destination },
    Unit { daemon: Daemon, property: UnitProperty },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database { column, name } => write!(f, "{}:{name}", column.as_str()),
            Self::LogLevel { daemon, module, destination } => {
                write!(f, "{}:log-level:{module}:{}", daemon.as_str(), destination.as_str())
            }
            Self::Unit { daemon, property } => write!(f, "{}:{}", daemon.as_str(), property.as_str()),
        }
    }
}

impl Target {
    fn parse(text: &str) -> Option<Self> {
        Some(match text.parse::<Key>().ok()? {
            Key::Database { column, name } => Self::Database { column, name },
            Key::LogLevel { daemon, module, destination } => {
                Self::LogLevel { daemon: daemon?, module, destination: destination? }
            }
            Key::Unit { daemon, property } => Self::Unit { daemon: daemon?, property },
        })
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("{text}: not the key of a setting")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for key in [
            "other_config:max-idle",
            "external_ids:a:b",
            "log-level:ANY",
            "log-level:dpif:file",
            "ovs-vswitchd:log-level:dpif",
            "ovsdb-server:memory-high",
            "cpu-quota",
        ] {
            assert_eq!(key.parse::<Key>().map(|key| key.to_string()), Ok(key.to_owned()));
        }
        assert_eq!("log-level:any:any".parse::<Key>().map(|key| key.to_string()), Ok("log-level:ANY".into()));
        for (key, error) in [
            ("other_config", KeyError::Nameless),
            ("other_config:", KeyError::Nameless),
            ("log-level", KeyError::Nameless),
            ("log-level:", KeyError::Nameless),
            ("log-level:dpif:journal", KeyError::Destination),
            ("ovs-vswitchd", KeyError::Nameless),
            ("ovs-vswitchd:other_config:max-idle", KeyError::Unknown),
            ("other_config:a\0b", KeyError::Name),
            ("other_config: a", KeyError::Name),
            ("max-idle", KeyError::Unknown),
            ("", KeyError::Unknown),
        ] {
            assert_eq!(key.parse::<Key>(), Err(error), "{key}");
        }
    }

    #[test]
    fn targets_are_read_as_they_are_stored() {
        for target in ["external_ids:a", "ovs-vswitchd:log-level:dpif:file", "ovsdb-server:memory-max"] {
            assert_eq!(Target::parse(target).map(|target| target.to_string()).as_deref(), Some(target));
        }
        assert_eq!(Target::parse("memory-max"), None, "of no daemon");
    }
}
