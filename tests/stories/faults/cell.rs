//! The matrix: who is struck, at which step boundary, in the middle of which change.

use std::fmt;

use linesman_lab::Daemon;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// kill -9 of `linesman apply`.
    Agent,
    /// Stopped until NetworkManager's own timer has expired, then continued.
    AgentPaused,
    Worker,
    /// Stopped until the agent has timed out and rolled back, then continued.
    WorkerPaused,
    /// Both stopped until NetworkManager has rolled back; the worker continues first.
    BothPaused,
    Daemon(Daemon),
    /// Killed with the agent: no checkpoint is left, and nobody to roll back.
    AgentAndNetworkManager,
    /// Killed, and started again only when the agent has given up waiting for it.
    Gone(Daemon),
    /// Not one block is free, neither for the journal nor for profiles.
    Disk,
    /// Everything at once, and the node boots again.
    Power,
}

pub const VICTIMS: [Victim; 14] = [
    Victim::Agent,
    Victim::AgentPaused,
    Victim::Worker,
    Victim::WorkerPaused,
    Victim::BothPaused,
    Victim::Daemon(Daemon::NetworkManager),
    Victim::Daemon(Daemon::Dbus),
    Victim::Daemon(Daemon::OvsdbServer),
    Victim::Daemon(Daemon::OvsVswitchd),
    Victim::AgentAndNetworkManager,
    Victim::Gone(Daemon::NetworkManager),
    Victim::Gone(Daemon::OvsdbServer),
    Victim::Disk,
    Victim::Power,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// A failpoint on the way to the commit.
    Forth(&'static str),
    /// So many milliseconds after nmstate began.
    MidApply(u64),
    /// The change waits for `linesman commit`.
    Pending,
    /// A failpoint in the rollback of a change that was interrupted.
    Back(&'static str),
    /// So many milliseconds after the rollback began.
    MidBack(u64),
    /// A failpoint of `linesman recover`, after the agent was killed in mid-change.
    Recovery(&'static str),
}

const BOUNDARIES: [Boundary; 21] = [
    Boundary::Forth("snapshot-taken"),
    Boundary::Forth("applying"),
    Boundary::Forth("worker-started"),
    Boundary::MidApply(30),
    Boundary::MidApply(80),
    Boundary::MidApply(150),
    Boundary::MidApply(250),
    Boundary::Forth("worker-done"),
    Boundary::Forth("applied"),
    Boundary::Forth("verified"),
    Boundary::Forth("probed"),
    Boundary::Pending,
    Boundary::Forth("committing"),
    Boundary::Forth("committed"),
    Boundary::Back("rolling-back"),
    Boundary::MidBack(20),
    Boundary::MidBack(100),
    Boundary::MidBack(300),
    Boundary::Back("checkpoint-rolled-back"),
    Boundary::Recovery("recovering"),
    Boundary::Recovery("checkpoint-rolled-back"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A bridge with an address and a spare NIC.
    Additive,
    /// The same and another search domain, on Debian 12: NetworkManager 1.42, whose checkpoints forget
    /// DNS, and no Open vSwitch.
    OldNetworkManager,
    /// br-ex takes the node's own address.
    BrEx,
}

impl Change {
    pub fn has_ovs(self) -> bool {
        self != Self::OldNetworkManager
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub victim: Victim,
    pub boundary: Boundary,
    pub change: Change,
}

impl Cell {
    fn makes_sense(&self) -> bool {
        match self.victim {
            Victim::Daemon(daemon) | Victim::Gone(daemon) if !self.change.has_ovs() && is_of_ovs(daemon) => {
                false
            }
            // There is none before it starts and after it has ended.
            Victim::Worker | Victim::WorkerPaused | Victim::BothPaused => matches!(
                self.boundary,
                Boundary::Forth("worker-started" | "worker-done") | Boundary::MidApply(_)
            ),
            // Half a minute each.
            Victim::Gone(_) => matches!(
                self.boundary,
                Boundary::MidApply(250) | Boundary::Forth("applied") | Boundary::Back("rolling-back")
            ),
            _ => true,
        }
    }

    /// A virtual IP does not survive a power cut; and once the change is committed, NetworkManager and
    /// Open vSwitch make br-ex anew when they are started again, with what its profile says.
    pub fn spares_virtual_ip(&self) -> bool {
        match self.victim {
            Victim::Power => false,
            Victim::Daemon(_) | Victim::AgentAndNetworkManager => {
                self.boundary != Boundary::Forth("committed")
            }
            _ => true,
        }
    }
}

fn is_of_ovs(daemon: Daemon) -> bool {
    matches!(daemon, Daemon::OvsdbServer | Daemon::OvsVswitchd)
}

/// Every cell of a change, victim by victim.
pub fn all(change: Change) -> Vec<Cell> {
    let cells = VICTIMS.iter().flat_map(|victim| {
        BOUNDARIES.iter().map(move |boundary| Cell { victim: *victim, boundary: *boundary, change })
    });
    cells.filter(Cell::makes_sense).collect()
}

/// One cell of each victim, by chance; and of the change that takes the node's own address all step
/// boundaries at which the agent may be killed.
pub fn sample(change: Change, seed: u64) -> Vec<Cell> {
    let all = all(change);
    let mut chance = Chance(seed ^ change as u64);
    let always = |cell: &Cell| {
        let timed = matches!(cell.boundary, Boundary::MidApply(_) | Boundary::MidBack(_));
        change == Change::BrEx && cell.victim == Victim::Agent && !timed
    };
    let mut chosen: Vec<Cell> = VICTIMS
        .iter()
        .map(|victim| all.iter().filter(|cell| cell.victim == *victim).collect::<Vec<_>>())
        .filter_map(|cells| cells.get(chance.below(cells.len())).map(|cell| **cell))
        .collect();
    chosen.extend(all.iter().filter(|cell| always(cell)));
    all.into_iter().filter(|cell| chosen.contains(cell)).collect()
}

/// Small and the same everywhere; nothing here needs more.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed >> 33) % limit.max(1) as u64).unwrap_or(0)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {}", self.victim, self.boundary, self.change)
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent killed",
            Self::AgentPaused => "agent paused",
            Self::Worker => "worker killed",
            Self::WorkerPaused => "worker paused",
            Self::BothPaused => "agent and worker paused",
            Self::Daemon(daemon) => return write!(f, "{} killed", daemon.process_name()),
            Self::AgentAndNetworkManager => "agent and NetworkManager killed",
            Self::Gone(daemon) => return write!(f, "{} gone", daemon.process_name()),
            Self::Disk => "disk filled",
            Self::Power => "power cut",
        })
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forth(name) | Self::Back(name) => write!(f, "at {name}"),
            Self::MidApply(after) => write!(f, "{after} ms into nmstate's part"),
            Self::Pending => f.write_str("while it waits for its confirmation"),
            Self::MidBack(after) => write!(f, "{after} ms into the rollback"),
            Self::Recovery(name) => write!(f, "at {name} of recover"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Additive => "additive",
            Self::OldNetworkManager => "old-networkmanager",
            Self::BrEx => "br-ex",
        })
    }
}
