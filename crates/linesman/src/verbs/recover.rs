//! `linesman recover`: finish what was interrupted.

use linesman_core::outcome::Verdict;
use linesman_engine::journal::Journal;
use linesman_engine::lock::HostLock;
use linesman_engine::transaction::Settings;
use linesman_engine::{Error, recover};

use crate::cli::RecoverArgs;
use crate::exit::Exit;
use crate::output;

pub async fn run(args: RecoverArgs, settings: &Settings) -> Exit {
    match finish(args, settings).await {
        Ok(exit) => exit,
        Err(error) => {
            output::error(format!("linesman: {error}"));
            (&error).into()
        }
    }
}

async fn finish(args: RecoverArgs, settings: &Settings) -> Result<Exit, Error> {
    let journal = Journal::new(&settings.state_dir);
    journal.check_versions()?;
    if journal.unfinished().is_empty() {
        output::line("nothing to recover");
        return Ok(Exit::Done);
    }
    let _lock = HostLock::take(&settings.run_dir)?;
    if args.boot {
        let count = recover::before_networkmanager(&journal)?;
        output::line(format!("{count} interrupted change(s): the previous profiles were restored"));
        return Ok(Exit::Done);
    }
    let mut exit = Exit::Done;
    for record in journal.unfinished() {
        let (id, source) = (record.id.clone(), record.source.clone());
        match recover::finish(&journal, record).await? {
            None => {
                output::line(format!("{id} {source}: pending; run `linesman commit` or `linesman rollback`"))
            }
            Some(outcome) => {
                output::line(format!("{id} {source}:"));
                super::apply::report::outcome(&outcome);
                if outcome.verdict == Verdict::Incomplete {
                    exit = Exit::Incomplete;
                }
            }
        }
    }
    Ok(exit)
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
