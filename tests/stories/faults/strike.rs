//! One cell: begin the change, strike at the boundary, and see to it that the change comes to its end.

use std::time::{Duration, Instant};

use linesman_lab::{Daemon, Output, Running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::bed::Bed;
use super::cell::{Boundary, Cell, Victim};

/// Shorter than the default, so that a cell need not wait ten seconds for NetworkManager's timer.
const DEAD_MAN: &str = "3s";

/// Runs the change with its fault until it has ended; returns everything that linesman said.
pub fn strike(bed: &Bed, cell: &Cell) -> Result<String, String> {
    let mut transcript = String::new();
    let stage = Stage { bed, cell };
    let running = stage.reach(&mut transcript)?;
    let worker = worker_of(machine_pid(&running));
    let strikes_worker = matches!(cell.victim, Victim::Worker | Victim::WorkerPaused | Victim::BothPaused);
    if worker.is_none() && strikes_worker && matches!(cell.boundary, Boundary::MidApply(_)) {
        // On a fast machine, nmstate's part is over by then: nothing is struck, and the change must end well.
        stage.let_finish(running, &mut transcript)?;
        return Ok(transcript);
    }
    match cell.victim {
        Victim::Agent => stage.kill_agent(running, &mut transcript)?,
        Victim::Power => {
            bed.host.node.power_cut().and_then(|()| bed.host.node.boot()).map_err(|e| e.to_string())?;
            record(&mut transcript, "before the power cut", &drained(running));
        }
        Victim::AgentPaused => {
            signal(machine_pid(&running), Signal::SIGSTOP);
            stage.await_timer()?;
            signal(machine_pid(&running), Signal::SIGCONT);
            stage.let_finish(running, &mut transcript)?;
        }
        Victim::BothPaused => {
            let worker = worker.ok_or("there is no worker")?;
            signal(machine_pid(&running), Signal::SIGSTOP);
            signal(worker, Signal::SIGSTOP);
            stage.await_timer()?;
            stage.pass();
            signal(worker, Signal::SIGCONT);
            wait(Duration::from_secs(2), || ended(worker));
            signal(machine_pid(&running), Signal::SIGCONT);
            stage.let_finish(running, &mut transcript)?;
        }
        Victim::Worker => {
            signal(worker.ok_or("there is no worker")?, Signal::SIGKILL);
            stage.let_finish(running, &mut transcript)?;
        }
        Victim::WorkerPaused => {
            let worker = worker.ok_or("there is no worker")?;
            signal(worker, Signal::SIGSTOP);
            stage.let_finish(running, &mut transcript)?;
            if !ended(worker) {
                signal(worker, Signal::SIGCONT);
                return Err("the worker outlived the rollback".into());
            }
        }
        Victim::Daemon(daemon) => {
            bed.host.node.kill_daemon(daemon).map_err(|e| e.to_string())?;
            stage.let_finish(running, &mut transcript)?;
            if daemon == Daemon::NetworkManager && cell.boundary == Boundary::Forth("committed") {
                // It takes a bridge that it has not quite activated for somebody else's; the unit of `recover` starts with it.
                bed.host.node.wait_daemon(daemon).map_err(|e| e.to_string())?;
                stage.recover(&mut transcript);
            }
        }
        Victim::AgentTerminated => {
            running.signal(Signal::SIGTERM).map_err(|e| e.to_string())?;
            stage.let_finish(running, &mut transcript)?;
            if let Boundary::Recovery(_) = cell.boundary {
                // It ends at once; its unit starts it again.
                stage.recover(&mut transcript);
            }
        }
        Victim::Restarted(daemon) => {
            bed.host.node.restart_daemon(daemon).map_err(|e| e.to_string())?;
            stage.let_finish(running, &mut transcript)?;
        }
        Victim::Paused(daemon) => {
            let node = &bed.host.node;
            let (begin, end) = (|| node.suspend_daemon(daemon), || node.continue_daemon(daemon));
            stage.for_a_while(begin, end, running, &mut transcript)?;
        }
        Victim::Cable => {
            let (hub, node) = (bed.host.lab.hub(), &bed.host.node);
            stage.for_a_while(|| hub.unplug(node, 0), || hub.plug(node, 0), running, &mut transcript)?;
        }
        Victim::Silence => {
            let (hub, node) = (bed.host.lab.hub(), &bed.host.node);
            stage.for_a_while(|| hub.block(node), || hub.unblock(node), running, &mut transcript)?;
        }
        Victim::AgentAndNetworkManager => {
            running.kill().map_err(|e| e.to_string())?;
            bed.host.node.kill_daemon(Daemon::NetworkManager).map_err(|e| e.to_string())?;
            record(&mut transcript, "killed", &running.wait().map_err(|e| e.to_string())?);
            stage.pass();
            bed.host.node.wait_daemon(Daemon::NetworkManager).map_err(|e| e.to_string())?;
            stage.recover(&mut transcript);
        }
        Victim::Gone(daemon) => {
            let node = &bed.host.node;
            let result = node
                .pause_restarts(true)
                .and_then(|()| node.kill_daemon(daemon))
                .map_err(|e| e.to_string())
                .and_then(|()| stage.let_finish(running, &mut transcript));
            node.pause_restarts(false).and_then(|()| node.wait_daemon(daemon)).map_err(|e| e.to_string())?;
            result?;
            stage.recover(&mut transcript);
        }
        Victim::Disk => {
            bed.host.node.fill_disk().map_err(|e| e.to_string())?;
            let finished = stage.let_finish(running, &mut transcript);
            bed.host.node.free_disk().map_err(|e| e.to_string())?;
            finished?;
            stage.recover(&mut transcript);
        }
    }
    Ok(transcript)
}

struct Stage<'a> {
    bed: &'a Bed,
    cell: &'a Cell,
}

impl Stage<'_> {
    /// Starts what is struck, and returns when it stands at the boundary.
    fn reach(&self, transcript: &mut String) -> Result<Running, String> {
        let stop = |running: &Running| running.signal(Signal::SIGTERM).map_err(|e| e.to_string());
        match self.cell.boundary {
            Boundary::Forth(name) => self.stand_at(self.apply(name), name),
            Boundary::MidApply(after) => {
                let running = self.stand_at(self.apply("worker-started"), "worker-started")?;
                self.pass();
                std::thread::sleep(Duration::from_millis(after));
                Ok(running)
            }
            Boundary::Pending => {
                let running = self.apply("");
                let waiting = || running.status().is_some() || running.stdout().contains("Checkpoint:");
                wait(Duration::from_secs(60), waiting);
                self.alive(running)
            }
            Boundary::Back(name) => {
                let running = self.stand_at(self.apply(&format!("probed,{name}")), "probed")?;
                stop(&running)?;
                self.stand_at(running, name)
            }
            Boundary::MidBack(after) => {
                let running = self.stand_at(self.apply("probed,rolling-back"), "probed")?;
                stop(&running)?;
                let running = self.stand_at(running, "rolling-back")?;
                self.pass();
                std::thread::sleep(Duration::from_millis(after));
                Ok(running)
            }
            Boundary::Recovery(name) => {
                let running = self.stand_at(self.apply("applied"), "applied")?;
                running.kill().map_err(|e| e.to_string())?;
                let output = running.wait().map_err(|e| e.to_string())?;
                record(transcript, "apply, killed at applied", &output);
                self.pass();
                self.stand_at(self.start(&["linesman", "recover"], name), name)
            }
        }
    }

    fn apply(&self, failpoints: &str) -> Running {
        let file = self.bed.host.document(&self.bed.document());
        let mut words = vec!["linesman", "apply", &file, "--patience", "8s"];
        if self.cell.victim == Victim::WorkerPaused {
            words.extend(["--timeout", "3s"]);
        }
        if self.cell.boundary == Boundary::Pending {
            words.extend(["--try", "60s"]);
        }
        self.start(&words, failpoints)
    }

    fn start(&self, words: &[&str], failpoints: &str) -> Running {
        self.pass();
        let command = self.bed.host.node.command(words).expect("linesman can be run");
        let command = command.env("LINESMAN_FAILPOINT", failpoints).env("LINESMAN_DEAD_MAN", DEAD_MAN);
        command.spawn().expect("linesman starts")
    }

    fn stand_at(&self, running: Running, failpoint: &str) -> Result<Running, String> {
        let marker = format!("/run/linesman/failpoint/{failpoint}");
        let node = &self.bed.host.node;
        let there = || running.status().is_some() || node.exists(&marker).unwrap_or(false);
        wait(Duration::from_secs(60), there);
        if !node.exists(&marker).unwrap_or(false) && running.status().is_none() {
            return Err(format!("{failpoint} was not reached\n{}{}", running.stdout(), running.stderr()));
        }
        self.alive(running)
    }

    fn alive(&self, running: Running) -> Result<Running, String> {
        if running.status().is_none() {
            return Ok(running);
        }
        let output = running.wait().map_err(|e| e.to_string())?;
        Err(format!("it ended before the boundary\n{}{}", output.stdout, output.stderr))
    }

    /// Whoever waits at a failpoint goes on.
    fn pass(&self) {
        self.bed.host.node.sh("rm -f /run/linesman/failpoint/*").expect("markers can be removed");
    }

    /// NetworkManager rolls back, and the node is reachable before anybody helps; then linesman
    /// is started again, as its unit would be.
    fn kill_agent(&self, running: Running, transcript: &mut String) -> Result<(), String> {
        running.kill().map_err(|e| e.to_string())?;
        record(transcript, "killed", &running.wait().map_err(|e| e.to_string())?);
        self.pass();
        self.await_timer()?;
        if !self.bed.reachable() {
            return Err(format!("unreachable after NetworkManager rolled back\n{transcript}"));
        }
        self.recover(transcript);
        Ok(())
    }

    fn recover(&self, transcript: &mut String) {
        record(transcript, "recover", &self.bed.host.linesman(&["recover"]));
    }

    fn await_timer(&self) -> Result<(), String> {
        let gone = wait(Duration::from_secs(60), || self.bed.host.open_checkpoints() == 0);
        if gone { Ok(()) } else { Err("the checkpoint did not time out".into()) }
    }

    /// The change goes on meanwhile.
    fn for_a_while(
        &self,
        begin: impl FnOnce() -> linesman_lab::Result<()>,
        end: impl FnOnce() -> linesman_lab::Result<()> + Send,
        running: Running,
        transcript: &mut String,
    ) -> Result<(), String> {
        begin().map_err(|e| e.to_string())?;
        std::thread::scope(|scope| {
            let ending = scope.spawn(|| {
                std::thread::sleep(self.cell.lasting);
                end().map_err(|e| e.to_string())
            });
            let finished = self.let_finish(running, transcript);
            let ended = ending.join().map_err(|_| "a panic".to_string());
            ended.and_then(|ended| ended).and(finished)
        })
    }

    /// The agent lives: it must bring the change to its end by itself.
    fn let_finish(&self, running: Running, transcript: &mut String) -> Result<(), String> {
        self.pass();
        let pending = self.cell.boundary == Boundary::Pending && running.status().is_none();
        let confirmed = pending.then(|| self.bed.host.linesman(&["commit"]));
        let output = running.wait().map_err(|e| format!("{e}\n{transcript}"))?;
        record(transcript, "struck", &output);
        if let Some(commit) = confirmed {
            record(transcript, "commit", &commit);
            if commit.success() && !output.success() {
                return Err(format!("`commit` and `apply` disagree\n{transcript}"));
            }
        }
        Ok(())
    }
}

fn record(transcript: &mut String, what: &str, output: &Output) {
    transcript.push_str(&format!("-- {what} ({})\n{}{}", output.status, output.stdout, output.stderr));
}

fn drained(running: Running) -> Output {
    running.wait_at_most(Duration::from_secs(20)).expect("nothing outlives a power cut")
}

/// Until it holds; false if it never does.
fn wait(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The agent's only child.
fn worker_of(agent: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{agent}/task/{agent}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// A zombie has ended, too.
fn ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// The bed is in namespaces, whose processes the machine sees.
fn machine_pid(running: &Running) -> u32 {
    running.pid().expect("the bed is no virtual machine")
}

/// To a process that we hold, or to its child.
fn signal(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid.cast_signed()), signal).ok();
}
