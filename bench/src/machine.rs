//! On a virtual machine, whose kernel has bonds and VLANs: how soon it can be used, and a stack of three against nmstate's own apply.

use std::time::Instant;

use linesman_lab::{Lab, documents};

use crate::report::BenchReport;
use crate::throughput::{Contest, Goals};
use crate::{Fallible, furnished};

/// Emulated, a change takes many times as long.
const PATIENT: &[&str] = &["--dead-man", "60s", "--settle", "60s", "--timeout", "280s"];
const ROUNDS: usize = 3;

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let lab = Lab::start("bench-machine")?;
    // The first one may have to be built, booted and saved.
    lab.node("n0").nics(3).vm(true).start()?.power_cut()?;
    let start = Instant::now();
    let spare = lab.node("n2").nics(3).vm(true).start()?;
    spare.run(["true"])?;
    report.row("from the saved state to a usable machine", start.elapsed().as_secs_f64(), "s", None, 5.0);
    spare.power_cut()?;
    let node = furnished(lab.node("n1").vm(true))?;
    let contest = Contest {
        name: "bridge on a VLAN on a bond, virtual machine",
        state: documents::STACK,
        undo: documents::NO_STACK,
        goals: Goals { checkpoint_to_commit: 0.7, whole_command: 0.8 },
        rounds: ROUNDS,
        flags: PATIENT,
    };
    contest.run(&node, report)
}
