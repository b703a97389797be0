//! `linesman recover`: finish what was interrupted.

use linesman_core::outcome::{Outcome, Verdict};
use linesman_engine::journal::Journal;
use linesman_engine::lock::HostLock;
use linesman_engine::transaction::Settings;
use linesman_engine::{Error, recover};
use serde::Serialize;

use crate::cli::{Format, RecoverArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// What was found unfinished, and what became of it.
#[derive(Debug, Default, Serialize)]
struct Recovered {
    /// With --boot: interrupted changes whose previous profiles were restored.
    restored: usize,
    changes: Vec<Change>,
    /// NetworkManager, restarted, did not recognise interfaces of the last change.
    activated_again: bool,
}

#[derive(Debug, Serialize)]
struct Change {
    id: String,
    source: String,
    /// None: it waits for a confirmation.
    outcome: Option<Outcome>,
}

pub async fn run(args: RecoverArgs, format: Format, settings: &Settings) -> Exit {
    let recovered = match finish(args, settings).await {
        Ok(recovered) => recovered,
        Err(error) => return Failure::from(&error).report(),
    };
    match format {
        Format::Text => print(&recovered),
        other => output::data(other, &recovered),
    }
    let incomplete =
        |change: &Change| change.outcome.as_ref().is_some_and(|o| o.verdict == Verdict::Incomplete);
    if recovered.changes.iter().any(incomplete) { Exit::Incomplete } else { Exit::Done }
}

fn print(recovered: &Recovered) {
    if recovered.restored > 0 {
        let changes = super::count(recovered.restored, "interrupted change");
        output::line(format!("{changes}: the previous profiles were restored"));
    } else if recovered.activated_again {
        output::line("NetworkManager had lost profiles of the last change; they are active again");
    } else if recovered.changes.is_empty() {
        output::line("nothing to recover");
    }
    for Change { id, source, outcome } in &recovered.changes {
        match outcome {
            None => {
                output::line(format!("{id} {source}: pending; run `linesman commit` or `linesman rollback`"));
            }
            Some(outcome) => {
                output::line(format!("{id} {source}:"));
                super::apply::report::outcome(outcome);
            }
        }
    }
}

async fn finish(args: RecoverArgs, settings: &Settings) -> Result<Recovered, Error> {
    let journal = Journal::new(&settings.state_dir);
    journal.check_readable()?;
    journal.check_versions()?;
    let mut recovered = Recovered::default();
    if journal.unfinished().is_empty() {
        // Whoever holds the lock is busy with a change of its own, and looks at the whole host.
        if let (false, Ok(_lock)) = (args.boot, HostLock::take(&settings.run_dir)) {
            recovered.activated_again = recover::adopt_last(&journal).await?;
        }
        return Ok(recovered);
    }
    let _lock = HostLock::take(&settings.run_dir)?;
    if args.boot {
        recovered.restored = recover::before_networkmanager(&journal)?;
        return Ok(recovered);
    }
    for record in journal.unfinished() {
        let (id, source) = (record.id.clone(), record.source.clone());
        let outcome = recover::finish(&journal, &settings.cluster, record).await?;
        recovered.changes.push(Change { id, source, outcome });
    }
    Ok(recovered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_newer_linesman_left_unfinished_is_refused() {
        let state_dir = std::env::temp_dir().join(format!("linesman-recover-{}", std::process::id()));
        let journal = state_dir.join("journal");
        std::fs::create_dir_all(&journal).unwrap();
        std::fs::write(journal.join("1.record.json"), r#"{"version": 99}"#).unwrap();
        std::fs::write(journal.join("1.snapshot.json"), r#"{"version": 99}"#).unwrap();
        let settings = Settings { state_dir: state_dir.clone(), ..Settings::default() };
        for boot in [false, true] {
            let refused = finish(RecoverArgs { boot }, &settings).await;
            assert!(matches!(refused, Err(Error::NewerFile { found: 99, .. })), "{refused:?}");
        }
        std::fs::remove_dir_all(state_dir).unwrap();
    }
}
