//! Exit codes. Scripts rely on them; `linesman --help` and docs/reference list them.

use linesman_core::outcome::Verdict;
use linesman_engine::{Category, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    /// Something else went wrong; no change was left half applied.
    Failed = 1,
    /// `plan` or `diff` found differences.
    Differences = 2,
    /// The document has errors; no changes made.
    Input = 3,
    /// A prerequisite is missing on the host; no changes made.
    Environment = 4,
    /// The change failed and was rolled back.
    RolledBack = 5,
    /// The rollback is incomplete.
    Incomplete = 6,
    /// Another change is in progress or pending; no changes made.
    Busy = 7,
    /// The command line has errors.
    Usage = 64,
}

impl Exit {
    /// Differences are an answer.
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Done | Self::Differences)
    }
}

pub const TABLE: &str = "\
Exit codes:
   0  success, or already in the desired state
   1  failed; no change was left half applied
   2  differences found (plan, diff, status)
   3  the document has errors; no changes made
   4  a prerequisite is missing (root, D-Bus, NetworkManager, OVS, a driver); no changes made
   5  the change failed and was rolled back; the host is as before
   6  the change failed and the rollback is incomplete; check the host
   7  another change is in progress or pending confirmation; no changes made
  64  usage error";

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Unchanged | Verdict::Committed | Verdict::Pending => Self::Done,
            Verdict::RolledBack => Self::RolledBack,
            Verdict::Incomplete => Self::Incomplete,
            Verdict::Abandoned => Self::Failed,
        }
    }
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        match error {
            Error::Busy { .. } | Error::Unconfirmed { .. } | Error::ForeignCheckpoint { .. } => Self::Busy,
            Error::NoCheckpoint { .. } => Self::Failed,
            _ => match error.category() {
                Category::Input => Self::Input,
                Category::Environment => Self::Environment,
                _ => Self::Failed,
            },
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
