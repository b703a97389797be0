//! How a change ended, in the words that the engine records and that a cluster is told.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The state held already; nothing was touched.
    Unchanged,
    Committed,
    /// Applied and verified; goes back by itself unless it is confirmed.
    Pending,
    /// The former state is back, and was seen to be.
    RolledBack,
    /// The way back was gone, and something of it is missing.
    Incomplete,
    /// Ended before anything was touched.
    Abandoned,
}

/// Decides whether, and when, the same change may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The document is wrong; nothing was touched. Only a new document helps.
    Input,
    /// Nothing was touched; the same change may pass in a moment.
    Transient,
    /// Nothing was touched; the host lacks something that somebody must provide.
    Environment,
    /// The change was made, did not hold, and was taken back. Terminal for this document.
    RolledBack,
    /// Something is left that was not there before; a person must look.
    Incomplete,
}
