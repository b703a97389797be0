//! One file per verb.

pub mod apply;
pub mod doctor;
pub mod end;
pub mod gather;
pub mod history;
pub mod import;
pub mod plan;
pub mod recover;
pub mod show;

use std::net::IpAddr;
use std::time::Duration;

use linesman_core::document::Document;
use linesman_engine::transaction::{Ending, Refusal, Request};
use linesman_engine::worker::Manner;

use crate::exit::Exit;
use crate::{output, read};

fn request(document: &Document, protect: Option<IpAddr>) -> Request {
    Request {
        state: document.state.clone(),
        capture: document.capture.clone(),
        source: document.policy.clone().unwrap_or_else(|| document.name.clone()),
        ending: Ending::Commit,
        manner: Manner::default(),
        probes: None,
        patience: Duration::from_secs(20),
        limit: Duration::from_secs(120),
        verify: true,
        protect,
    }
}

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
            Exit::Input
        }
        Refusal::Host(error) => {
            output::error(format!("linesman: {error}"));
            error.into()
        }
    }
}
