//! What is going on, a line a step.

use std::time::Instant;

use linesman_engine::transaction::Step;

use super::report;
use crate::output;

#[derive(Debug)]
pub struct Progress {
    talk: bool,
    /// Once is enough, however often the change is attempted.
    planned: bool,
    start: Instant,
}

impl Progress {
    pub fn new(talk: bool) -> Self {
        Self { talk, planned: false, start: Instant::now() }
    }

    pub fn step(&mut self, step: &Step) {
        if !self.talk {
            return;
        }
        match step {
            Step::Planned(plan) if plan.is_empty() || self.planned => {}
            Step::Planned(plan) => {
                self.planned = true;
                output::line(plan.render(output::colour()).trim_end());
            }
            Step::Probed(reports) if reports.is_empty() => {}
            Step::Probed(reports) => self.print(&format!("before the change: {}", report::probes(reports))),
            Step::Snapshot => self.print("snapshot written"),
            Step::Applying => self.print("applying"),
            Step::Verifying => self.print("verifying"),
            Step::Probing => self.print("probing"),
            Step::Unconfirmed { checkpoint, checks, .. } => {
                self.print(checks);
                output::line(format!("Checkpoint: {checkpoint}"));
            }
            Step::RollingBack { reason } => self.print(&format!("rolling back: {reason}")),
            Step::Done => {}
        }
    }

    fn print(&self, text: &str) {
        output::line(format!("{:>7.2}s  {text}", self.start.elapsed().as_secs_f64()));
    }
}
