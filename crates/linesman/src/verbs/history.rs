//! `linesman history`: the journal, readable.

use std::time::SystemTime;

use linesman_core::outcome::{Outcome, Verdict};
use linesman_engine::journal::{Journal, Phase, Record};
use linesman_engine::transaction::Settings;

use super::apply::report;
use super::status::since;
use crate::cli::{Format, HistoryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub fn run(args: HistoryArgs, format: Format, settings: &Settings) -> Exit {
    let journal = Journal::new(&settings.state_dir);
    if let Err(error) = journal.check_readable() {
        return Failure::from(&error).report();
    }
    let records = journal.records();
    let newer = journal.newer().len();
    if newer > 0 {
        output::error(format!(
            "linesman: {} written by a newer linesman {} not shown; install that version to see {}",
            super::count(newer, "record"),
            if newer == 1 { "is" } else { "are" },
            if newer == 1 { "it" } else { "them" },
        ));
    }
    let Some(id) = args.id else {
        match format {
            Format::Text if journal.is_empty() => output::line("no changes have been made on this host"),
            Format::Text if records.is_empty() => output::line("no record of a change can be read"),
            Format::Text => list(&records),
            other => output::data(other, &records),
        }
        return Exit::Done;
    };
    let Some(record) = records.iter().find(|r| r.id == id) else {
        let failure = Failure::new(Exit::Failed, format!("no change {id} in the journal"));
        return failure.hint("run `linesman history` to list them").report();
    };
    match format {
        Format::Text => detail(record),
        other => output::data(other, record),
    }
    Exit::Done
}

fn list(records: &[Record]) {
    output::line(format!("{:<28} {:<11} {:<12} {}", "ID", "STARTED", "OUTCOME", "WHAT"));
    for record in records {
        let why = record.outcome.as_ref().and_then(Outcome::why).unwrap_or_default();
        let why = waits(record).unwrap_or(why);
        let what = if why.is_empty() { record.source.clone() } else { format!("{}: {why}", record.source) };
        output::line(format!(
            "{:<28} {:<11} {:<12} {what}",
            record.id,
            since(&record.started),
            state(record)
        ));
    }
}

fn state(record: &Record) -> &'static str {
    match (&record.outcome, &record.phase) {
        (Some(outcome), _) => match outcome.verdict {
            Verdict::Unchanged => "unchanged",
            Verdict::Committed => "committed",
            Verdict::Pending => "pending",
            Verdict::RolledBack => "rolled back",
            Verdict::Incomplete => "INCOMPLETE",
            Verdict::Abandoned => "abandoned",
        },
        (None, Phase::Pending { .. }) => "pending",
        (None, _) => "unfinished",
    }
}

fn detail(record: &Record) {
    output::line(format!("{} {}  {}", record.id, record.source, state(record)));
    output::line(format!("started {} ({})", since(&record.started), record.started));
    output::line(record.plan.render(output::colour()).trim_end());
    if let Some(outcome) = &record.outcome {
        report::outcome(outcome);
    } else if let Phase::Pending { checkpoint, .. } = &record.phase {
        output::line(format!("Checkpoint: {checkpoint}"));
        output::line(waits(record).unwrap_or_default());
    }
}

/// How long a change still waits, and for what.
fn waits(record: &Record) -> Option<String> {
    let (Phase::Pending { until, .. }, None) = (&record.phase, &record.outcome) else { return None };
    let left = humantime::parse_rfc3339(until).ok()?.duration_since(SystemTime::now()).unwrap_or_default();
    let left = left.as_secs();
    Some(format!("rolled back in {left} s; `linesman commit` keeps it, `linesman rollback` undoes it now"))
}
