//! `linesman doctor`: whether this host is ready for linesman.

use linesman_core::doctor::{Level, examine};
use linesman_engine::doctor::inspection;
use linesman_engine::transaction::Settings;

use crate::cli::Format;
use crate::exit::Exit;
use crate::output;

pub async fn run(format: Format, settings: &Settings) -> Exit {
    let report = examine(&inspection(settings).await);
    match format {
        Format::Text => output::line(report.render(output::colour()).trim_end()),
        other => output::data(other, &report),
    }
    if report.verdict == Level::Problem { Exit::Failed } else { Exit::Done }
}
