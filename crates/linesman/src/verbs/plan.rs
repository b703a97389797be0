//! `linesman plan`: what would change.

use linesman_engine::transaction::{self, Request, Settings};
use linesman_engine::worker::ApplyOptions;

use super::apply;
use crate::cli::{Format, PlanArgs};
use crate::exit::Exit;
use crate::{output, read};

pub async fn run(args: PlanArgs, format: Format, settings: &Settings) -> Exit {
    let document = match read::document(&args.source.file) {
        Ok(document) => document,
        Err(exit) => return exit,
    };
    let options = ApplyOptions { override_interface: args.override_iface, ..ApplyOptions::default() };
    let request = Request {
        options,
        probes: apply::declared_probes(&document),
        ..super::request(&document, args.protect)
    };
    let request = super::captures::kept(request, &document, settings);
    let mut plan = match transaction::plan(&request).await {
        Ok((plan, _)) => plan,
        Err(refusal) => return super::refused(&refusal, &document),
    };
    if !plan.is_empty() {
        plan.not_protected = transaction::not_protected(&request, settings).await;
    }
    match format {
        Format::Text => output::line(plan.render(output::colour()).trim_end()),
        other => output::data(other, &plan),
    }
    if !plan.is_empty() {
        super::corrections::warn(&document, settings);
    }
    if plan.is_empty() { Exit::Done } else { Exit::Differences }
}
