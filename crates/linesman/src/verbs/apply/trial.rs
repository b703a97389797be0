//! `--try`: a countdown, and an Enter that keeps the change.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use linesman_engine::journal::Journal;
use linesman_engine::transaction::{self, Decision, Settings};
use tokio::io::AsyncBufReadExt;
use tokio::task::JoinHandle;

use super::report;
use crate::output;

#[derive(Debug)]
pub struct Trial {
    tasks: Vec<JoinHandle<()>>,
}

impl Trial {
    pub fn start(settings: &Settings, within: Duration) -> Self {
        let mut tasks = vec![tokio::task::spawn_local(count_down(within))];
        if std::io::stdin().is_terminal() {
            tasks.push(tokio::task::spawn_local(listen(settings.clone())));
        }
        Self { tasks }
    }

    pub fn end(self) {
        for task in self.tasks {
            task.abort();
        }
        if std::io::stdout().is_terminal() {
            output::line("");
        }
    }
}

async fn count_down(within: Duration) {
    let end = Instant::now() + within;
    if !std::io::stdout().is_terminal() {
        output::line(report::pending(within));
        return;
    }
    output::line("from another terminal: `linesman commit` keeps it, `linesman rollback` undoes it");
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        let mut out = std::io::stdout().lock();
        write!(
            out,
            "\rrolling back in {:>3} s: Enter keeps the change, Ctrl-C rolls back now ",
            left.as_secs() + 1
        )
        .and_then(|()| out.flush())
        .ok();
        drop(out);
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// Enter does what `linesman commit` does elsewhere.
async fn listen(settings: Settings) {
    let mut line = String::new();
    let read = tokio::io::BufReader::new(tokio::io::stdin()).read_line(&mut line).await;
    if !read.is_ok_and(|n| n > 0) {
        return;
    }
    if let Some(record) = Journal::new(&settings.state_dir).pending() {
        transaction::decide(&settings.run_dir, &record.id, Decision::Commit).ok();
    }
}
