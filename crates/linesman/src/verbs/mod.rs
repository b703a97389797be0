//! One file per verb.

pub mod agent;
pub mod apply;
mod captures;
pub mod check;
pub mod completion;
pub mod confirm;
mod corrections;
pub mod crds;
pub mod diff;
pub mod doctor;
pub mod explain;
pub mod freeze;
pub mod gather;
pub mod history;
pub mod import;
pub mod man;
pub mod operator;
pub mod plan;
pub mod recover;
pub mod retry;
pub mod show;
pub mod status;
pub mod topology;
pub mod why;

use std::net::{IpAddr, SocketAddr};

use linesman_agent::StateFile;
use linesman_core::document::Document;
use linesman_core::plan::codes::{IFCFG_PROFILE, KERNEL_LACKS_TYPE, NO_DATAPATH, NO_SUPPLICANT};
use linesman_core::reconcile::Ledger;
use linesman_engine::nm::Nm;
use linesman_engine::observe;
use linesman_engine::transaction::{Refusal, Request, Settings};
use serde_json::Value;

use crate::exit::Exit;
use crate::{output, read};

/// `1 file`, `2 files`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// What the agent applied.
fn ledger(settings: &Settings) -> Result<Ledger, Exit> {
    StateFile::ledger(&settings.state_dir).read().map_err(|error| {
        output::error(format!("linesman: {error}"));
        Exit::Environment
    })
}

/// The state of this host.
async fn observed() -> Result<Value, Exit> {
    let observed = match Nm::connect().await {
        Ok(nm) => observe::retrieve(&nm).await,
        Err(e) => Err(e),
    };
    observed.map_err(|error| {
        output::error(format!("linesman: {error}"));
        (&error).into()
    })
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

fn request(document: &Document, protect: Option<IpAddr>) -> Request {
    let source = document.policy.clone().unwrap_or_else(|| document.name.clone());
    Request { capture: document.capture.clone(), protect, ..Request::new(source, document.state.clone()) }
}

/// What the host lacks is no fault of the document.
const LACKING: [&str; 4] = [IFCFG_PROFILE, KERNEL_LACKS_TYPE, NO_DATAPATH, NO_SUPPLICANT];

fn refused(refusal: &Refusal, document: &Document) -> Exit {
    match refusal {
        Refusal::Document(problems) => {
            let placed: Vec<_> = problems
                .iter()
                .map(|p| {
                    let span = p.path.as_ref().and_then(|path| document.span(path));
                    p.clone().spanning(span)
                })
                .collect();
            read::print(&placed, document);
            let of_the_host = problems.iter().all(|p| LACKING.contains(&p.code));
            if of_the_host { Exit::Environment } else { Exit::Input }
        }
        Refusal::Host(error) => {
            output::error(format!("linesman: {error}"));
            error.into()
        }
    }
}
