//! What systemd says of the units of Open vSwitch.

use serde::{Deserialize, Serialize};

/// The only units that the keeper ever looks at, enables, starts or kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Unit {
    #[serde(rename = "ovsdb-server.service")]
    OvsdbServer,
    #[serde(rename = "ovs-vswitchd.service")]
    OvsVswitchd,
    /// Debian and Ubuntu: runs nothing itself, and pulls in the two daemons.
    #[serde(rename = "openvswitch-switch.service")]
    OpenvswitchSwitch,
    /// Fedora, RHEL and RHCOS: the same.
    #[serde(rename = "openvswitch.service")]
    Openvswitch,
}

impl Unit {
    pub const ALL: [Self; 4] =
        [Self::OvsdbServer, Self::OvsVswitchd, Self::OpenvswitchSwitch, Self::Openvswitch];
    /// Those that the health of Open vSwitch depends on, in the order in which they start.
    pub const DAEMONS: [Self; 2] = [Self::OvsdbServer, Self::OvsVswitchd];
    pub const UMBRELLAS: [Self; 2] = [Self::OpenvswitchSwitch, Self::Openvswitch];

    pub fn name(self) -> &'static str {
        match self {
            Self::OvsdbServer => "ovsdb-server.service",
            Self::OvsVswitchd => "ovs-vswitchd.service",
            Self::OpenvswitchSwitch => "openvswitch-switch.service",
            Self::Openvswitch => "openvswitch.service",
        }
    }

    pub fn is_daemon(self) -> bool {
        Self::DAEMONS.contains(&self)
    }

    /// What the kernel calls the process.
    pub fn process(self) -> Option<&'static str> {
        self.is_daemon().then(|| self.name().trim_end_matches(".service"))
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A closed set of systemd's words, and what a newer systemd may say.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($variant,)+
            Other(String),
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)+
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(state: $name) -> Self {
                state.as_str().to_owned()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Whether systemd could read the unit's file.
    LoadState {
        Loaded = "loaded",
        NotFound = "not-found",
        Masked = "masked",
        BadSetting = "bad-setting",
        Error = "error",
    }
}

words! {
    ActiveState {
        Active = "active",
        Reloading = "reloading",
        Inactive = "inactive",
        Failed = "failed",
        Activating = "activating",
        Deactivating = "deactivating",
        Maintenance = "maintenance",
        Refreshing = "refreshing",
    }
}

words! {
    /// Whether the unit is started at boot.
    UnitFileState {
        Enabled = "enabled",
        EnabledRuntime = "enabled-runtime",
        Disabled = "disabled",
        Static = "static",
        Masked = "masked",
        MaskedRuntime = "masked-runtime",
        Linked = "linked",
        LinkedRuntime = "linked-runtime",
        Alias = "alias",
        Indirect = "indirect",
        Generated = "generated",
        Transient = "transient",
        Bad = "bad",
        None = "",
    }
}

/// How the main process of a unit last ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// By this signal, with a core dump.
    Dumped(i32),
}

impl Exit {
    /// As systemd sees it: SIGHUP, SIGINT, SIGPIPE and SIGTERM are sent by whoever wants an end.
    pub fn is_orderly(self) -> bool {
        matches!(self, Self::Exited(0) | Self::Killed(1 | 2 | 13 | 15))
    }
}

/// One unit, at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedUnit {
    pub unit: Unit,
    pub load_state: LoadState,
    pub active_state: ActiveState,
    /// systemd's finer word: running, exited, dead, failed, auto-restart …
    pub sub_state: String,
    pub unit_file_state: UnitFileState,
    /// None while no main process runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_pid: Option<u32>,
    /// 32 hexadecimal digits; another one after every start, whoever started the unit. None before the first start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<String>,
    /// When it last became active, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<u64>,
    /// Automatic restarts that systemd counts. It starts again at zero, so a restart can hide behind it.
    #[serde(default)]
    pub systemd_restarts: u32,
    /// `success`, `exit-code`, `signal`, `core-dump`, `timeout`, `start-limit-hit` …; empty where there is no process.
    #[serde(default)]
    pub result: String,
    /// How the last main process ended; None while the first one runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// In bytes; None if systemd does not account for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_current: Option<u64>,
}

impl ObservedUnit {
    pub fn is_installed(&self) -> bool {
        self.load_state != LoadState::NotFound
    }

    pub fn is_masked(&self) -> bool {
        self.load_state == LoadState::Masked
    }

    /// At rest, and not running.
    pub fn is_down(&self) -> bool {
        matches!(self.active_state, ActiveState::Inactive | ActiveState::Failed)
    }

    pub fn is_running(&self) -> bool {
        matches!(self.active_state, ActiveState::Active | ActiveState::Reloading | ActiveState::Refreshing)
    }
}

/// One unit, and what the keeper has seen of it over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnitReport {
    #[serde(flatten)]
    pub observed: ObservedUnit,
    /// Restarts since the host booted, as far as the keeper has seen them: by InvocationID, so that those count which
    /// systemd hides.
    pub restarts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_restart: Option<Restart>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// When it was seen, in seconds since 1970.
    pub at: u64,
    /// How the earlier process ended, if that could be seen; None after an orderly restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<Exit>,
}
