//! One file per verb.

pub mod agent;
pub mod apply;
pub mod brex;
mod captures;
pub mod check;
pub mod completion;
pub mod confirm;
mod corrections;
pub mod crds;
pub mod diff;
pub mod doctor;
pub mod documents;
pub mod explain;
pub mod firstboot;
pub mod freeze;
pub mod gather;
pub mod generate;
pub mod history;
pub mod import;
pub mod man;
pub mod operator;
pub mod ovs_keeper;
pub mod plan;
pub mod recover;
pub mod retry;
pub mod show;
pub mod status;
pub mod topology;
pub mod why;

use std::net::SocketAddr;

use linesman_agent::StateFile;
use linesman_core::reconcile::Ledger;
use linesman_engine::nm::Nm;
use linesman_engine::observe;
use linesman_engine::transaction::Settings;
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::{self, Failure};
use crate::output;

/// `1 file`, `2 files`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// What the agent applied.
fn ledger(settings: &Settings) -> Result<Ledger, Exit> {
    StateFile::ledger(&settings.state_dir).read().map_err(|error| Failure::from(&error).report())
}

/// The state of this host.
async fn observed() -> Result<Value, Exit> {
    let observed = match Nm::connect().await {
        Ok(nm) => observe::retrieve(&nm).await,
        Err(e) => Err(e),
    };
    observed.map_err(|error| Failure::from(&error).report())
}

/// For commands that show what anybody may see of this host.
fn note_what_root_would_see() {
    if !failure::is_root() {
        output::error(
            "note: not run as root: what only root may read (Open vSwitch, some settings of NICs and profiles) is missing",
        );
    }
}

/// Of `--listen`.
fn listen(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "none" {
        return Ok(None);
    }
    let wrong = |_| {
        format!("invalid value {text:?} for --listen: use ADDRESS:PORT, for example 127.0.0.1:9473, or none")
    };
    text.parse().map(Some).map_err(wrong)
}
