//! What is not as it should be, in words for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::decide::FOREIGN_GONE;
use super::observed::{Exit, LoadState, Unit};

/// Also says whether the keeper can do anything about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "reason")]
pub enum Finding {
    /// systemd does not answer.
    SystemdUnreachable {
        error: String,
    },
    /// No Open vSwitch on this host.
    NotInstalled,
    /// One daemon of the two is missing.
    UnitMissing {
        unit: Unit,
    },
    UnitMasked {
        unit: Unit,
    },
    UnitUnreadable {
        unit: Unit,
        load_state: LoadState,
    },
    /// Nothing starts it at boot, and it cannot be enabled.
    NotEnabled {
        unit: Unit,
    },
    /// A daemon that belongs to no unit of this host.
    Containerised {
        process: String,
        pid: u32,
        cgroup: String,
    },
    /// Such a daemon has just ended, and may come back: a container is started again, or replaced by a newer one.
    ContainerEnded {
        seconds: u64,
    },
    /// Without the processes of the host, a second ovs-vswitchd cannot be ruled out.
    ProcessesHidden,
    HostStopping,
    /// systemd is about to start or stop it.
    Changing {
        unit: Unit,
        sub_state: String,
    },
    /// It does not run. The keeper starts it, unless something else that is found forbids that.
    Dead {
        unit: Unit,
        result: String,
        exit: Option<Exit>,
        may_start: bool,
        attempts: u32,
        error: Option<String>,
    },
    CrashLoop {
        unit: Unit,
        restarts: usize,
        within_seconds: u64,
    },
    /// It runs and does not answer.
    Hung {
        unit: Unit,
        restart: HungRestart,
    },
}

/// What is done about a daemon that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HungRestart {
    NotAllowed,
    Later,
    Now,
}

impl Finding {
    /// Of the enum, for conditions and logs.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::SystemdUnreachable { .. } => "SystemdUnreachable",
            Self::NotInstalled => "NotInstalled",
            Self::UnitMissing { .. } => "UnitMissing",
            Self::UnitMasked { .. } => "UnitMasked",
            Self::UnitUnreadable { .. } => "UnitUnreadable",
            Self::NotEnabled { .. } => "NotEnabled",
            Self::Containerised { .. } => "Containerised",
            Self::ContainerEnded { .. } => "ContainerEnded",
            Self::ProcessesHidden => "ProcessesHidden",
            Self::HostStopping => "HostStopping",
            Self::Changing { .. } => "Changing",
            Self::Dead { .. } => "Dead",
            Self::CrashLoop { .. } => "CrashLoop",
            Self::Hung { .. } => "Hung",
        }
    }

    pub fn unit(&self) -> Option<Unit> {
        match self {
            Self::UnitMissing { unit }
            | Self::UnitMasked { unit }
            | Self::UnitUnreadable { unit, .. }
            | Self::NotEnabled { unit }
            | Self::Changing { unit, .. }
            | Self::Dead { unit, .. }
            | Self::CrashLoop { unit, .. }
            | Self::Hung { unit, .. } => Some(*unit),
            _ => None,
        }
    }

    /// The keeper waits, or does what it can; nobody else has to do anything yet.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::HostStopping | Self::ContainerEnded { .. } | Self::Changing { .. })
            || matches!(self, Self::Dead { attempts: 0 | 1, .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SystemdUnreachable { error } => {
                write!(
                    f,
                    "systemd does not answer over D-Bus: {error}; in a container, mount /run/dbus of the host"
                )
            }
            Self::NotInstalled => write!(
                f,
                "Open vSwitch is not installed on this host: systemd knows neither {} nor {}; install openvswitch-switch \
                 (Debian, Ubuntu) or openvswitch (Fedora, RHEL)",
                Unit::OvsdbServer,
                Unit::OvsVswitchd
            ),
            Self::UnitMissing { unit } => {
                write!(f, "{unit} is not installed on this host; reinstall the packages of Open vSwitch")
            }
            Self::UnitMasked { unit } => {
                write!(
                    f,
                    "{unit} is masked and is not started; run `systemctl unmask {unit}` to let it start"
                )
            }
            Self::UnitUnreadable { unit, load_state } => {
                write!(f, "systemd cannot load {unit} ({load_state}); `systemctl status {unit}` shows why")
            }
            Self::NotEnabled { unit } => write!(
                f,
                "nothing starts {unit} at boot, and it has no [Install] section to enable it with; linesman starts it \
                 once it runs itself"
            ),
            Self::Containerised { process, pid, cgroup } => write!(
                f,
                "{process} runs outside the units of this host (PID {pid}, cgroup {cgroup}); linesman starts no second \
                 Open vSwitch: end the container or process that runs this one, and linesman starts the units {FOREIGN_GONE} s later"
            ),
            Self::ContainerEnded { seconds } => write!(
                f,
                "the Open vSwitch outside the units of this host has ended; the units are started in {seconds} s, unless it \
                 comes back"
            ),
            Self::ProcessesHidden => write!(
                f,
                "the processes of the host cannot be seen, so a second ovs-vswitchd cannot be ruled out and nothing is \
                 started; run the container in the PID namespace of the host (hostPID: true)"
            ),
            Self::HostStopping => write!(f, "the host is shutting down; nothing is started"),
            Self::Changing { unit, sub_state } => write!(f, "{unit} is changing its state ({sub_state})"),
            Self::Dead { unit, result, exit, may_start, attempts, error } => {
                write!(f, "{unit} is not running")?;
                if !matches!(result.as_str(), "" | "success") {
                    write!(f, " (result: {result})")?;
                }
                if let Some(exit) = exit {
                    write!(f, "; its last process {exit}")?;
                }
                match attempts {
                    0 if !may_start => write!(f, "; it is not started"),
                    0 => write!(f, "; starting it"),
                    1 => write!(f, "; 1 start was attempted"),
                    _ => write!(f, "; {attempts} starts were attempted"),
                }?;
                if let Some(error) = error {
                    write!(f, " and failed: {error}")?;
                }
                if *attempts > 1 {
                    write!(f, "; `journalctl --unit {unit}` may show why")?;
                }
                Ok(())
            }
            Self::CrashLoop { unit, restarts, within_seconds } => write!(
                f,
                "{unit} was restarted {restarts} times within {within_seconds} s; `journalctl --unit {unit}` may show why"
            ),
            Self::Hung { unit, restart } => {
                write!(f, "{unit} runs and does not answer; ")?;
                match restart {
                    HungRestart::NotAllowed => write!(
                        f,
                        "it is not restarted: start linesman with --restart-hung to allow this, or run `systemctl kill \
                         --signal=KILL {unit}`"
                    ),
                    HungRestart::Later => write!(f, "it is killed and restarted if this goes on"),
                    HungRestart::Now => write!(f, "it is killed and restarted"),
                }
            }
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exited with status {status}"),
            Self::Killed(signal) => write!(f, "was killed by signal {signal}"),
            Self::Dumped(signal) => write!(f, "was killed by signal {signal} and dumped its core"),
        }
    }
}
