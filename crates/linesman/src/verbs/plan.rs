//! `linesman plan`: what would change.

use linesman_core::plan::Plan;
use linesman_core::plan::render::LEGEND;
use linesman_engine::transaction::{self, Refusal, Request, Settings};
use linesman_engine::worker::ApplyOptions;

use super::captures::Kept;
use super::documents::Documents;
use crate::cli::{Format, PlanArgs};
use crate::exit::Exit;
use crate::output;

pub async fn run(args: PlanArgs, format: Format, settings: &Settings) -> Exit {
    let documents = match Documents::read(&args.source.files) {
        Ok(documents) => documents,
        Err(exit) => return exit,
    };
    let (request, mut plan) = match plan(&documents, &args, settings).await {
        Ok(planned) => planned,
        Err(refusal) => return documents.refused(&refusal),
    };
    if !plan.is_empty() {
        plan.not_protected = transaction::not_protected(&request, settings).await;
    }
    match format {
        Format::Text => {
            output::line(plan.render(output::colour()).trim_end());
            if !plan.is_empty() {
                output::line(LEGEND);
            }
        }
        other => output::data(other, &plan),
    }
    if !plan.is_empty() {
        documents.iter().for_each(|document| super::corrections::warn(document, settings));
    }
    if plan.is_empty() { Exit::Done } else { Exit::Differences }
}

async fn plan(
    documents: &Documents,
    args: &PlanArgs,
    settings: &Settings,
) -> Result<(Request, Plan), Refusal> {
    let loaded = transaction::load().await?;
    let request = documents.request(&loaded, &Kept::read(settings), args.protect)?;
    let options = ApplyOptions { override_interface: args.override_iface, ..ApplyOptions::default() };
    let request = Request { options, probes: documents.probes(), ..request };
    let plan = transaction::plan(&request, loaded).await?;
    Ok((request, plan))
}
