//! Exit codes. Scripts rely on them; `linesman --help` and docs/reference list them.

use linesman_engine::outcome::Verdict;
use linesman_engine::{Category, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    /// Something else went wrong; nothing is half done.
    Failed = 1,
    /// `plan` found something to do.
    Differences = 2,
    /// The document is wrong; nothing was touched.
    Input = 3,
    /// The host lacks something; nothing was touched.
    Environment = 4,
    /// The change did not hold and was taken back.
    RolledBack = 5,
    /// The change was taken back, but something is not as before.
    Incomplete = 6,
    /// Another change is under way or waits for its confirmation; nothing was touched.
    Busy = 7,
    /// The command line is wrong.
    Usage = 64,
}

pub const TABLE: &str = "\
Exit codes:
   0  done, or nothing to do
   1  failed; nothing is half done
   2  plan: there are differences
   3  the document is wrong; nothing was touched
   4  the host lacks something (root, D-Bus, NetworkManager, OVS, a driver); nothing was touched
   5  the change did not hold and was taken back: the host is as before
   6  the change was taken back, but something is not as before: look at it
   7  another change is under way or waits for its confirmation; nothing was touched
  64  the command line is wrong";

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
