//! The matrix: who is struck, at which step boundary, in the middle of which change.

use std::fmt;
use std::time::Duration;

use linesman_lab::Daemon;
use linesman_tests::campaign::Chance;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// kill -9 of `linesman apply`.
    Agent,
    /// Asked to end, as `systemctl stop` does it.
    AgentTerminated,
    /// Stopped until NetworkManager's own timer has expired, then continued.
    AgentPaused,
    Worker,
    /// Stopped until the agent has timed out and rolled back, then continued.
    WorkerPaused,
    /// Both stopped until NetworkManager has rolled back; the worker continues first.
    BothPaused,
    Daemon(Daemon),
    /// Asked to end, and started again.
    Restarted(Daemon),
    /// Stopped in the middle of whatever it does, for a while.
    Paused(Daemon),
    /// Killed with the agent: no checkpoint is left, and nobody to roll back.
    AgentAndNetworkManager,
    /// Killed, and started again only when the agent has given up waiting for it.
    Gone(Daemon),
    /// Not one block is free, neither for the journal nor for profiles.
    Disk,
    /// The cable of the NIC that has the node's own address is unplugged for a while.
    Cable,
    /// For a while nothing that the node sends arrives, though its links stay up.
    Silence,
    /// Everything at once, and the node boots again.
    Power,
}

pub const VICTIMS: [Victim; 25] = [
    Victim::Agent,
    Victim::AgentTerminated,
    Victim::AgentPaused,
    Victim::Worker,
    Victim::WorkerPaused,
    Victim::BothPaused,
    Victim::Daemon(Daemon::NetworkManager),
    Victim::Daemon(Daemon::Dbus),
    Victim::Daemon(Daemon::OvsdbServer),
    Victim::Daemon(Daemon::OvsVswitchd),
    Victim::Restarted(Daemon::NetworkManager),
    Victim::Restarted(Daemon::Dbus),
    Victim::Restarted(Daemon::OvsdbServer),
    Victim::Restarted(Daemon::OvsVswitchd),
    Victim::Paused(Daemon::NetworkManager),
    Victim::Paused(Daemon::Dbus),
    Victim::Paused(Daemon::OvsdbServer),
    Victim::Paused(Daemon::OvsVswitchd),
    Victim::AgentAndNetworkManager,
    Victim::Gone(Daemon::NetworkManager),
    Victim::Gone(Daemon::OvsdbServer),
    Victim::Disk,
    Victim::Cable,
    Victim::Silence,
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

impl Change {
    pub const ALL: [Self; 3] = [Self::Additive, Self::OldNetworkManager, Self::BrEx];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub victim: Victim,
    pub boundary: Boundary,
    pub change: Change,
    /// How long that lasts which ends by itself.
    pub lasting: Duration,
}

/// Longer than the dead man's switch of a cell waits, shorter than NetworkManager waits for a carrier.
const LASTING: Duration = Duration::from_secs(4);

impl Cell {
    fn makes_sense(&self) -> bool {
        match self.victim {
            Victim::Daemon(daemon)
            | Victim::Restarted(daemon)
            | Victim::Paused(daemon)
            | Victim::Gone(daemon)
                if !self.change.has_ovs() && is_of_ovs(daemon) =>
            {
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
                Boundary::MidApply(_) | Boundary::Forth("applied") | Boundary::Back("rolling-back")
            ),
            _ => true,
        }
    }

    /// Without the moments that chance decides.
    pub fn step(&self) -> String {
        match self.boundary {
            Boundary::MidApply(_) => "during nmstate's part".to_string(),
            Boundary::MidBack(_) => "during the rollback".to_string(),
            boundary => boundary.to_string(),
        }
    }

    /// A virtual IP does not survive a power cut; and once the change is committed, NetworkManager and
    /// Open vSwitch make br-ex anew when they are started again, with what its profile says.
    pub fn spares_virtual_ip(&self) -> bool {
        match self.victim {
            Victim::Power => false,
            Victim::Daemon(_) | Victim::Restarted(_) | Victim::AgentAndNetworkManager => {
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
        let cell = |boundary| Cell { victim: *victim, boundary, change, lasting: LASTING };
        BOUNDARIES.into_iter().map(cell)
    });
    cells.filter(Cell::makes_sense).collect()
}

/// How many victims a sample has.
const SAMPLE: usize = 12;

/// One cell each of some victims, by chance; and of the change that takes the node's own address all step
/// boundaries at which the agent may be killed.
pub fn sample(change: Change, seed: u64) -> Vec<Cell> {
    let all = all(change);
    let mut chance = Chance::new(seed ^ change as u64);
    let always = |cell: &Cell| {
        let timed = matches!(cell.boundary, Boundary::MidApply(_) | Boundary::MidBack(_));
        change == Change::BrEx && cell.victim == Victim::Agent && !timed
    };
    let mut victims: Vec<Vec<&Cell>> = VICTIMS
        .iter()
        .map(|victim| all.iter().filter(|cell| cell.victim == *victim).collect())
        .filter(|cells: &Vec<&Cell>| !cells.is_empty())
        .collect();
    while victims.len() > SAMPLE {
        victims.remove(chance.below(victims.len()));
    }
    let mut chosen: Vec<Cell> = victims.iter().map(|cells| *cells[chance.below(cells.len())]).collect();
    chosen.extend(all.iter().filter(|cell| always(cell)));
    all.into_iter().filter(|cell| chosen.contains(cell)).collect()
}

/// Any cell, at any moment; the same for the same chance.
pub fn draw(change: Change, chance: &mut Chance) -> Cell {
    loop {
        let boundary = match BOUNDARIES[chance.below(BOUNDARIES.len())] {
            Boundary::MidApply(_) => Boundary::MidApply(chance.milliseconds(0..500)),
            Boundary::MidBack(_) => Boundary::MidBack(chance.milliseconds(0..500)),
            boundary => boundary,
        };
        let victim = VICTIMS[chance.below(VICTIMS.len())];
        let lasting = Duration::from_millis(chance.milliseconds(200..5000));
        let cell = Cell { victim, boundary, change, lasting };
        if cell.makes_sense() {
            return cell;
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.victim, self.boundary)?;
        if matches!(self.victim, Victim::Paused(_) | Victim::Cable | Victim::Silence) {
            write!(f, " for {} ms", self.lasting.as_millis())?;
        }
        write!(f, ", {}", self.change)
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent killed",
            Self::AgentTerminated => "agent terminated",
            Self::AgentPaused => "agent paused",
            Self::Worker => "worker killed",
            Self::WorkerPaused => "worker paused",
            Self::BothPaused => "agent and worker paused",
            Self::Daemon(daemon) => return write!(f, "{} killed", daemon.process_name()),
            Self::Restarted(daemon) => return write!(f, "{} restarted", daemon.process_name()),
            Self::Paused(daemon) => return write!(f, "{} paused", daemon.process_name()),
            Self::AgentAndNetworkManager => "agent and NetworkManager killed",
            Self::Gone(daemon) => return write!(f, "{} gone", daemon.process_name()),
            Self::Disk => "disk filled",
            Self::Cable => "cable unplugged",
            Self::Silence => "packets dropped",
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
