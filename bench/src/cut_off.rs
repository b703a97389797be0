//! (c) A state that cuts the node off; (d) the same with a kill -9 in the middle. Watched from the hub.

use std::time::{Duration, Instant};

use linesman_lab::{Lab, Node, Running, documents};

use crate::report::{BenchReport, median};
use crate::{Fallible, bed};

const ROUNDS: usize = 7;
const PATIENCE: f64 = 8.0;

pub fn run(report: &mut BenchReport) -> Fallible<()> {
    let (lab, node) = bed("bench-cut")?;
    let mut beyond = Vec::new();
    for _ in 0..ROUNDS {
        let watch = lab.hub().watch(node.mgmt_ipv4())?;
        let apply = cut(&node)?;
        let output = apply.wait()?;
        if output.code() != Some(5) {
            return Err(format!("expected a rollback:\n{}{}", output.stdout, output.stderr).into());
        }
        lab.hub().wait_reachable(node.mgmt_ipv4(), Duration::from_secs(60))?;
        beyond.push((watch.stop().longest_outage().as_secs_f64() - PATIENCE).max(0.0));
        eprint!(".");
    }
    eprintln!(" cut off");
    report.row("cut-off state: offline beyond the patience of 8 s", median(beyond), "s", None, 2.0);
    Ok(())
}

pub fn killed(report: &mut BenchReport) -> Fallible<()> {
    let (lab, node) = bed("bench-kill")?;
    let (mut alone, mut restarted) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(kill(&lab, &node, false)?);
        node.run(["linesman", "recover"])?;
        restarted.push(kill(&lab, &node, true)?);
        eprint!(".");
    }
    eprintln!(" killed");
    report.row("kill -9 while cut off: reachable again, no restart", median(alone), "s", None, 15.0);
    report.row("kill -9 while cut off: reachable again, restarted", median(restarted), "s", None, 15.0);
    Ok(())
}

fn cut(node: &Node) -> Fallible<Running> {
    node.write_file("/root/cut.yaml", documents::cut_off("eth0", "ethernet"), 0o600)?;
    Ok(node.spawn(["linesman", "apply", "/root/cut.yaml", "--patience", "8s"])?)
}

fn kill(lab: &Lab, node: &Node, restart: bool) -> Fallible<f64> {
    let apply = cut(node)?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while !apply.stdout().contains("probing") {
        if Instant::now() > deadline {
            return Err(format!("never got to its probes:\n{}", apply.stdout()).into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    lab.hub().wait_unreachable(node.mgmt_ipv4(), Duration::from_secs(10))?;
    let start = Instant::now();
    apply.kill()?;
    if restart {
        node.run(["linesman", "recover"])?;
    }
    lab.hub().wait_reachable(node.mgmt_ipv4(), Duration::from_secs(120))?;
    Ok(start.elapsed().as_secs_f64())
}
