//! What is going on, a line a step.

use std::time::Instant;

use linesman_engine::transaction::Step;

use super::report;
use crate::output;

#[derive(Debug)]
pub struct Progress {
    talk: bool,
    start: Instant,
}

impl Progress {
    pub fn new(talk: bool) -> Self {
        Self { talk, start: Instant::now() }
    }

    pub fn step(&mut self, step: &Step) {
        if !self.talk {
            return;
        }
        match step {
            Step::Planned(plan) if plan.is_empty() => {}
            Step::Planned(plan) => output::line(plan.render(output::colour()).trim_end()),
            Step::Probed(reports) if reports.is_empty() => {}
            Step::Probed(reports) => self.say(&format!("before the change: {}", report::probes(reports))),
            Step::Snapshot => self.say("the way back is written down"),
            Step::Applying => self.say("applying"),
            Step::Verifying => self.say("verifying"),
            Step::Probing => self.say("probing"),
            Step::Unconfirmed { checkpoint, .. } => {
                self.say("verified and probed");
                output::line(format!("Checkpoint: {checkpoint}"));
            }
            Step::RollingBack { reason } => self.say(&format!("going back: {reason}")),
            Step::Done => {}
        }
    }

    fn say(&self, text: &str) {
        output::line(format!("{:>7.2}s  {text}", self.start.elapsed().as_secs_f64()));
    }
}
